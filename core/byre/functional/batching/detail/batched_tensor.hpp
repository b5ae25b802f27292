// SPDX-License-Identifier: BSL-1.0
/// A BatchedTensor represents a batch of tensors of equal sizes, and has the sizes of one member.
/// vmap() passes batched tensors to its function.
#pragma once

#include <byre/functional/dispatch/argument.hpp>

#include <cstdint>
#include <span>
#include <utility>

namespace byre::inline BYRE_ABI::functional {

class BatchedTensor final : public TensorImpl {
 public:
  static constexpr Key key = Key::batched;

  /// The batch is dimension 0 of `value`, which may itself be batched at a lower level.
  BatchedTensor(AnyTensor value, BatchLevel level)
      : TensorImpl(key), value_(std::move(value)), level_(level) {}
  /// The sizes of one member.
  Dims sizes() const override { return value_.sizes().without(0); }
  DType dtype() const override { return value_.dtype(); }
  const AnyTensor& value() const noexcept { return value_; }
  /// Accepts a tensor of this batch, or one value for all members. Throws ArgumentError if `other`
  /// belongs to an inner vmap().
  AnyTensor to_rebind(const AnyTensor& other) const override;
  void rebind(TensorImpl& prepared) noexcept override;
  BatchLevel batch_level() const noexcept override { return level_; }

 private:
  AnyTensor value_;
  const BatchLevel level_;
};

/// The innermost batch among the tensors of a call. Tensors of lower levels, that is of outer
/// vmap() calls, are treated like tensors without a batch.
class Batch {
 public:
  /// Throws ArgumentError if no tensor is batched.
  explicit Batch(std::span<const Argument> arguments);
  explicit Batch(const BatchedTensor& member)
      : member_(member.value()), level_(member.batch_level()) {}

  std::int64_t size() const { return member_.sizes().front(); }
  /// Returns `sizes` with the batch size in front.
  Dims with_size(Dims sizes) const;

  bool has(const AnyTensor& tensor) const noexcept;
  /// Returns a value with the batch as dimension 0. Expands a tensor without a batch. Throws
  /// ArgumentError if the tensor belongs to an inner vmap(), because such a tensor has no meaning
  /// outside that call.
  AnyTensor value_of(const AnyTensor& tensor) const;
  /// Returns a value whose members broadcast with other members of up to `ndim` dimensions in the
  /// same way as if neither tensor had a batch.
  AnyTensor aligned(const AnyTensor& tensor, std::size_t ndim) const;
  /// Returns a value without elements, with the batch as dimension 0 and `sizes` after it. Requires
  /// an empty batch or a 0 in `sizes`.
  AnyTensor without_elements(const Dims& sizes, DType dtype) const;
  /// Wraps a value of this batch.
  AnyTensor batched(AnyTensor value) const;

 private:
  AnyTensor member_;  ///< the value of any tensor of this batch
  BatchLevel level_ = 0;
};

}  // namespace byre::inline BYRE_ABI::functional
