// SPDX-License-Identifier: BSL-1.0
/// The graph backend. Its tensors have no elements: they represent the results of recorded
/// operations. Only pure operators are recorded: see graph/recording.hpp.
#pragma once

#include <byre/functional/dispatch/any_tensor.hpp>
#include <byre/functional/graph/detail/tape.hpp>

#include <utility>

namespace byre::inline BYRE_ABI::functional {

/// A tensor that represents one result of a node of a recording.
class GraphTensor final : public TensorImpl {
 public:
  static constexpr Key key = Key::graph;

  explicit GraphTensor(detail::RecordedValue value) noexcept
      : TensorImpl(key), value_(std::move(value)) {}
  /// Creates a tensor without a value. Requires a call of assign() before any other use.
  GraphTensor() noexcept : TensorImpl(key) {}
  void assign(detail::RecordedValue value) noexcept { value_ = std::move(value); }
  Dims sizes() const override { return value_.meta().sizes; }
  DType dtype() const override { return value_.meta().dtype; }

  const detail::RecordedValue& value() const noexcept { return value_; }

 private:
  detail::RecordedValue value_;
};

}  // namespace byre::inline BYRE_ABI::functional
