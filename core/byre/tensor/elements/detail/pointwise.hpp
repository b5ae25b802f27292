// SPDX-License-Identifier: BSL-1.0
/// The loop of all pointwise operations. It computes rows in blocks that fit the L1 cache. Operands
/// with gaps or another dtype are converted block by block, so that each operation is a plain loop
/// over dense arrays of one type.
#pragma once

#include <byre/tensor/detail/operands.hpp>
#include <byre/tensor/elements/detail/convert.hpp>
#include <byre/tensor/elements/detail/wide_vectors.hpp>
#include <byre/tensor/tensor.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace byre::inline BYRE_ABI::detail {

/// The number of elements of a block.
inline constexpr std::int64_t block_length = 256;

/// An operation on dense blocks: the dtypes of its operands and its result, and its function.
template <std::size_t Count>
struct Kernel {
  using Block = void (*)(void* result, const std::array<const void*, Count>& operands,
                         std::int64_t length);
  DType result;
  std::array<DType, Count> operands;
  Block block;
};

/// Tells the compiler that no element depends on an earlier result: the result equals an operand,
/// element for element, or overlaps none. Without this macro, the compiler tests for overlap at run
/// time and does not vectorize in-place operations. Operations without a vector form, such as exp,
/// are not vectorized; clang's warning about them is disabled.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
#define BYRE_INDEPENDENT_ELEMENTS _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define BYRE_INDEPENDENT_ELEMENTS _Pragma("GCC ivdep")
#else
#define BYRE_INDEPENDENT_ELEMENTS
#endif

/// Computes `length` elements. Calls Operation::of_block if it exists. Otherwise computes whole
/// blocks in a separate loop, whose constant length allows vectorization at any level of
/// optimization.
template <class Operation, class Result, class... Operand>
[[gnu::always_inline]] inline void compute_block(std::int64_t length, Result* result,
                                                 const Operand*... operands) {
  if constexpr (requires { Operation::of_block(length, result, operands...); }) {
    return Operation::of_block(length, result, operands...);
  }
  for (; length >= block_length; length -= block_length) {
    BYRE_INDEPENDENT_ELEMENTS
    for (std::int64_t i = 0; i < block_length; ++i) {
      result[i] = Operation{}(operands[i]...);
    }
    result += block_length;
    ((operands += block_length), ...);
  }
  BYRE_INDEPENDENT_ELEMENTS
  for (std::int64_t i = 0; i < length; ++i) {
    result[i] = Operation{}(operands[i]...);
  }
}

#undef BYRE_INDEPENDENT_ELEMENTS

/// compute_block() with the signature of a kernel's function.
template <class Operation, class Result, class... Operand>
struct BlockOf {
  using Operands = std::array<const void*, sizeof...(Operand)>;

  static void portable(void* result, const Operands& operands, std::int64_t length) {
    compute(result, operands, length, std::index_sequence_for<Operand...>{});
  }

  BYRE_WIDE_VECTORS()
  static void wide(void* result, const Operands& operands, std::int64_t length) {
    compute(result, operands, length, std::index_sequence_for<Operand...>{});
  }

 private:
  template <std::size_t... Number>
  [[gnu::always_inline]] static void compute(void* result, const Operands& operands,
                                             std::int64_t length, std::index_sequence<Number...>) {
    compute_block<Operation>(length, static_cast<Result*>(result),
                             static_cast<const Operand*>(operands[Number])...);
  }
};

/// The kernel of Operation, a function object, for operands of the types Operand.
template <class Operation, Element... Operand>
Kernel<sizeof...(Operand)> kernel_of_types() {
  using Result = std::invoke_result_t<Operation, Operand...>;
  using Block = BlockOf<Operation, Result, Operand...>;
  return {dtype_of<Result>,
          {dtype_of<Operand>...},
          has_wide_vectors() ? &Block::wide : &Block::portable};
}

// The pragma ends after the functions into which compute_block() is inlined, because clang reports
// the warning there if there is no debug information.
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

/// The dtype of computations on operands of `dtype`: f32 for f16 and bf16, otherwise `dtype`.
constexpr DType computed_as(DType dtype) noexcept {
  return is_floating(dtype) && itemsize(dtype) == 2 ? DType::f32 : dtype;
}

/// Returns `function.operator()<T>()` for the type T of computed_as(dtype). Throws DTypeError,
/// which names `operation`, if the function does not accept T.
template <class Result, class Function>
Result visit_computed(DType dtype, const char* operation, Function&& function) {
  return visit(computed_as(dtype), operation, [&]<class T>() -> Result {
    if constexpr (!is_half<T> && requires { function.template operator()<T>(); }) {
      return function.template operator()<T>();
    } else {
      refuse_dtype(dtype, operation);
    }
  });
}

/// The kernel of an operation on `Count` operands of `dtype`.
template <class Operation, std::size_t Count>
Kernel<Count> kernel_of(DType dtype, const char* operation) {
  static_assert(Count == 1 || Count == 2);
  if constexpr (Count == 1) {
    return visit_computed<Kernel<1>>(
        dtype, operation, []<class T>() requires std::invocable<Operation, T> {
          return kernel_of_types<Operation, T>();
        });
  } else {
    return visit_computed<Kernel<2>>(
        dtype, operation, []<class T>() requires std::invocable<Operation, T, T> {
          return kernel_of_types<Operation, T, T>();
        });
  }
}

/// Computes a new tensor of dtype `result`. Requires that the operands have passed
/// expect_operands(). Throws ShapeError if the operands do not broadcast, or OutOfMemory.
template <std::size_t Count>
Tensor computed(const char* operation, CallSite site, const Kernel<Count>& kernel, DType result,
                const std::array<const Tensor*, Count>& operands);

/// Writes the result to `output`, which may be an operand. Requires that the operands have passed
/// expect_operands(). Throws ShapeError if an operand does not broadcast to `output` or partially
/// overlaps it, or if elements of `output` share memory; or OutOfMemory.
template <std::size_t Count>
void compute_into(Tensor& output, const char* operation, CallSite site, const Kernel<Count>& kernel,
                  const std::array<const Tensor*, Count>& operands);

}  // namespace byre::inline BYRE_ABI::detail
