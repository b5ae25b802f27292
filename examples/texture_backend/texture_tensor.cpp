// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/backends/texture.hpp>
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/guards.hpp>
#include <byre/functional/dispatch/detail/builtin.hpp>

namespace byre::inline v0::functional {
namespace {

[[noreturn]] void refuse_on_texture(const Operator& op) {
  throw DispatchError(format_text(
      "%s %s, and a texture has neither views nor operators that write: nothing points into one. "
      "Run the program under the functionalize pass, which removes both.",
      op.name().c_str(),
      op.effect() == Effect::view ? "makes a view" : "writes to what it is given"));
}

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

}  // namespace

AnyTensor TextureTensor::to_rebind(const AnyTensor& other) const {
  return make_counted<TextureTensor>(texture_of(other), other.sizes());
}

void TextureTensor::rebind(TensorImpl& prepared) noexcept {
  auto& other = static_cast<TextureTensor&>(prepared);
  texture_ = std::move(other.texture_);
  sizes_ = std::move(other.sizes_);
}

Texture texture_of(const AnyTensor& tensor) {
  const auto* const on_texture = tensor.as<TextureTensor>();
  return on_texture != nullptr ? on_texture->texture() : Texture::upload(to_cpu(tensor));
}

AnyTensor to_texture(const Tensor& tensor) {
  return make_counted<TextureTensor>(Texture::upload(tensor), tensor.sizes());
}

Tensor from_texture(const AnyTensor& tensor) {
  if (const auto* const on_texture = tensor.as<TextureTensor>()) {
    return on_texture->texture().download(on_texture->sizes());
  }
  throw DeviceError(format_text(
      "from_texture: of a tensor of %s, which is in no texture. to_texture() puts one there.",
      tensor ? to_string(tensor.keys()).c_str() : "no backend"));
}

void detail::define_texture_backend() {
  define_texture_shaders();
  set_builtin_fallback(Key::texture, compute_on_cpu);
}

}  // namespace byre::inline v0::functional
