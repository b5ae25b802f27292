// SPDX-License-Identifier: BSL-1.0
/// Runs programs over real tensors.
#pragma once

#include <byre/shadow/mode.hpp>
#include <byre/shadow/report_book.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstdint>
#include <vector>

#include "program.hpp"
#include "told.hpp"

namespace byre::test {

struct Outcome {
  Reads reads;
  Tellings told;            ///< by handlers and errors, as they came
  shadow::Summary summary;  ///< of what was reported
};

/// Runs a program whose statements are all possible, where reshape does as `mode` says, but for what
/// statements say themselves. What an error refuses is tried again. For one thread, the only one that
/// uses tensors. Throws what else the operations throw.
Outcome run(const Program& program, shadow::ReshapeMode mode);

/// All elements, in row-major order, of i64, i32 or bool, in one of the `ways_to_read` or what is
/// possible in place of it.
std::vector<std::int64_t> read_all(const Tensor& tensor, std::int64_t wanted, CallSite site);

}  // namespace byre::test
