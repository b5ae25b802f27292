// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/batching/detail/batched_tensor.hpp>
#include <byre/functional/dispatch/call.hpp>

#include <utility>

namespace byre::inline BYRE_ABI::functional {
AnyTensor BatchedTensor::to_rebind(const AnyTensor& other) const {
  return make_counted<BatchedTensor>(Batch(*this).value_of(other), level_);
}

void BatchedTensor::rebind(TensorImpl& prepared) noexcept {
  value_ = std::move(static_cast<BatchedTensor&>(prepared).value_);
}

Batch::Batch(std::span<const Argument> arguments) {
  for (const Argument& argument : arguments) {
    argument.for_each_tensor([this](const AnyTensor& tensor) {
      const auto* const one = tensor.as<BatchedTensor>();
      if (one != nullptr && one->batch_level() >= level_) {
        level_ = one->batch_level();
        member_ = one->value();
      }
    });
  }
  if (!member_) {
    throw ArgumentError(
        format_text("the key batched requires a batched tensor. Leave this key to vmap()."));
  }
}

Dims Batch::with_size(Dims sizes) const {
  sizes.insert(sizes.begin(), size());
  return sizes;
}

bool Batch::has(const AnyTensor& tensor) const noexcept {
  const auto* const one = tensor.as<BatchedTensor>();
  return one != nullptr && one->batch_level() == level_;
}

AnyTensor Batch::value_of(const AnyTensor& tensor) const {
  const auto* const one = tensor.as<BatchedTensor>();
  if (one != nullptr && one->batch_level() > level_) {
    throw ArgumentError(
        format_text("vmap: a tensor of an inner vmap is used outside of it. Return it from the "
                    "inner function."));
  }
  return has(tensor) ? tensor.as<BatchedTensor>()->value()
                     : call_for_one("expand_copy", {tensor, with_size(tensor.sizes())});
}

AnyTensor Batch::aligned(const AnyTensor& tensor, std::size_t ndim) const {
  const Dims sizes = tensor.sizes();
  if (!has(tensor) || sizes.size() >= ndim) {
    return has(tensor) ? value_of(tensor) : tensor;
  }
  Dims padded(ndim, 1);
  std::copy(sizes.begin(), sizes.end(), padded.end() - std::ssize(sizes));
  return call_for_one("view_copy", {value_of(tensor), with_size(padded)});
}

AnyTensor Batch::without_elements(const Dims& sizes, DType dtype) const {
  const AnyTensor none = call_for_one("slice_copy", {member_, 0, 0, 0});
  return call_for_one("to", {call_for_one("view_copy", {none, with_size(sizes)}), dtype});
}

AnyTensor Batch::batched(AnyTensor value) const {
  return make_counted<BatchedTensor>(std::move(value), level_);
}

}  // namespace byre::inline BYRE_ABI::functional
