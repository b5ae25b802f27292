// SPDX-License-Identifier: BSL-1.0
/// Runs programs over real tensors.
#pragma once

#include <byre/shadow/mode.hpp>
#include <byre/shadow/report_book.hpp>

#include "program.hpp"

namespace byre::test {

struct Outcome {
  Reads reads;
  shadow::Summary summary;  ///< of what was reported
};

/// Runs a program whose statements are all possible, where reshape does as `mode` says. For one thread,
/// the only one that uses tensors. Throws what the operations throw.
Outcome run(const Program& program, shadow::ReshapeMode mode);

}  // namespace byre::test
