// SPDX-License-Identifier: BSL-1.0
/// Random programs: inputs that may alias each other, views in any composition, writes through
/// them, pure operators, operators of users. Most steps do something; some are refused.
#pragma once

#include "program.hpp"

namespace byre::test {

/// The same for the same seed.
Program generate(std::uint64_t seed);

/// How many there are to be: BYRE_FUNCTIONALIZATION_PROGRAMS of the environment, or 20,000.
std::size_t program_count();

}  // namespace byre::test
