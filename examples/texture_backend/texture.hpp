// SPDX-License-Identifier: BSL-1.0
/// Texture: an image of texels without addresses, as a mobile GPU has them. Elements enter and
/// leave it all at once. In between, shaders read texels by their coordinates, and draw new
/// textures.
#pragma once

#include <byre/storage/storage.hpp>
#include <byre/tensor/tensor.hpp>

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace examples::texture {

inline constexpr std::int64_t elements_per_texel = 4;

/// Four elements, as a shader has them at once.
template <byre::Element T>
using Texel = std::array<T, elements_per_texel>;

/// Room for those of any dtype.
struct alignas(16) TexelBytes {
  std::array<std::byte, sizeof(Texel<std::complex<float>>)> bytes;
};

/// Where a shader is: at a texel, whose first `count` elements are in use.
struct Fragment {
  std::int64_t x;
  std::int64_t y;
  std::int64_t first;  ///< the number of the texel's first element
  std::int64_t count;
};

/// How often textures were filled, read back and drawn, by all threads, since the program began.
struct TextureStats {
  std::uint64_t uploads = 0;
  std::uint64_t downloads = 0;
  std::uint64_t drawn = 0;
};

/// Thread-safe.
TextureStats texture_stats();

/// Immutable: a copy is a handle to the same image. Elements stand in row-major order by fours in
/// texels, those row by row in the image. In memory the image stands tile by tile, within which x
/// and y take turns bit by bit: no strides say where an element is. Thread-safety: reads at once.
class Texture {
 public:
  /// In texels: what does not fit one row goes into the next.
  static constexpr std::int64_t max_width = 256;

  /// Of a tensor on any device. Throws StateError for one without memory or dtype, OutOfMemory.
  static Texture upload(const byre::Tensor& tensor);
  /// All elements, under sizes of as many. Throws OutOfMemory.
  byre::Tensor download(const byre::Dims& sizes) const;

  /// `shader(fragment, texel)` writes the bytes of a texel, which are 0 before, of an image for
  /// `numel` elements of `dtype`. Throws OutOfMemory, and what the shader throws.
  template <class Shader>
  static Texture draw(std::int64_t numel, byre::DType dtype, const Shader& shader);
  /// The bytes of the texel there.
  void fetch(std::int64_t x, std::int64_t y, std::byte* texel) const noexcept {
    std::memcpy(texel, memory_.data() + place_of(x, y), texel_nbytes());
  }
  /// The bytes of the element of that number.
  void fetch_element(std::int64_t number, std::byte* element) const noexcept {
    const std::int64_t texel = number / elements_per_texel;
    const std::size_t nbytes = byre::itemsize(dtype_);
    const auto nth = static_cast<std::size_t>(number % elements_per_texel);
    std::memcpy(element, memory_.data() + place_of_texel(texel) + nth * nbytes, nbytes);
  }
  /// T is the dtype.
  template <byre::Element T>
  Texel<T> texel(std::int64_t x, std::int64_t y) const {
    Texel<T> read;
    fetch(x, y, reinterpret_cast<std::byte*>(read.data()));
    return read;
  }

  std::int64_t numel() const noexcept { return numel_; }
  byre::DType dtype() const noexcept { return dtype_; }
  std::int64_t width() const noexcept { return width_; }
  std::int64_t height() const noexcept { return height_; }

 private:
  static constexpr std::int64_t tile = 4;  ///< texels, both ways

  Texture(std::int64_t numel, byre::DType dtype);

  /// The byte that a texel begins at.
  std::size_t place_of(std::int64_t x, std::int64_t y) const noexcept;
  std::size_t place_of_texel(std::int64_t number) const noexcept {
    return place_of(number % width_, number / width_);
  }
  std::size_t texel_nbytes() const noexcept { return elements_per_texel * byre::itemsize(dtype_); }
  static void count_drawn();

  std::int64_t numel_;
  byre::DType dtype_;
  std::int64_t width_;
  std::int64_t height_;
  byre::Storage memory_;
};

template <class Shader>
Texture Texture::draw(std::int64_t numel, byre::DType dtype, const Shader& shader) {
  Texture drawn(numel, dtype);
  std::byte* const bytes = drawn.memory_.mutable_data();
  for (std::int64_t y = 0; y < drawn.height_; ++y) {
    for (std::int64_t x = 0; x < drawn.width_; ++x) {
      TexelBytes texel{};
      const std::int64_t first = (y * drawn.width_ + x) * elements_per_texel;
      const std::int64_t count = std::clamp<std::int64_t>(numel - first, 0, elements_per_texel);
      shader(Fragment{x, y, first, count}, texel.bytes.data());
      std::memcpy(bytes + drawn.place_of(x, y), texel.bytes.data(), drawn.texel_nbytes());
    }
  }
  count_drawn();
  return drawn;
}

}  // namespace examples::texture
