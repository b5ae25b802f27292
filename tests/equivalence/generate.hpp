// SPDX-License-Identifier: BSL-1.0
/// Random programs that every mode of reshape can run.
#pragma once

#include "program.hpp"

namespace byre::test {

enum class Flavor : std::uint8_t {
  /// Parts of tensors, operations between them, and few values, so that many are equal.
  anything,
  /// Whole storages, and no value twice; what is read is kept. Here a report of a read is a difference.
  whole_and_unique,
};

/// The same for the same seed.
Program generate(std::uint64_t seed, Flavor flavor);

}  // namespace byre::test
