// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/backends/texture_image.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/tensor/elements/operands.hpp>

#include <algorithm>
#include <boost/thread/lock_guard.hpp>
#include <boost/thread/mutex.hpp>

namespace byre::inline v0::functional {
namespace {

struct Counts {
  boost::mutex mutex;
  TextureStats stats;
};

Counts& counts() noexcept {
  return sync::no_destructor<Counts>();
}

void count(std::uint64_t TextureStats::*event) {
  const boost::lock_guard<boost::mutex> lock(counts().mutex);
  ++(counts().stats.*event);
}

constexpr std::int64_t divided_up(std::int64_t number, std::int64_t by) noexcept {
  return number / by + (number % by == 0 ? 0 : 1);
}

}  // namespace

TextureStats texture_stats() {
  const boost::lock_guard<boost::mutex> lock(counts().mutex);
  return counts().stats;
}

Texture::Texture(std::int64_t numel, DType dtype) : numel_(numel), dtype_(dtype) {
  const std::int64_t texels = divided_up(numel, elements_per_texel);
  width_ = std::min(texels, max_width);
  height_ = width_ == 0 ? 0 : divided_up(texels, width_);
  const Dims room{divided_up(width_, tile) * tile, divided_up(height_, tile) * tile,
                  elements_per_texel};
  memory_ = Storage::allocate(byre::detail::byte_count(byre::detail::element_count(room, "texture"),
                                                       itemsize(dtype), "texture"));
}

std::size_t Texture::place_of(std::int64_t x, std::int64_t y) const noexcept {
  const std::int64_t tiles_in_front = y / tile * divided_up(width_, tile) + x / tile;
  const std::int64_t within = (x & 1) | (y & 1) << 1 | (x & 2) << 1 | (y & 2) << 2;
  return static_cast<std::size_t>((tiles_in_front * tile * tile + within) * elements_per_texel) *
         itemsize(dtype_);
}

Texture Texture::upload(const Tensor& tensor) {
  const Tensor source = tensor.to(Device::cpu()).contiguous();
  const auto* next = static_cast<const std::byte*>(source.raw_data());
  Texture texture(source.numel(), source.dtype());
  std::byte* const bytes = texture.memory_.mutable_data();
  std::fill_n(bytes, texture.memory_.nbytes(), std::byte{0});
  const std::size_t of_texel = texture.texel_nbytes();
  std::size_t left = source.nbytes();
  for (std::int64_t number = 0; left != 0; ++number) {
    const std::size_t taken = std::min(left, of_texel);
    std::memcpy(bytes + texture.place_of_texel(number), next, taken);
    next += taken;
    left -= taken;
  }
  count(&TextureStats::uploads);
  return texture;
}

Tensor Texture::download(const Dims& sizes) const {
  Tensor tensor = Tensor::empty(sizes, dtype_);
  BYRE_ASSERT(tensor.numel() == numel_, "a texture was read as another number of elements");
  auto* next =
      static_cast<std::byte*>(byre::detail::ElementAccess::to_write(tensor, CallSite::current()));
  const std::size_t of_texel = texel_nbytes();
  std::size_t left = tensor.nbytes();
  for (std::int64_t number = 0; left != 0; ++number) {
    const std::size_t taken = std::min(left, of_texel);
    std::memcpy(next, memory_.data() + place_of_texel(number), taken);
    next += taken;
    left -= taken;
  }
  count(&TextureStats::downloads);
  return tensor;
}

Texture Texture::as(DType dtype) const {
  BYRE_ASSERT(itemsize(dtype) == itemsize(dtype_),
              "a texture was read as elements of another size");
  Texture other = *this;
  other.dtype_ = dtype;
  return other;
}

void Texture::count_drawn() {
  count(&TextureStats::drawn);
}

}  // namespace byre::inline v0::functional
