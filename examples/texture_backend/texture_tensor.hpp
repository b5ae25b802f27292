// SPDX-License-Identifier: BSL-1.0
/// The texture backend: tensors in opaque textures, without storages that views could share. It has
/// pure operators only; programs with views or writes run on it under the functionalize pass.
#pragma once

#include <byre/functional/backends/texture_image.hpp>
#include <byre/functional/dispatch/any_tensor.hpp>

#include <utility>

namespace byre::inline v0::functional {

/// The texture is immutable; which one it is changes by rebind() alone.
class TextureTensor final : public TensorImpl {
 public:
  static constexpr Key key = Key::texture;

  /// Sizes of as many elements as the texture has.
  TextureTensor(Texture texture, Dims sizes)
      : TensorImpl(key), texture_(std::move(texture)), sizes_(std::move(sizes)) {}
  Dims sizes() const override { return sizes_; }
  DType dtype() const override { return texture_.dtype(); }
  const Texture& texture() const noexcept { return texture_; }
  /// Of one of the CPU, a copy.
  AnyTensor to_rebind(const AnyTensor& other) const override;
  void rebind(TensorImpl& prepared) noexcept override;

 private:
  Texture texture_;
  Dims sizes_;
};

/// A copy in a texture: neither shows what is written to the other. Throws as Texture::upload.
AnyTensor to_texture(const Tensor& tensor);

/// A copy of what is in a texture. Throws DeviceError for a tensor of another backend or a pass, and
/// OutOfMemory.
Tensor from_texture(const AnyTensor& tensor);

/// What is in a texture, or a copy in one of what is on the CPU. Throws as to_texture and to_cpu.
Texture texture_of(const AnyTensor& tensor);

namespace detail {
/// All that the pass emits, and all from element to element. Sums are the CPU's: their order is its own.
void define_texture_shaders();
/// Operators that have no shader are computed by the CPU's kernels, between a download and an upload;
/// those that are not pure are refused.
void define_texture_backend();
}  // namespace detail

}  // namespace byre::inline v0::functional
