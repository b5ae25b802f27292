// SPDX-License-Identifier: BSL-1.0
/// The shaders of these tests, as calls.
#pragma once

#include <byre/storage/buffer.hpp>
#include <cstdint>
#include <memory>
#include <span>

#include "vulkan/device/gpu.hpp"

namespace examples::vulkan::test {

/// to[i] = from[i] * factor + addend.
class Add {
 public:
  explicit Add(std::uint32_t factor = 1);
  void operator()(void* to, const void* from, std::uint32_t words, std::uint32_t addend) const;
  void operator()(byre::Buffer& buffer, std::uint32_t addend) const;  ///< in place
  const Pipeline& pipeline() const { return *pipeline_; }

 private:
  std::unique_ptr<Pipeline> pipeline_;
};

/// to[i] += the sum of the parameters.
class Sum {
 public:
  Sum();
  void operator()(byre::Buffer& to, std::span<const std::uint32_t> parameters) const;

 private:
  std::unique_ptr<Pipeline> pipeline_;
};

}  // namespace examples::vulkan::test
