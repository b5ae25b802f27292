// SPDX-License-Identifier: BSL-1.0
/// Programs over tensors, as data: what is generated, run in every mode of reshape, and printed when
/// something is wrong with it.
#pragma once

#include <byre/shadow/mode.hpp>
#include <byre/shadow/summary.hpp>
#include <byre/tensor/layout.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace byre::test {

enum class Flavor : std::uint8_t {
  /// Parts of tensors, operations between them, and few values, so that many are equal.
  anything,
  /// Whole storages, all contiguous, and no value twice. Here a report of a read is a difference.
  whole_and_unique,
};

// clang-format off
enum class Operation : std::uint8_t {
  make, alias, transpose, slice, select, view, over, reshape, lazy_clone, moved, clone, reshape_in_place,
  share_data, drop, fill, set_at, write_through, write_kept, add, copy, read_at, read,
};

struct OperationRow {
  const char* name;
  std::array<std::size_t, 2> weights;  ///< how often it is in a program of each flavor
};
/// By Operation.
inline constexpr std::array operation_rows{
  // result = OPERATION(self, dims)
  OperationRow{"make", {2, 1}},           // of sizes dims, with values from `value` on
  OperationRow{"alias", {1, 1}},
  OperationRow{"transpose", {2, 0}},      // dims: two axes
  OperationRow{"slice", {3, 0}},          // dims: axis, start, end, step
  OperationRow{"select", {2, 0}},         // dims: axis, index
  OperationRow{"view", {2, 2}},           // dims: sizes
  OperationRow{"over", {1, 0}},           // Tensor::over the storage of self; dims: sizes
  OperationRow{"reshape", {12, 6}},       // dims: sizes
  OperationRow{"lazy_clone", {2, 0}},
  OperationRow{"moved", {1, 0}},          // to the device, or from there to the host
  OperationRow{"clone", {1, 0}},
  // self.OPERATION
  OperationRow{"reshape_", {2, 1}},       // dims: sizes
  OperationRow{"share_data", {2, 0}},     // of other
  OperationRow{"drop", {3, 4}},
  // writes of self
  OperationRow{"fill_", {1, 4}},          // with `value`
  OperationRow{"set_at", {3, 0}},         // dims: an index; to `value`
  OperationRow{"write_through", {1, 0}},  // through a pointer to write, with values from `value` on
  OperationRow{"write_kept", {3, 0}},     // the same again, through the pointer that it left
  OperationRow{"add_", {3, 0}},           // other
  OperationRow{"copy_", {4, 0}},          // of other
  // reads, whose values are what a program computes
  OperationRow{"read_at", {4, 0}},        // dims: an index
  OperationRow{"read", {8, 6}},           // all of self
};

// clang-format on

/// Lines of the file that is suppressed come after all others.
inline constexpr std::uint32_t first_suppressed_line = 1000;
constexpr bool is_suppressed_line(std::uint32_t line) noexcept {
  return line >= first_suppressed_line;
}

struct Statement {
  Operation operation{};
  std::size_t result = 0;  ///< tensors are named by numbers, each given once
  std::size_t self = 0;
  std::size_t other = 0;
  Dims dims{};
  std::int64_t value = 0;
  /// Of a reshape: alias and copy are what it does in every run, warn and error how it is tracked where
  /// the run tracks. Nothing: as the run.
  std::optional<shadow::ReshapeMode> mode{};
  bool is_in_scope = false;  ///< of a ScopedSuppression
  bool is_in_file = false;   ///< of suppressions
  std::uint32_t line = 0;    ///< 0: a line of its own, numbered as the statement, from 1 on

  std::uint32_t line_at(std::uint32_t number) const noexcept {
    return (line != 0 ? line : number) + (is_in_file ? first_suppressed_line : 0);
  }
  bool reshapes() const noexcept {
    return operation == Operation::reshape || operation == Operation::reshape_in_place;
  }
};
using Program = std::vector<Statement>;

/// What was read, one entry a read.
struct Read {
  std::uint32_t number;  ///< of the statement
  std::vector<std::int64_t> values;
  friend bool operator==(const Read&, const Read&) = default;
};
using Reads = std::vector<Read>;

/// A violation that was reported or thrown.
struct Reported {
  std::uint32_t number = 0;   ///< of the statement
  std::uint32_t reshape = 0;  ///< a line, as the next two
  std::uint32_t write = 0;
  std::uint32_t access = 0;
  bool access_writes = false;
  bool is_error = false;
  friend bool operator==(const Reported&, const Reported&) = default;
};

struct Outcome {
  Reads reads;
  std::vector<Reported> reported;  ///< by handlers and errors, as they came
  shadow::Summary summary;
};

/// A random program that every mode of reshape can run, the same for the same seed.
Program generate(std::uint64_t seed, Flavor flavor);

/// Runs a program whose statements are all possible over real tensors, where reshape does as `mode` says,
/// but for what statements say themselves. What an error refuses is tried again. For one thread, the only
/// one that uses tensors. Throws what else the operations throw.
Outcome run(const Program& program, shadow::ReshapeMode mode);
/// The name of the file whose call sites are suppressed ends in this, after a `/`.
inline constexpr const char* suppressed_file = "suppressed";

/// One line each.
std::string to_string(const Program& program);
std::string to_string(const std::vector<Reported>& reports);

}  // namespace byre::test
