// SPDX-License-Identifier: BSL-1.0
/// Programs over tensors, as data: what is generated, run in every mode of reshape, and printed when
/// something is wrong with it.
#pragma once

#include <byre/tensor/layout/layout.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace byre::test {

enum class Operation : std::uint8_t {
  // result = OPERATION(self, dims)
  make,  ///< of sizes dims, with values from `value` on
  alias,
  transpose,  ///< dims: two axes
  slice,      ///< dims: axis, start, end, step
  select,     ///< dims: axis, index
  diagonal,
  view,     ///< dims: sizes
  reshape,  ///< dims: sizes
  lazy_clone,
  clone,
  // self.OPERATION
  reshape_in_place,  ///< dims: sizes
  drop,
  resize,      ///< dims: sizes, of elements that the storage has
  reserve,     ///< dims: sizes
  share_data,  ///< of other
  // writes of self
  fill,           ///< with `value`
  set_at,         ///< dims: an index; to `value`
  write_through,  ///< the elements, through a pointer to write, with values from `value` on
  add_number,     ///< `value`
  negate,
  add,   ///< other
  copy,  ///< of other
  // reads, whose values are what a program computes
  read_at,  ///< dims: an index
  read,     ///< all of self, in the way number `value`
};

/// In how many ways the interpreter knows to read all of a tensor.
inline constexpr std::int64_t ways_to_read = 14;

struct Statement {
  Operation operation{};
  std::size_t result = 0;  ///< tensors are named by numbers, each given once
  std::size_t self = 0;
  std::size_t other = 0;
  Dims dims{};
  std::int64_t value = 0;
};

/// Statement n is at line n + 1 of a file that there is not.
using Program = std::vector<Statement>;

inline constexpr const char* program_file = "program";

/// What was read, one entry a read.
struct Read {
  std::uint32_t line;
  std::vector<std::int64_t> values;

  friend bool operator==(const Read&, const Read&) = default;
};
using Reads = std::vector<Read>;

/// One line a statement.
std::string to_string(const Program& program);

}  // namespace byre::test
