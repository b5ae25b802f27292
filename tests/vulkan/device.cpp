// SPDX-License-Identifier: BSL-1.0
#include "device.hpp"

#include <array>

#include "add_spirv.hpp"

namespace examples::vulkan::test {

Add::Add(std::uint32_t factor) : pipeline_(Gpu::get(), add_spirv, 2, std::array{factor}) {}

void Add::operator()(void* to, const void* from, std::uint32_t words, const Words& addends) const {
  Words parameters{words};
  parameters.insert(parameters.end(), addends.begin(), addends.end());
  queue().dispatch(pipeline_,
                   std::array{Use{from, words * 4, Use::read}, Use{to, words * 4, Use::write}},
                   std::as_bytes(std::span(parameters)), {(words + 63) / 64, 1, 1});
}

void Add::operator()(byre::Buffer& buffer, std::uint32_t addend) const {
  void* const data = buffer.mutable_data();
  (*this)(data, data, static_cast<std::uint32_t>(buffer.nbytes() / 4), {addend});
}

}  // namespace examples::vulkan::test
