// SPDX-License-Identifier: BSL-1.0
/// The table of docs/tensor-states.md as data: in which states a tensor can be, and what each
/// operation does in each of them.
#pragma once

#include <byre/tensor/tensor.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace byre::test {

/// The reachable ones, in the order of the table's columns.
enum class State : std::uint8_t { fresh, sized, freed, full, full_shared, empty, empty_shared };
inline constexpr std::size_t state_count = 7;

struct Properties {
  const char* name;
  bool has_dtype;
  bool has_memory;  ///< is storage-initialized
  bool is_shared;
  bool has_elements;

  friend bool operator==(const Properties& a, const Properties& b) {
    return a.has_dtype == b.has_dtype && a.has_memory == b.has_memory &&
           a.is_shared == b.is_shared && a.has_elements == b.has_elements;
  }
};

inline constexpr std::array<Properties, state_count> properties_of_states{{
    {"fresh", false, true, false, false},
    {"sized", false, false, false, true},
    {"freed", true, false, false, true},
    {"full", true, true, false, true},
    {"full, shared", true, true, true, true},
    {"empty", true, true, false, false},
    {"empty, shared", true, true, true, false},
}};

inline const Properties& properties_of(State state) {
  return properties_of_states[static_cast<std::size_t>(state)];
}

/// A tensor in a state, and who shares its storage if somebody does.
struct Subject {
  Tensor tensor;
  Tensor other;  ///< null unless the state is a shared one
};

/// What an operation returned.
struct Returned {
  std::vector<Tensor> tensors{};
  std::optional<double> read{};   ///< the first element, if it gave access to read it
  std::optional<double> wrote{};  ///< to the first element, if there is one and it gave access
};

struct Operation {
  const char* name;
  std::function<Returned(Tensor&)> run;
};

/// How the elements of a tensor that has some lie in its storage.
enum class Arrangement : std::uint8_t { dense, reserved, transposed, sliced, expanded };
inline constexpr std::array<const char*, 5> names_of_arrangements{"", "", "transposed", "sliced",
                                                                  "expanded"};

/// Operations of which the table says the same: a row.
struct Row {
  const char* title;
  std::vector<Operation> operations;
  /// What it does in each state; see the document for the words. "-" where it means nothing.
  std::array<const char*, state_count> cells;
  DType dtype = DType::f32;  ///< of the tensor, if it has one
  /// In each of which it does that.
  std::vector<Arrangement> arrangements{Arrangement::dense};
};

const std::vector<Row>& rows();

}  // namespace byre::test
