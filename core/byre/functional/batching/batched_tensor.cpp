// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/batching/batched_tensor.hpp>
#include <byre/functional/dispatch/call.hpp>

namespace byre::inline v0::functional {

void BatchedTensor::rebind(const AnyTensor& other) {
  value_ = Batch(*this).value_of(other);
}

Batch::Batch(std::span<const Argument> arguments) {
  for (const Argument& argument : arguments) {
    argument.for_each_tensor([this](const AnyTensor& tensor) {
      const auto* const one = tensor.as<BatchedTensor>();
      if (one != nullptr && one->level() >= level_) {
        level_ = one->level();
        member_ = one->value();
      }
    });
  }
  if (!member_) {
    throw ArgumentError(format_text(
        "a call for batched tensors was given none. vmap() makes them: leave the key to it."));
  }
}

Dims Batch::with_size(Dims sizes) const {
  sizes.insert(sizes.begin(), size());
  return sizes;
}

bool Batch::has(const AnyTensor& tensor) const noexcept {
  const auto* const one = tensor.as<BatchedTensor>();
  return one != nullptr && one->level() == level_;
}

AnyTensor Batch::value_of(const AnyTensor& tensor) const {
  const auto* const one = tensor.as<BatchedTensor>();
  if (one != nullptr && one->level() > level_) {
    throw ArgumentError(
        format_text("vmap: a tensor that an inner vmap gave to its function was kept, and is used "
                    "outside of it. Return it from the inner one's function."));
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

}  // namespace byre::inline v0::functional
