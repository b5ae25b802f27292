// SPDX-License-Identifier: BSL-1.0
/// BatchedTensor: many tensors of one shape as one that looks like each of them: what vmap() gives
/// to its function.
#pragma once

#include <byre/functional/dispatch/argument.hpp>

#include <cstdint>
#include <span>
#include <utility>

namespace byre::inline v0::functional {

class BatchedTensor final : public TensorImpl {
 public:
  static constexpr Key key = Key::batched;

  /// The batch is dimension 0 of `value`, which may be batched itself, at a lower level.
  BatchedTensor(AnyTensor value, BatchLevel level)
      : TensorImpl(key), value_(std::move(value)), level_(level) {}
  /// Those of each, without the batch.
  Dims sizes() const override { return value_.sizes().without(0); }
  DType dtype() const override { return value_.dtype(); }
  const AnyTensor& value() const noexcept { return value_; }
  /// To one of this batch, or the same for each of it. Throws ArgumentError for one of an inner
  /// vmap.
  AnyTensor to_rebind(const AnyTensor& other) const override;
  void rebind(TensorImpl& prepared) noexcept override;
  BatchLevel batch_level() const noexcept override { return level_; }

 private:
  AnyTensor value_;
  const BatchLevel level_;
};

/// The innermost batch among the tensors of a call. To it, tensors of lower levels are as any
/// others.
class Batch {
 public:
  /// Throws ArgumentError if no tensor is batched.
  explicit Batch(std::span<const Argument> arguments);
  explicit Batch(const BatchedTensor& member)
      : member_(member.value()), level_(member.batch_level()) {}

  std::int64_t size() const { return member_.sizes().front(); }
  /// These sizes behind the batch.
  Dims with_size(Dims sizes) const;

  bool has(const AnyTensor& tensor) const noexcept;
  /// With the batch as dimension 0; a tensor that has none is the same for each of it. Throws
  /// ArgumentError for a tensor of an inner batch, which is none outside of its vmap.
  AnyTensor value_of(const AnyTensor& tensor) const;
  /// Broadcasts, beside others of at most `ndim` dimensions behind the batch, to what it would
  /// without the batch.
  AnyTensor aligned(const AnyTensor& tensor, std::size_t ndim) const;
  /// Has the batch as dimension 0, of no elements: of a batch, or of sizes, without any.
  AnyTensor without_elements(const Dims& sizes, DType dtype) const;
  /// As the operators see it.
  AnyTensor batched(AnyTensor value) const;

 private:
  AnyTensor member_;  ///< the value of some tensor of this batch
  BatchLevel level_ = 0;
};

}  // namespace byre::inline v0::functional
