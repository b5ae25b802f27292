// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/backends/cpu.hpp>
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/operators/builtin.hpp>
#include <byre/functional/operators/twins.hpp>

namespace byre::inline v0::functional {
namespace {

Tensors views_of(const Operator& op, std::span<Argument> arguments) {
  const Tensor& self = to_cpu(arguments.front().tensor());
  Tensors views;
  for (const Window& window : (*op.view())(window_of(self), arguments.subspan(1))) {
    views.push_back(from_cpu(view_through(self, window)));
  }
  return views;
}

/// Views, from what they see; and those in place, from the views.
Tensors compute_by_schema(const Call& call) {
  if (call.op.view() != nullptr) {
    return views_of(call.op, call.arguments);
  }
  if (const Operator* const view = view_of_in_place(call.op)) {
    Tensor seen = to_cpu(views_of(*view, call.arguments).front());
    to_cpu(call.arguments.front().tensor()) = std::move(seen);
    return {};
  }
  refuse_missing_kernel(call.op, Key::cpu);
}

}  // namespace

AnyTensor CpuTensor::to_rebind(const AnyTensor& other) const {
  return from_cpu(to_cpu(other).alias());
}

void CpuTensor::rebind(TensorImpl& prepared) noexcept {
  value = std::move(static_cast<CpuTensor&>(prepared).value);
}

AnyTensor from_cpu(Tensor tensor) {
  return make_counted<CpuTensor>(std::move(tensor));
}

Tensor& to_cpu(const AnyTensor& tensor) {
  if (auto* const on_cpu = tensor.as<CpuTensor>()) {
    return on_cpu->value;
  }
  throw DeviceError(
      format_text("a tensor of %s was given where one of the CPU is needed. Call the operator on "
                  "tensors of one backend, or fetch its elements first.",
                  tensor ? to_string(tensor.keys()).c_str() : "no backend"));
}

Tensors Boxed<std::vector<Tensor>>::from(std::vector<Tensor> results) {
  Tensors boxed;
  for (Tensor& result : results) {
    boxed.push_back(from_cpu(std::move(result)));
  }
  return boxed;
}

Tensor independent(const Tensor& tensor) {
  const bool is_all_there_is = tensor.is_contiguous() && tensor.storage_offset() == 0 &&
                               tensor.nbytes() == tensor.storage().nbytes();
  return is_all_there_is ? tensor.lazy_clone() : tensor.clone();
}

Window window_of(const Tensor& tensor) {
  return {tensor.layout(), tensor.dtype(), tensor.storage().nbytes()};
}

Tensor view_through(const Tensor& tensor, const Window& window) {
  const Layout& to = window.layout;
  if (window.dtype == tensor.dtype()) {
    return tensor.as_strided(to.sizes, to.strides, to.offset);
  }
  // By the bytes there are, which the dtypes need not divide alike.
  const auto count = static_cast<std::int64_t>(window.storage_nbytes / tensor.itemsize());
  const auto ratio = static_cast<std::int64_t>(byre::itemsize(window.dtype) / tensor.itemsize());
  const std::int64_t whole = ratio > 1 ? count - count % ratio : count;
  return tensor.as_strided({whole}, {1}, 0)
      .view(window.dtype)
      .as_strided(to.sizes, to.strides, to.offset);
}

void detail::define_cpu_backend() {
  set_builtin_fallback(Key::cpu, compute_by_schema);
}

}  // namespace byre::inline v0::functional
