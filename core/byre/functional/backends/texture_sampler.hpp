// SPDX-License-Identifier: BSL-1.0
/// What shaders read textures by: samplers, which convert, and index maps, which say where an element of
/// the image that is drawn comes from. Elements are numbered in row-major order.
#pragma once

#include <byre/functional/backends/texture_image.hpp>
#include <byre/tensor/elements/detail/convert.hpp>
#include <byre/tensor/layout.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace byre::inline v0::functional {

/// The elements of a texture, as those of a dtype. Reads at once.
class Sampler {
 public:
  /// Throws DTypeError, which names `operation`.
  Sampler(Texture texture, DType as, const char* operation)
      : texture_(std::move(texture)),
        itemsize_(static_cast<std::int64_t>(byre::itemsize(as))),
        convert_(byre::detail::conversion(as, texture_.dtype(), operation)) {}

  /// Writes the element of that number to `to`.
  void element(std::int64_t number, std::byte* to) const noexcept;
  /// Writes those of the same texel.
  void texel(const Fragment& at, std::byte* to) const noexcept;

 private:
  Texture texture_;
  std::int64_t itemsize_;
  byre::detail::ConvertRow convert_;
};

/// The number that a layout gives an element.
std::int64_t number_in(const Layout& layout, std::int64_t element) noexcept;

/// The other way round, for a layout that gives no two elements one number.
class InverseLayout {
 public:
  explicit InverseLayout(const Layout& layout);

  /// -1 for a number that no element has.
  std::int64_t element_of(std::int64_t number) const noexcept;

 private:
  struct Run {
    std::int64_t stride;
    std::int64_t size;
    std::int64_t weight;  ///< how many elements later the next is
  };

  std::int64_t offset_;
  bool is_empty_;
  std::vector<Run> runs_;  // by falling strides, each of which is more than all behind it reach
};

/// Draws what `write(element, to)` writes for each element.
template <class Write>
Texture draw_elements(std::int64_t numel, DType dtype, const Write& write) {
  const std::size_t itemsize = byre::itemsize(dtype);
  return Texture::draw(numel, dtype, [&](const Fragment& at, std::byte* texel) {
    for (std::int64_t element = at.first; element < at.first + at.count; ++element) {
      write(element, texel);
      texel += itemsize;
    }
  });
}

}  // namespace byre::inline v0::functional
