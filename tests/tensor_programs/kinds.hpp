// SPDX-License-Identifier: BSL-1.0
/// Which operators random programs call, and how often.
#pragma once

#include <string>
#include <vector>

#include "generate.hpp"

namespace byre::test {

/// A program draws one of the operators.
struct Kind {
  unsigned weight;
  std::vector<std::string> operators;
};

/// Views and operators along axes are those of the registry: new ones need no row. Call it once users' operators are
/// defined.
const std::vector<Kind>& kinds_of(Flavor flavor);

}  // namespace byre::test
