// SPDX-License-Identifier: BSL-1.0
/// The steps of programs over tensors that run in every mode of reshape: views, and the operations
/// in a table.
#pragma once

#include <byre/shadow/mode.hpp>
#include <byre/shadow/summary.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tensor_programs/program.hpp"

namespace byre::test {

enum class Kind : std::uint8_t {
  anything,  ///< parts of tensors, operations on two tensors, and few values, many of them equal
  whole_and_unique,  ///< whole contiguous storages, and no value twice: a reported read must differ
  copies,            ///< every reshape copies, and memory grows and shrinks: the mode has no effect
};

struct Operation {
  const char* name;
  std::array<unsigned, 3> weights;  ///< how often each Kind uses the operation
  unsigned weight = 0;
};

// clang-format off
inline constexpr Operation operations[]{
  {"make", {2, 1, 2}},            // (sizes, value): i64 elements value, value + 1, ...
  {"any view", {8, 0, 14}},      // see views_of_the_dtype()
  {"alias", {0, 1, 0}},
  {"view", {0, 2, 0}},
  {"over", {1, 0, 1}},            // (self, sizes): Tensor::over the storage of self
  {"reshape", {14, 6, 5}},        // (self, sizes)
  {"lazy_clone", {2, 0, 3}},
  {"moved", {1, 0, 0}},           // to the device, or from there to the host
  {"clone", {1, 0, 1}},
  {"contiguous", {1, 0, 1}},
  {"reshape_", {2, 1, 1}},        // (self, sizes)
  {"share_data", {2, 0, 1}},      // (self, other)
  {"drop", {3, 4, 4}},
  {"resize", {1, 0, 2}},          // (self, sizes, value, frees): fills memory, as the next two do
  {"extend", {1, 0, 2}},          // (self, count, growth, value)
  {"free_memory", {0, 0, 1}},     // (self, value)
  // Writes.
  {"fill_", {1, 4, 1}},           // (self, value)
  {"set_at", {3, 0, 4}},          // (self, index, value)
  {"write_through", {1, 0, 3}},   // (self, value): through a pointer: value, value + 1, ...
  {"write_kept", {3, 0, 1}},      // (self, value): through the pointer that write_through kept
  {"add_", {3, 0, 1}},            // (self, other)
  {"copy_", {4, 0, 2}},           // (self, other)
  // Reads. Their values are the results of a program.
  {"read_at", {4, 0, 2}},         // (self, index)
  {"read", {8, 6, 8}},
};
// clang-format on

/// The views that "any view" stands for: they keep the dtype.
std::vector<std::string> views_of_the_dtype();

/// Lines in the suppressed file have numbers above all others.
inline constexpr int first_suppressed_line = 100'000;
constexpr bool is_suppressed_line(int line) noexcept {
  return line >= first_suppressed_line;
}
inline int line_of(const Step& step) noexcept {
  return (step.place.line != 0 ? step.place.line : step.number) +
         (step.place.is_in_file ? first_suppressed_line : 0);
}

// Arguments of steps.
inline Ref ref_at(const Step& step, std::size_t index) {
  return std::get<Ref>(step.arguments.at(index));
}
inline const Dims& dims_at(const Step& step, std::size_t index) {
  return std::get<Dims>(step.arguments.at(index));
}
inline std::int64_t integer_at(const Step& step, std::size_t index) {
  return *std::get<Scalar>(step.arguments.at(index)).as_integer();
}

/// The elements of each read, by the number of the step.
using Reads = std::map<int, std::vector<std::int64_t>>;

/// The lines of a reshape, a write and an access.
using Triple = std::array<int, 3>;
inline Triple triple_of(const shadow::Violation& violation) {
  const auto line = [](const auto& of) { return static_cast<int>(of.site.line); };
  return {line(violation.reshape), line(violation.write), line(violation.access)};
}

/// A violation that was reported or thrown.
struct Reported {
  int number = 0;  ///< the number of the step
  Triple lines{};
  bool access_writes = false;
  bool is_error = false;
  friend bool operator==(const Reported&, const Reported&) = default;
};

struct RunOutcome {
  Reads reads;
  std::vector<Reported> reported;  ///< to handlers and by errors, in the order of time
  shadow::Summary summary;
};

/// A random program that every mode of reshape can run. Equal seeds give equal programs.
Program generate_steps(std::uint64_t seed, Kind kind);

}  // namespace byre::test
