// SPDX-License-Identifier: BSL-1.0
/// A fused kernel: several operators of a graph as one dispatch. Each thread computes an element of every output, or
/// one of each plane of it, by a short program of instructions that the shader is specialized for.
#pragma once

#include <byre/functional/graph/graph.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace examples::vulkan {

/// Bounds of the shader, shaders/fused.comp.
inline constexpr std::size_t fused_axes = 3;
inline constexpr std::size_t fused_inputs = 6;
inline constexpr std::size_t fused_outputs = 2;
inline constexpr std::size_t fused_instructions = 64;
inline constexpr std::size_t fused_parameters = 256;
inline constexpr std::size_t fused_numbers = 32;  ///< 128 bytes, which every device has
/// Of a group of threads, along the last axis at most.
inline constexpr std::int64_t fused_width = 64;

/// An instruction's result is its register: that of its number. What an operand is depends on the operation.
struct Instruction {
  enum Operation : std::uint8_t {
    none,
    load,    ///< a: parameters of an address; b: a window's register and one, or 0; c: input
    number,  ///< a: which number
    window,  ///< a: parameters of a window; b: another window's register and one, or 0
    select,  ///< a: condition; b, c: registers
    add,     ///< here and below a, b: registers
    sub,
    mul,
    div,
    neg,
    relu,
    exp,
    ge,
    eq,
    store,  ///< a: register; b: parameter, how far behind the thread's element; c: output
  };
  Operation operation = none;
  std::uint8_t a = 0;
  std::uint8_t b = 0;
  std::uint8_t c = 0;

  std::uint32_t code() const noexcept {
    return std::uint32_t{operation} | std::uint32_t{a} << 8 | std::uint32_t{b} << 16 |
           std::uint32_t{c} << 24;
  }
  friend bool operator==(const Instruction&, const Instruction&) = default;
};

/// A value. Elements are f32; outputs are contiguous.
struct FusedKernel {
  /// Of the threads, the last axis fastest.
  std::array<std::int64_t, fused_axes> sizes{1, 1, 1};
  std::vector<byre::functional::ValueId> inputs;
  std::vector<byre::functional::ValueId> outputs;
  byre::Dims output_sizes;  ///< of each
  /// Whether a thread reads of an input only elements that it writes of an output.
  std::vector<bool> reads_own_element;
  std::vector<Instruction> instructions;
  /// Sizes first; then addresses (offset, strides) and windows (begins, ends).
  std::vector<std::int32_t> parameters;
  /// Given to each dispatch: kernels that differ in them alone are compiled once.
  std::vector<float> numbers;
};

}  // namespace examples::vulkan
