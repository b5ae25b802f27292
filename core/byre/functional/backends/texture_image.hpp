// SPDX-License-Identifier: BSL-1.0
/// Texture: an image of texels without addresses, as a mobile GPU has them. Elements enter and leave
/// it all at once; in between, shaders read texels by their coordinates, and draw new textures.
#pragma once

#include <byre/tensor/tensor.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace byre::inline v0::functional {

/// Four elements, as a shader has them at once.
template <Element T>
using Texel = std::array<T, 4>;

/// How often textures were filled, read back and drawn, by all threads, since the program began.
struct TextureStats {
  std::uint64_t uploads = 0;
  std::uint64_t downloads = 0;
  std::uint64_t drawn = 0;
};

/// Thread-safe.
TextureStats texture_stats();

/// Immutable: a copy is a handle to the same image. Elements stand in row-major order by fours in
/// texels, those row by row in the image, and that in memory tile by tile, within which x and y take
/// turns bit by bit: no strides say where an element is. Thread-safety: reads at once.
class Texture {
 public:
  /// In texels: what does not fit one row goes into the next.
  static constexpr std::int64_t max_width = 256;

  /// Of a tensor on any device. Throws StateError for one without memory or dtype, OutOfMemory.
  static Texture upload(const Tensor& tensor);
  /// All elements, under sizes of as many. Throws OutOfMemory.
  Tensor download(const Dims& sizes) const;

  /// `shader(x, y)` answers the texel there, in an image for `numel` elements; those behind the last
  /// mean nothing. Throws OutOfMemory, and what the shader throws.
  template <Element T, class Shader>
  static Texture draw(std::int64_t numel, const Shader& shader);
  /// T is the dtype; x and y are of this image.
  template <Element T>
  Texel<T> texel(std::int64_t x, std::int64_t y) const {
    Texel<T> read;
    std::memcpy(read.data(), memory_.data() + place_of(x, y), sizeof read);
    return read;
  }

  std::int64_t numel() const noexcept { return numel_; }
  DType dtype() const noexcept { return dtype_; }
  std::int64_t width() const noexcept { return width_; }
  std::int64_t height() const noexcept { return height_; }

 private:
  static constexpr std::int64_t tile = 4;  ///< texels, both ways

  Texture(std::int64_t numel, DType dtype);

  /// The byte that a texel begins at.
  std::size_t place_of(std::int64_t x, std::int64_t y) const noexcept;
  std::size_t place_of_texel(std::int64_t number) const noexcept {
    return place_of(number % width_, number / width_);
  }
  static void count_drawn();

  std::int64_t numel_;
  DType dtype_;
  std::int64_t width_;
  std::int64_t height_;
  Storage memory_;
};

template <Element T, class Shader>
Texture Texture::draw(std::int64_t numel, const Shader& shader) {
  Texture drawn(numel, dtype_of<T>);
  std::byte* const bytes = drawn.memory_.mutable_data();
  for (std::int64_t y = 0; y < drawn.height_; ++y) {
    for (std::int64_t x = 0; x < drawn.width_; ++x) {
      const Texel<T> texel = shader(x, y);
      std::memcpy(bytes + drawn.place_of(x, y), texel.data(), sizeof texel);
    }
  }
  count_drawn();
  return drawn;
}

}  // namespace byre::inline v0::functional
