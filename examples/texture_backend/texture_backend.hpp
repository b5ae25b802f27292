// SPDX-License-Identifier: BSL-1.0
/// A backend of one's own: tensors in textures, without storages that views could share. It has
/// pure operators only; programs with views or writes run on it under the functionalize pass.
#pragma once

#include <byre/functional/dispatch/any_tensor.hpp>

#include <utility>

#include "texture.hpp"

namespace examples::texture {

/// The texture is immutable; which one it is changes by rebind() alone.
class TextureTensor final : public byre::functional::TensorImpl {
 public:
  static inline const byre::functional::Key key =
      byre::functional::add_backend({.name = "texture"});

  /// Sizes of as many elements as the texture has.
  TextureTensor(Texture texture, byre::Dims sizes)
      : TensorImpl(key), texture_(std::move(texture)), sizes_(std::move(sizes)) {}
  byre::Dims sizes() const override { return sizes_; }
  byre::DType dtype() const override { return texture_.dtype(); }
  const Texture& texture() const noexcept { return texture_; }
  /// Of one of the CPU, a copy.
  byre::functional::AnyTensor to_rebind(const byre::functional::AnyTensor& other) const override;
  void rebind(TensorImpl& prepared) noexcept override;

 private:
  Texture texture_;
  byre::Dims sizes_;
};

/// The backend's key. Its kernels are registered at the first call. Thread-safe.
byre::functional::Key texture_backend();

/// A copy in a texture: neither shows what is written to the other. Throws as Texture::upload.
byre::functional::AnyTensor to_texture(const byre::Tensor& tensor);

/// A copy of what is in a texture. Throws DeviceError for a tensor of another backend or a pass,
/// and OutOfMemory.
byre::Tensor from_texture(const byre::functional::AnyTensor& tensor);

/// What is in a texture, or a copy in one of what is on the CPU. Throws as to_texture and to_cpu.
Texture texture_of(const byre::functional::AnyTensor& tensor);

/// For texture_backend().
void define_shaders();

}  // namespace examples::texture
