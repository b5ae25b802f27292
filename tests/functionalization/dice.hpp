// SPDX-License-Identifier: BSL-1.0
/// Dice: random choices that are the same with every standard library.
#pragma once

#include <byre/tensor/dims.hpp>
#include <byre/tensor/dtype.hpp>

#include <cstdint>
#include <initializer_list>
#include <random>
#include <vector>

namespace byre::test {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}

  /// Both may come.
  std::int64_t number(std::int64_t least, std::int64_t most) {
    return least +
           static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most - least + 1));
  }
  bool chance(std::int64_t percent) { return number(0, 99) < percent; }
  template <class T>
  T one_of(std::initializer_list<T> all) {
    return all.begin()[number(0, std::ssize(all) - 1)];
  }
  template <class T>
  const T& one_of(const std::vector<T>& all) {
    return all[static_cast<std::size_t>(number(0, std::ssize(all) - 1))];
  }
  /// One of an axis, counted from either end; now and then one there is not.
  std::int64_t axis(std::size_t ndim) {
    const auto count = static_cast<std::int64_t>(ndim);
    return chance(2) ? count + 1 : count == 0 ? 0 : number(-count, count - 1);
  }
  Dims axes(std::size_t ndim) {
    Dims all;
    for (std::size_t axis = 0; axis < ndim; ++axis) {
      all.insert(all.begin() + number(0, std::ssize(all)), static_cast<std::int64_t>(axis));
    }
    return all;
  }
  /// Sizes of as many elements.
  Dims sizes_of(std::int64_t numel) {
    Dims sizes;
    for (const std::int64_t factor : {2, 3, 2, 5}) {
      if (numel % factor == 0 && numel > factor && chance(60)) {
        sizes.insert(sizes.begin() + number(0, std::ssize(sizes)), factor);
        numel /= factor;
      }
    }
    sizes.insert(sizes.begin() + number(0, std::ssize(sizes)), chance(20) ? -1 : numel);
    if (chance(15)) {
      sizes.insert(sizes.begin() + number(0, std::ssize(sizes)), 1);
    }
    return sizes;
  }
  DType dtype() {
    return one_of({DType::f32, DType::f32, DType::f64, DType::i64, DType::i32, DType::i16,
                   DType::u8, DType::i8, DType::f16, DType::bf16, DType::complex64,
                   DType::boolean});
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace byre::test
