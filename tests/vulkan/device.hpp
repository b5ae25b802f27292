// SPDX-License-Identifier: BSL-1.0
/// Helpers of the tests of the Vulkan device.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <byre/byre.hpp>
#include <byre/storage/buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "add_spirv.hpp"
#include "vulkan/device/gpu.hpp"

namespace examples::vulkan::test {

using Words = std::vector<std::uint32_t>;

/// Default number of words of a buffer.
inline constexpr std::uint32_t count = 1000;
/// Number of words of a buffer that is a large block.
inline constexpr std::size_t many = 1U << 18;

inline Queue& queue() {
  return Gpu::get().queue();
}
inline DeviceMemory& memory() {
  return Gpu::get().memory();
}

/// `length` consecutive numbers from `first` on.
inline Words counting(std::size_t length, std::uint32_t first = 0) {
  Words words(length);
  std::iota(words.begin(), words.end(), first);
  return words;
}

inline void upload(byre::Buffer& to, const Words& words, std::size_t first = 0) {
  queue().upload(to.mutable_data() + first * 4, words.data(), words.size() * 4);
}

inline byre::Buffer to_device(const Words& words) {
  auto made = byre::Buffer::allocate(words.size() * 4, memory());
  upload(made, words);
  return made;
}

inline Words to_host(const byre::Buffer& buffer) {
  Words words(buffer.nbytes() / 4);
  queue().download(words.data(), buffer.data(), words.size() * 4);
  return words;
}

/// Counts commands since its construction.
class Counted {
 public:
  std::uint64_t dispatches() const { return now().dispatches - before_.dispatches; }
  std::uint64_t copies() const { return now().copies - before_.copies; }
  std::uint64_t host_copies() const {
    return now().uploads + now().downloads - before_.uploads - before_.downloads;
  }

 private:
  static QueueStats now() { return queue().stats(); }
  const QueueStats before_ = now();
};

/// Dispatches a shader: to[i] = from[i] + the sum of the addends.
class Add {
 public:
  void operator()(void* to, const void* from, std::uint32_t words, const Words& addends) const {
    Words parameters{words};
    parameters.insert(parameters.end(), addends.begin(), addends.end());
    queue().dispatch({add_spirv},
                     std::array{Use{from, words * 4, Use::read}, Use{to, words * 4, Use::write}},
                     std::as_bytes(std::span(parameters)), {(words + 63) / 64, 1, 1});
  }
  /// Adds in place.
  void operator()(byre::Buffer& buffer, std::uint32_t addend) const {
    void* const data = buffer.mutable_data();
    (*this)(data, data, static_cast<std::uint32_t>(buffer.nbytes() / 4), {addend});
  }
};

/// A test that begins on an idle device without idle memory, and must release all memory that it
/// allocates.
class OnIdleDevice : public testing::Test {
 protected:
  void SetUp() override {
    queue().wait_idle();
    memory().trim();
    memory().reset_peak();
    before_ = memory().stats();
  }
  void TearDown() override {
    queue().wait_idle();
    const MemoryStats stats = memory().stats();
    EXPECT_EQ(stats.live_nbytes, before_.live_nbytes);
    EXPECT_EQ(stats.held_nbytes, stats.live_nbytes + stats.idle_nbytes);
  }

  MemoryStats before_;
  Add add_;
};

}  // namespace examples::vulkan::test
