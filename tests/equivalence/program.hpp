// SPDX-License-Identifier: BSL-1.0
/// Programs over tensors, as data: what is generated, run in every mode of reshape, and printed when
/// something is wrong with it.
#pragma once

#include <byre/shadow/mode.hpp>
#include <byre/tensor/layout.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace byre::test {

enum class Operation : std::uint8_t {
  // result = OPERATION(self, dims); those that compute are not for what is on the device
  make,  ///< of i64 of sizes dims, with values from `value` on
  alias,
  transpose,  ///< dims: two axes
  slice,      ///< dims: axis, start, end, step
  select,     ///< dims: axis, index
  diagonal,
  view,    ///< dims: sizes
  as_i32,  ///< view(dtype)
  as_i64,
  over,     ///< Tensor::over the storage of self; dims: sizes
  reshape,  ///< dims: sizes
  lazy_clone,
  cat,     ///< self and other, along the first axis
  where,   ///< self and other in turn
  equal,   ///< of bool: where self and other are equal
  mask,    ///< other where self, of bool, is true, and else 0
  matmul,  ///< self by other, each of two dimensions
  moved,   ///< to the device, or from there to the host
  clone,
  // self.OPERATION
  reshape_in_place,  ///< dims: sizes
  drop,
  resize,      ///< dims: sizes
  shrink,      ///< resize with OnShrink::free_memory; dims: sizes
  realize,     ///< what has no memory; and fills it with `value`
  reserve,     ///< dims: sizes
  extend,      ///< dims: how many more, and the percent of growth; fills those with `value`
  share_data,  ///< of other
  // writes of self
  fill,           ///< with `value`
  set_at,         ///< dims: an index; to `value`
  write_through,  ///< the elements, through a pointer to write, with values from `value` on
  write_kept,     ///< the same again, through the pointer that write_through of self left
  add_number,     ///< `value`
  negate,
  add,   ///< other
  copy,  ///< of other
  // reads, whose values are what a program computes
  read_at,  ///< dims: an index
  read,     ///< all of self, in the way number `value`
};
inline constexpr std::size_t operations = static_cast<std::size_t>(Operation::read) + 1;
const char* name_of(Operation operation) noexcept;

/// In how many ways the interpreter knows to read all of a tensor.
inline constexpr std::int64_t ways_to_read = 14;
/// Of those, the ones that make a lazy clone, where they can.
inline constexpr std::int64_t way_by_lazy_clone = 7;
inline constexpr std::int64_t way_by_contiguous = 8;
inline constexpr std::int64_t way_by_to = 9;
/// And those that read element by element, and row by row.
inline constexpr std::int64_t way_by_indices = 2;
inline constexpr std::int64_t way_by_accessor = 3;
inline constexpr std::int64_t way_by_text = 4;
inline constexpr std::int64_t way_by_negation = 11;
inline constexpr std::int64_t way_by_sum = 12;

/// This way, or another: the device only copies, and bool has no negation.
constexpr std::int64_t possible_way(std::int64_t way, bool is_on_device, bool is_of_bool) noexcept {
  return is_on_device && (way < way_by_text || way > way_by_to) ? way_by_to
         : is_of_bool && way == way_by_negation                 ? way_by_sum
                                                                : way;
}

inline constexpr std::uint32_t first_listed_line = 1000;
constexpr bool is_listed_line(std::uint32_t line) noexcept {
  return line >= first_listed_line;
}

struct Statement {
  Operation operation{};
  std::size_t result = 0;  ///< tensors are named by numbers, each given once
  std::size_t self = 0;
  std::size_t other = 0;
  Dims dims{};
  std::int64_t value = 0;
  /// Of a reshape: alias and copy are what it does in every run, warn and error how it is watched where
  /// the run watches. Nothing: as the run.
  std::optional<shadow::ReshapeMode> mode{};
  bool is_silent = false;  ///< in a SilenceScope
  bool is_listed = false;  ///< in a file that a list silences
  std::uint32_t line = 0;  ///< 0: a line of its own, numbered as the statement, from 1 on

  /// Lines of the file that is listed come after all others.
  std::uint32_t line_at(std::uint32_t number) const noexcept {
    return (line != 0 ? line : number) + (is_listed ? first_listed_line : 0);
  }
  bool reshapes() const noexcept {
    return operation == Operation::reshape || operation == Operation::reshape_in_place;
  }
};

/// The lines are of a file that there is not.
using Program = std::vector<Statement>;

/// The names of files end in these, after a `/`.
inline constexpr const char* program_file = "program";
inline constexpr const char* listed_file = "listed";

/// What was read, one entry a read.
struct Read {
  std::uint32_t number;  ///< of the statement
  std::vector<std::int64_t> values;

  friend bool operator==(const Read&, const Read&) = default;
};
using Reads = std::vector<Read>;

/// One line a statement.
std::string to_string(const Program& program);

}  // namespace byre::test
