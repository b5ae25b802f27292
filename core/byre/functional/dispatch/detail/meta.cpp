// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/dispatch/detail/builtin.hpp>
#include <byre/functional/dispatch/guards.hpp>

#include <new>

namespace byre::inline BYRE_ABI::functional {
namespace {

/// Returns the CPU kernel's results for tensors of zeros with the sizes that `sizes_of` returns.
template <class SizesOf>
Tensors computed_on_zeros(const Call& call, const SizesOf& sizes_of) {
  Arguments arguments(call.arguments.begin(), call.arguments.end());
  for (Argument& argument : arguments) {
    argument.for_each_tensor([&sizes_of](AnyTensor& tensor) {
      tensor = from_cpu(Tensor::zeros(sizes_of(tensor), tensor.dtype()));
    });
  }
  const ExcludeKeys only_cpu(thread_keys().included.without(Key::cpu));
  return dispatch(call.op, arguments);
}

}  // namespace

DType detail::dtype_of_result(const Call& call) {
  return computed_on_zeros(call, [](const AnyTensor& tensor) { return Dims(tensor.ndim()); })
      .front()
      .dtype();
}

std::vector<TensorMeta> meta_of_results(const Call& call) try {
  if (const MetaRule* const rule = call.op.meta()) {
    return (*rule)(call);
  }
  std::vector<TensorMeta> metas;
  for (const AnyTensor& result :
       computed_on_zeros(call, [](const AnyTensor& tensor) { return tensor.sizes(); })) {
    metas.push_back({result.sizes(), result.dtype()});
  }
  return metas;
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap(call.op.name().c_str());
}

}  // namespace byre::inline BYRE_ABI::functional
