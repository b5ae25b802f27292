// SPDX-License-Identifier: BSL-1.0
/// Programs over tensors, as data: what is generated, run in every mode of reshape, and printed when
/// something is wrong with it.
#pragma once

#include <byre/shadow/mode.hpp>
#include <byre/tensor/layout.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace byre::test {

enum class Operation : std::uint8_t {
  // result = OPERATION(self, dims)
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
  moved,  ///< to the device, or from there to the host
  clone,
  // self.OPERATION
  reshape_in_place,  ///< dims: sizes
  share_data,        ///< of other
  drop,
  // writes of self
  fill,           ///< with `value`
  set_at,         ///< dims: an index; to `value`
  write_through,  ///< the elements, through a pointer to write, with values from `value` on
  write_kept,     ///< the same again, through the pointer that write_through of self left
  add_number,     ///< `value`
  add,            ///< other
  copy,           ///< of other
  // reads, whose values are what a program computes
  read_at,  ///< dims: an index
  read,     ///< all of self, in the way number `value`
};
inline constexpr std::size_t operations = static_cast<std::size_t>(Operation::read) + 1;
const char* name_of(Operation operation) noexcept;

/// Ways to read all of a tensor. Some make a lazy clone, where they can; the device knows only copies.
enum class Way : std::uint8_t {
  data,
  raw_data,
  indices,
  text,
  clone,
  copy,
  to,
  lazy_clone,
  add,
  sum
};
inline constexpr std::int64_t ways_to_read = static_cast<std::int64_t>(Way::sum) + 1;
constexpr Way way_of(std::int64_t number, bool is_on_device) noexcept {
  const Way way = static_cast<Way>(number);
  return is_on_device && (way < Way::text || way > Way::lazy_clone) ? Way::to : way;
}

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

/// The names of files end in these, after a `/`.
inline constexpr const char* program_file = "program";
inline constexpr const char* suppressed_file = "suppressed";

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

/// One line each.
std::string to_string(const Program& program);
std::string to_string(const std::vector<Reported>& reports);

}  // namespace byre::test
