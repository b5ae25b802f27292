// SPDX-License-Identifier: BSL-1.0
/// A random program over tensors, run on them and on a flat model of them, step by step.
#pragma once

#include <byre/tensor/tensor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flat_model.hpp"
#include "support/random.hpp"

namespace byre::test {

/// For one thread.
class RandomProgram {
 public:
  /// A tensor, and what it should be.
  struct Pair {
    Tensor tensor;
    FlatTensor model;
  };

  explicit RandomProgram(std::uint64_t seed) : random_(seed) {}

  /// Begins with a lazy clone of what others may clone at the same time.
  void adopt(const Pair& published);
  /// Random operations, until one goes wrong. The result of each, and one other tensor, are
  /// compared, and now and then, and in the end, all of them.
  void run(int steps);
  Pair make_tensor();
  std::size_t lazy_reshapes() const { return lazy_reshapes_; }
  std::size_t eager_reshapes() const { return eager_reshapes_; }
  std::size_t writes() const { return writes_; }
  std::size_t refusals() const { return refusals_; }

 private:
  std::int64_t below(std::int64_t bound) { return random_.below(bound); }
  Pair& any() { return random_.one_of(live_); }
  bool is_shared(const Pair& pair) const {
    return std::ranges::count(live_, pair.model.storage,
                              [](const Pair& other) { return other.model.storage; }) > 1;
  }
  Dims regrouped(const FlatTensor& model);

  void step();
  void check_all() const;
  void keep(Pair pair, const char* operation);
  void compare(const Pair& pair, const char* operation) const;
  void fill(Pair& pair);
  void fill_reserve(Pair& pair);

  std::optional<Pair> random_view(const Pair& of);
  std::optional<Pair> view_along(const Pair& of, std::int64_t axis);
  std::optional<Pair> part_along(const Pair& of, std::int64_t axis);
  std::optional<Pair> view_of_storage(const Pair& of);
  std::optional<Pair> view_as_another_dtype_and_back(const Pair& of);
  std::optional<Pair> flatten(const Pair& of);
  void view_under_other_sizes(const Pair& of);
  void reshape(const Pair& of);
  void copy(const Pair& of);
  void write_one(Pair& to);
  void resize(Pair& which);
  void extend(Pair& which);
  void free_and_realize(Pair& which);
  void share_data(Pair& target, const Pair& source);

  Random random_;
  std::vector<Pair> live_;
  std::int32_t next_value_ = 1;
  std::size_t lazy_reshapes_ = 0;
  std::size_t eager_reshapes_ = 0;
  std::size_t writes_ = 0;
  std::size_t refusals_ = 0;
};

}  // namespace byre::test
