// SPDX-License-Identifier: BSL-1.0
#include "shaders.hpp"

#include <array>

#include "add_spirv.hpp"
#include "sum_spirv.hpp"

namespace examples::vulkan::test {
namespace {

constexpr std::uint32_t group_size = 64;

std::uint32_t groups_for(std::size_t threads) {
  return static_cast<std::uint32_t>((threads + group_size - 1) / group_size);
}

}  // namespace

Add::Add(std::uint32_t factor)
    : pipeline_(std::make_unique<Pipeline>(Gpu::get(), add_spirv,
                                           PipelineLayout{.buffers = 2, .push_constants_nbytes = 8},
                                           std::array{factor})) {}

void Add::operator()(void* to, const void* from, std::uint32_t words, std::uint32_t addend) const {
  const std::array uses{Use{from, words * 4, Use::read}, Use{to, words * 4, Use::write}};
  const std::array constants{words, addend};
  Gpu::get().queue().dispatch(*pipeline_, uses, std::as_bytes(std::span(constants)),
                              groups_for(words));
}

void Add::operator()(byre::Buffer& buffer, std::uint32_t addend) const {
  void* const data = buffer.mutable_data();
  (*this)(data, data, static_cast<std::uint32_t>(buffer.nbytes() / 4), addend);
}

Sum::Sum()
    : pipeline_(std::make_unique<Pipeline>(Gpu::get(), sum_spirv,
                                           PipelineLayout{.buffers = 1, .has_parameters = true})) {}

void Sum::operator()(byre::Buffer& to, std::span<const std::uint32_t> parameters) const {
  const std::array uses{Use{to.mutable_data(), to.nbytes(), Use::write}};
  Gpu::get().queue().dispatch(*pipeline_, uses, {}, std::as_bytes(parameters),
                              groups_for(to.nbytes() / 4), 1, 1);
}

}  // namespace examples::vulkan::test
