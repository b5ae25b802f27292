// SPDX-License-Identifier: BSL-1.0
/// What tests of the Vulkan device have in common.
#pragma once

#include <byre/byre.hpp>
#include <byre/storage/buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "vulkan/device/gpu.hpp"

namespace examples::vulkan::test {

using Words = std::vector<std::uint32_t>;

/// Words of a buffer, where no test says another number.
inline constexpr std::uint32_t count = 1000;

inline Gpu& gpu() {
  return Gpu::get();
}

/// Numbers from `first` on.
inline Words counting(std::size_t length, std::uint32_t first = 0) {
  Words words(length);
  std::iota(words.begin(), words.end(), first);
  return words;
}

inline byre::Buffer to_device(const Words& words) {
  auto made = byre::Buffer::allocate(words.size() * 4, gpu().memory());
  gpu().queue().upload(made.mutable_data(), words.data(), words.size() * 4);
  return made;
}

inline Words to_host(const byre::Buffer& buffer) {
  Words words(buffer.nbytes() / 4);
  gpu().queue().download(words.data(), buffer.data(), words.size() * 4);
  return words;
}

}  // namespace examples::vulkan::test
