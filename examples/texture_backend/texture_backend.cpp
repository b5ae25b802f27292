// SPDX-License-Identifier: BSL-1.0
#include "texture_backend.hpp"

#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/dispatch/guards.hpp>

namespace examples::texture {
namespace {

using namespace byre::functional;
using byre::Tensor;

[[noreturn]] void refuse_on_texture(const Operator& op) {
  throw DispatchError(byre::format_text(
      "%s %s, and a texture has neither views nor operators that write: nothing points into one. "
      "Run the program under the functionalize pass, which removes both.",
      op.name().c_str(),
      op.effect() == Effect::view ? "makes a view" : "writes to what it is given"));
}

/// What there is no shader for: downloaded, computed on the CPU, and uploaded.
Tensors compute_on_cpu(const Call& call) {
  if (call.op.effect() != Effect::none) {
    refuse_on_texture(call.op);
  }
  Arguments arguments(call.arguments.begin(), call.arguments.end());
  for (Argument& argument : arguments) {
    argument.for_each_tensor([](AnyTensor& tensor) {
      if (tensor.as<TextureTensor>() != nullptr) {
        tensor = from_cpu(from_texture(tensor));
      }
    });
  }
  const ExcludeKeys all_but_the_cpu(thread_keys().included | Key::functionalize);
  Tensors results = dispatch(call.op, arguments);
  for (AnyTensor& result : results) {
    result = to_texture(to_cpu(result));
  }
  return results;
}

bool define_once() {
  define_shaders();
  set_fallback(TextureTensor::key, compute_on_cpu);
  return true;
}

}  // namespace

AnyTensor TextureTensor::to_rebind(const AnyTensor& other) const {
  return make_counted<TextureTensor>(texture_of(other), other.sizes());
}

void TextureTensor::rebind(TensorImpl& prepared) noexcept {
  auto& other = static_cast<TextureTensor&>(prepared);
  texture_ = std::move(other.texture_);
  sizes_ = std::move(other.sizes_);
}

Key texture_backend() {
  static const bool is_defined = define_once();
  static_cast<void>(is_defined);
  return TextureTensor::key;
}

Texture texture_of(const AnyTensor& tensor) {
  const auto* const on_texture = tensor.as<TextureTensor>();
  return on_texture != nullptr ? on_texture->texture() : Texture::upload(to_cpu(tensor));
}

AnyTensor to_texture(const Tensor& tensor) {
  texture_backend();
  return make_counted<TextureTensor>(Texture::upload(tensor), tensor.sizes());
}

Tensor from_texture(const AnyTensor& tensor) {
  if (const auto* const on_texture = tensor.as<TextureTensor>()) {
    return on_texture->texture().download(on_texture->sizes());
  }
  throw byre::DeviceError(byre::format_text(
      "from_texture: of a tensor of %s, which is in no texture. to_texture() puts one there.",
      tensor ? to_string(tensor.keys()).c_str() : "no backend"));
}

}  // namespace examples::texture
