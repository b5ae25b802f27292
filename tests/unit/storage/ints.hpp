// SPDX-License-Identifier: BSL-1.0
/// Arrays of numbers, for tests of Array<T>.
#pragma once

#include <byre/storage/array.hpp>

#include <cstddef>
#include <numeric>

namespace byre::test {

using Ints = Array<int>;

/// The elements 0, 1, 2, ...
inline Ints numbers(std::size_t size, Allocator& allocator = default_allocator()) {
  Ints ints = Ints::allocate(size, allocator);
  std::iota(ints.mutable_data(), ints.mutable_data() + size, 0);
  return ints;
}

}  // namespace byre::test
