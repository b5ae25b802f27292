// SPDX-License-Identifier: BSL-1.0
/// The operations in the rows of docs/tensor-states.md, whose cells say their effects in each state.
#pragma once

#include <byre/tensor/tensor.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace byre::test {

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

/// Operations that do the same in each state.
struct Row {
  std::string title;  ///< in the document operations may follow it
  std::vector<Operation> operations;
  DType dtype = DType::f32;  ///< of the tensor, if it has one
  /// In each of which it does that.
  std::vector<Arrangement> arrangements{Arrangement::dense};
};

const std::vector<Row>& state_rows();

}  // namespace byre::test
