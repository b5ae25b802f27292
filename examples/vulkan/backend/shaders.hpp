// SPDX-License-Identifier: BSL-1.0
/// The compute shaders, compiled when this was built, as pipelines that are made at their first use.
#pragma once

#include <byre/tensor/promotion.hpp>
#include <cstdint>
#include <span>

#include "vulkan/device/pipeline.hpp"

namespace examples::vulkan {

enum class Shader : std::uint8_t { pointwise, sum, matmul };

/// What a shader computes in: DOMAIN of elements.glsl.
enum class Domain : std::uint8_t { integer, single, twofold, complex };

constexpr Domain domain_of(byre::DType dtype) noexcept {
  return dtype == byre::DType::complex64 ? Domain::complex
         : dtype == byre::DType::f64     ? Domain::twofold
         : dtype <= byre::DType::i64     ? Domain::integer
                                         : Domain::single;
}

/// Whose values those of a domain are.
constexpr byre::DType dtype_of(Domain domain) noexcept {
  return domain == Domain::complex   ? byre::DType::complex64
         : domain == Domain::twofold ? byre::DType::f64
         : domain == Domain::integer ? byre::DType::i64
                                     : byre::DType::f32;
}

/// The shader for that domain and those constants, by their ids; `doubles` says that it reads or writes f64. The
/// layout is the same at each call for that shader. Throws VulkanError, also on a device without f64. Thread-safe.
const Pipeline& pipeline_of(Shader shader, Domain domain, bool doubles,
                            std::span<const std::uint32_t> constants);

}  // namespace examples::vulkan
