// SPDX-License-Identifier: BSL-1.0
/// Runs programs over real tensors.
#pragma once

#include <byre/shadow/summary.hpp>

#include "program.hpp"

namespace byre::test {

struct Outcome {
  Reads reads;
  std::vector<Reported> reported;  ///< by handlers and errors, as they came
  shadow::Summary summary;
};

/// Runs a program whose statements are all possible, where reshape does as `mode` says, but for what
/// statements say themselves. What an error refuses is tried again. For one thread, the only one that
/// uses tensors. Throws what else the operations throw.
Outcome run(const Program& program, shadow::ReshapeMode mode);

}  // namespace byre::test
