// SPDX-License-Identifier: BSL-1.0
#include "texture.hpp"

#include <algorithm>
#include <mutex>

namespace examples::texture {
namespace {

using byre::Device;
using byre::Dims;
using byre::DType;
using byre::Storage;
using byre::Tensor;

struct Counts {
  std::mutex mutex;
  TextureStats stats;
};

Counts& counts() {
  static Counts all;
  return all;
}

void count(std::uint64_t TextureStats::*event) {
  const std::lock_guard lock(counts().mutex);
  ++(counts().stats.*event);
}

constexpr std::int64_t divided_up(std::int64_t number, std::int64_t by) noexcept {
  return number / by + (number % by == 0 ? 0 : 1);
}

}  // namespace

TextureStats texture_stats() {
  const std::lock_guard lock(counts().mutex);
  return counts().stats;
}

Texture::Texture(std::int64_t numel, DType dtype) : numel_(numel), dtype_(dtype) {
  const std::int64_t texels = divided_up(numel, elements_per_texel);
  width_ = std::min(texels, max_width);
  height_ = width_ == 0 ? 0 : divided_up(texels, width_);
  const std::int64_t tiles = divided_up(width_, tile) * divided_up(height_, tile);
  memory_ = Storage::allocate(static_cast<std::size_t>(tiles * tile * tile) * texel_nbytes());
}

std::size_t Texture::place_of(std::int64_t x, std::int64_t y) const noexcept {
  const std::int64_t tiles_in_front = y / tile * divided_up(width_, tile) + x / tile;
  const std::int64_t within = (x & 1) | (y & 1) << 1 | (x & 2) << 1 | (y & 2) << 2;
  return static_cast<std::size_t>(tiles_in_front * tile * tile + within) * texel_nbytes();
}

Texture Texture::upload(const Tensor& tensor) {
  const Tensor source = tensor.to(Device::cpu()).contiguous();
  const auto* next = static_cast<const std::byte*>(source.raw_data());
  Texture texture(source.numel(), source.dtype());
  std::byte* const bytes = texture.memory_.mutable_data();
  std::fill_n(bytes, texture.memory_.nbytes(), std::byte{0});
  std::size_t left = source.nbytes();
  for (std::int64_t number = 0; left != 0; ++number) {
    const std::size_t taken = std::min(left, texture.texel_nbytes());
    std::memcpy(bytes + texture.place_of_texel(number), next, taken);
    next += taken;
    left -= taken;
  }
  count(&TextureStats::uploads);
  return texture;
}

Tensor Texture::download(const Dims& sizes) const {
  Tensor tensor = Tensor::empty(sizes, dtype_);
  std::size_t left = tensor.nbytes();
  auto* next = left == 0 ? nullptr : static_cast<std::byte*>(tensor.mutable_raw_data());
  for (std::int64_t number = 0; left != 0; ++number) {
    const std::size_t taken = std::min(left, texel_nbytes());
    std::memcpy(next, memory_.data() + place_of_texel(number), taken);
    next += taken;
    left -= taken;
  }
  count(&TextureStats::downloads);
  return tensor;
}

void Texture::count_drawn() {
  count(&TextureStats::drawn);
}

}  // namespace examples::texture
