// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/backends/cpu.hpp>
#include <byre/functional/backends/texture.hpp>
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/guards.hpp>
#include <byre/functional/operators/builtin.hpp>

#include <cmath>

namespace byre::inline v0::functional {
namespace {

[[noreturn]] void refuse_impure(const Operator& op) {
  throw DispatchError(format_text(
      "%s %s, and a texture has neither views nor operators that write: nothing points into one. "
      "Run the program under the functionalize pass, which removes both.",
      op.name().c_str(),
      op.schema().effect() == Effect::view ? "makes a view" : "writes to what it is given"));
}

Tensors compute_on_cpu(const Call& call) {
  if (!call.op.schema().is_pure()) {
    refuse_impure(call.op);
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

Texture texture_of(const AnyTensor& tensor) {
  const auto* const on_texture = tensor.as<TextureTensor>();
  return on_texture != nullptr ? on_texture->texture() : Texture::upload(to_cpu(tensor));
}

/// Shaders compute f32 from f32, texel by texel, so that operands have to stand alike.
bool has_shader_for(std::span<const Argument> operands) {
  for (const Argument& operand : operands) {
    if (operand.tensor().dtype() != DType::f32 ||
        operand.tensor().sizes() != operands.front().tensor().sizes()) {
      return false;
    }
  }
  return true;
}

template <class Compute, class... Texels>
Texel<float> computed_from(const Compute& compute, const Texels&... texels) {
  Texel<float> computed;
  for (std::size_t index = 0; index < computed.size(); ++index) {
    computed[index] = compute(texels[index]...);
  }
  return computed;
}

/// `compute` takes as many floats as there are operands, tensors of equal sizes.
template <class Compute, class... Operands>
Tensors drawn_by(const Compute& compute, const AnyTensor& first, const Operands&... operands) {
  const auto draw = [&](const auto&... textures) {
    return Texture::draw<float>(first.numel(), [&](std::int64_t x, std::int64_t y) {
      return computed_from(compute, textures.template texel<float>(x, y)...);
    });
  };
  return {
      make_counted<TextureTensor>(draw(texture_of(first), texture_of(operands)...), first.sizes())};
}

template <class Compute>
void define_unary(const char* name, Compute compute) {
  detail::extend_builtin(name).kernel(Key::texture, [compute](const Call& call) {
    if (!has_shader_for(call.arguments)) {
      return compute_on_cpu(call);
    }
    return drawn_by(compute, call.arguments[0].tensor());
  });
}

template <class Compute>
void define_binary(const char* name, Compute compute) {
  detail::extend_builtin(name).kernel(Key::texture, [compute](const Call& call) {
    if (!has_shader_for(call.arguments)) {
      return compute_on_cpu(call);
    }
    return drawn_by(compute, call.arguments[0].tensor(), call.arguments[1].tensor());
  });
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
  define_binary("add", [](float a, float b) { return a + b; });
  define_binary("sub", [](float a, float b) { return a - b; });
  define_binary("mul", [](float a, float b) { return a * b; });
  define_binary("div", [](float a, float b) { return a / b; });
  define_unary("neg", [](float a) { return -a; });
  define_unary("relu", [](float a) { return a < 0 ? 0 : a; });
  define_unary("exp", [](float a) { return std::exp(a); });
  set_builtin_fallback(Key::texture, compute_on_cpu);
}

}  // namespace byre::inline v0::functional
