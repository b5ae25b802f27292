// SPDX-License-Identifier: BSL-1.0
#include "support/functional/opaque_backend.hpp"

#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/dispatch/guards.hpp>

#include <atomic>
#include <string>

namespace byre::test {
namespace {

using namespace functional;

std::atomic<std::uint64_t> computed{0};
std::atomic<std::uint64_t> replayed{0};
std::atomic<std::uint64_t> scattered{0};
std::atomic<std::uint64_t> living{0};

/// Returns the elements of an opaque tensor, or of a tensor of the CPU that is used together with
/// opaque ones.
Tensor elements_of(const AnyTensor& tensor) {
  const auto* const opaque = tensor.as<OpaqueTensor>();
  return opaque != nullptr ? opaque->elements() : to_cpu(tensor);
}

Tensors compute(const Call& call) {
  if (call.op.effect() != Effect::none) {
    throw DispatchError(
        format_text("%s %s, opaque tensors support neither views nor writes. Run the program under "
                    "the functionalize pass, which removes both.",
                    call.op.name().c_str(),
                    call.op.effect() == Effect::view ? "makes a view" : "writes its arguments"));
  }
  const auto is_a = [&call](const char* suffix) {
    return call.op.name().find(suffix) != std::string::npos ? 1U : 0U;
  };
  ++computed;
  replayed += is_a("_copy");
  scattered += is_a("_scatter");
  Arguments arguments(call.arguments.begin(), call.arguments.end());
  for (Argument& argument : arguments) {
    argument.for_each_tensor([](AnyTensor& tensor) { tensor = from_cpu(elements_of(tensor)); });
  }
  const ExcludeKeys all_but_the_cpu(thread_keys().included | Key::functionalize);
  Tensors results = dispatch(call.op, arguments);
  for (AnyTensor& result : results) {
    result = to_opaque(to_cpu(result));
  }
  return results;
}

}  // namespace

OpaqueTensor::OpaqueTensor(const Tensor& elements) : TensorImpl(key), elements_(elements.clone()) {
  ++living;
}

OpaqueTensor::~OpaqueTensor() {
  --living;
}

AnyTensor OpaqueTensor::to_rebind(const AnyTensor& other) const {
  return to_opaque(elements_of(other));
}

void OpaqueTensor::rebind(TensorImpl& prepared) noexcept {
  elements_ = std::move(static_cast<OpaqueTensor&>(prepared).elements_);
}

Key opaque_backend() {
  static const bool is_defined = (set_fallback(OpaqueTensor::key, compute), true);
  static_cast<void>(is_defined);
  return OpaqueTensor::key;
}

AnyTensor to_opaque(const Tensor& tensor) {
  opaque_backend();
  return make_counted<OpaqueTensor>(tensor);
}

Tensor from_opaque(const AnyTensor& tensor) {
  if (const auto* const opaque = tensor.as<OpaqueTensor>()) {
    return opaque->elements();
  }
  throw DeviceError(format_text("from_opaque: expected an opaque tensor, got %s. Use to_opaque().",
                                tensor ? to_string(tensor.keys()).c_str() : "no backend"));
}

OpaqueCounts opaque_counts() noexcept {
  return {computed, replayed, scattered, living};
}

}  // namespace byre::test
