// SPDX-License-Identifier: BSL-1.0
/// The operations of the table in docs/tensor-states.md. A cell of the table states the effect of
/// an operation in one state.
#pragma once

#include <byre/tensor/tensor.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace byre::test {

/// The results of an operation.
struct Returned {
  std::vector<Tensor> tensors{};
  std::optional<double> read{};   ///< the first element, if the operation gave read access
  std::optional<double> wrote{};  ///< the new first element, if the operation wrote elements
};

struct Operation {
  const char* name;
  std::function<Returned(Tensor&)> run;
};

/// The arrangement of elements in the storage, for tensors with elements.
enum class Arrangement : std::uint8_t { dense, reserved, transposed, sliced, expanded };

/// A row of the table: operations with equal effects in each state.
struct Row {
  std::string title;  ///< the start of the row's title in the document
  std::vector<Operation> operations;
  DType dtype = DType::f32;  ///< the dtype of the tensor in states with a dtype
  /// The row must be true for each of these arrangements.
  std::vector<Arrangement> arrangements{Arrangement::dense};
};

const std::vector<Row>& state_rows();

}  // namespace byre::test
