// SPDX-License-Identifier: BSL-1.0
/// Defines factories and copies of tensors.
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/dispatch/detail/builtin.hpp>
#include <byre/tensor/elements.hpp>

#include <numeric>

namespace byre::inline BYRE_ABI::functional {
namespace {

Tensor filled(const Dims& sizes, const Scalar& value, DType dtype) {
  Tensor tensor = Tensor::empty(sizes, dtype);
  return fill_(tensor, value);
}

Tensor converted(const Tensor& self, DType dtype) {
  if (self.dtype() == dtype) {
    return packed(self);
  }
  Tensor other = Tensor::empty(self.sizes(), dtype);
  return copy_(other, self);
}

Tensor ascending(std::int64_t count, DType dtype) {
  const Dims sizes = contiguous_layout({count}, "arange").sizes;
  static_cast<void>(byre::detail::byte_count(count, sizeof(std::int64_t), "arange"));
  Tensor numbers = Tensor::empty(sizes, DType::i64);
  auto* const first = numbers.mutable_data<std::int64_t>();
  std::iota(first, first + count, 0);
  return converted(numbers, dtype);
}

template <std::size_t Sizes, std::size_t DTypeAt>
std::vector<TensorMeta> meta_from_arguments(const Call& call) {
  return {{contiguous_layout(call.arguments[Sizes].dims(), call.op.name().c_str()).sizes,
           call.arguments[DTypeAt].dtype()}};
}

std::vector<TensorMeta> meta_of_first(const Call& call) {
  const AnyTensor& self = call.arguments[0].tensor();
  return {{self.sizes(), self.dtype()}};
}

}  // namespace

void detail::define_factories() {
  define("zeros(int[] sizes, DType dtype=f32) -> Tensor")
      .cpu([](const Dims& sizes, DType dtype) { return filled(sizes, 0, dtype); })
      .meta(meta_from_arguments<0, 1>);
  define("ones(int[] sizes, DType dtype=f32) -> Tensor")
      .cpu([](const Dims& sizes, DType dtype) { return filled(sizes, 1, dtype); })
      .meta(meta_from_arguments<0, 1>);
  define("full(int[] sizes, Scalar value, DType dtype=f32) -> Tensor")
      .cpu(filled)
      .meta([](const Call& call) {
        if (!call.arguments[1].scalar().fits(call.arguments[2].dtype())) {
          call.arguments[1].scalar().fitting(call.arguments[2].dtype(), "full");  // throws
        }
        return meta_from_arguments<0, 2>(call);
      });
  define("arange(int count, DType dtype=i64) -> Tensor").cpu(ascending).meta([](const Call& call) {
    return std::vector<TensorMeta>{
        {contiguous_layout({call.arguments[0].integer()}, "arange").sizes,
         call.arguments[1].dtype()}};
  });
  for (const char* const copy :
       {"clone(Tensor self) -> Tensor", "contiguous(Tensor self) -> Tensor"}) {
    define(copy)
        .cpu([](const Tensor& self) { return packed(self); })
        .meta(meta_of_first)
        .tag(Tag::axis_shift);
  }
  define("to(Tensor self, DType dtype) -> Tensor")
      .cpu(converted)
      .meta([](const Call& call) {
        return std::vector<TensorMeta>{
            {call.arguments[0].tensor().sizes(), call.arguments[1].dtype()}};
      })
      .tag(Tag::axis_shift);
  define("reshape(Tensor self, int[] sizes) -> Tensor")
      .cpu([](const Tensor& self, const Dims& sizes) {
        const shadow::ReshapeModeScope copies(shadow::ReshapeMode::copy);
        return packed(self).reshape(sizes);
      })
      .meta([](const Call& call) {
        const AnyTensor& self = call.arguments[0].tensor();
        return std::vector<TensorMeta>{
            {inferred_sizes(call.arguments[1].dims(), self.numel(), "reshape"), self.dtype()}};
      });
}

}  // namespace byre::inline BYRE_ABI::functional
