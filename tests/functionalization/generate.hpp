// SPDX-License-Identifier: BSL-1.0
/// Random programs: inputs that may alias each other, views in any composition, writes through
/// them, pure operators, operators of users. Most steps do something; some are refused.
#pragma once

#include <cstdint>

#include "program.hpp"

namespace byre::test {

/// The same for the same seed.
Program generate(std::uint64_t seed);

}  // namespace byre::test
