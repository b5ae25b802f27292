// SPDX-License-Identifier: BSL-1.0
/// What every operation asks of its operands before it changes anything: that they have elements
/// and a dtype, are on the host, and fit each other; and of the memory of elements.
#pragma once

#include <byre/config.hpp>

#include <byre/tensor/tensor.hpp>

#include <initializer_list>

namespace byre::inline v0::detail {

[[noreturn, gnu::cold]] void refuse_empty_handle(const char* operation);

/// Throws StateError, which names `operation`, for a handle without a tensor.
inline void expect_tensor(const Tensor& operand, const char* operation) {
  if (!operand) [[unlikely]] {
    refuse_empty_handle(operation);
  }
}

/// The same also for a tensor without memory or without a dtype.
void expect_elements(const Tensor& operand, const char* operation);
void expect_dtype_known(const Tensor& operand, const char* operation);

/// Throws DeviceError for a tensor whose memory the host cannot address.
void expect_host(const Tensor& operand, const char* operation);
[[noreturn]] void refuse_other_dtype(const Tensor& operand, DType wanted, const char* operation);

/// The same for all of them, and DeviceError for one the host cannot address.
void expect_operands(const char* operation, std::initializer_list<const Tensor*> operands);

/// Where the elements of operands are, for operations that keep no pointer once they are done, and that
/// record what they read and write, for what tracks view families (byre/shadow). What is read is recorded
/// once nothing is refused any more, and before anything is written: an operand may alias what is
/// written.
struct BYRE_API ElementAccess {
  static void record_read(const Tensor& operand, CallSite site);
  /// The first element of an operand that was recorded as read.
  static const void* to_read(const Tensor& operand) noexcept;
  /// The first element of what is written at `site`: as Tensor::mutable_raw_data.
  static void* to_write(Tensor& output, CallSite site);
  /// A copy in the host's memory of what was recorded as read.
  static Tensor on_host(const Tensor& operand);
  /// Instead of a write, of elements that were copied onto themselves: linked families agree then.
  static void record_copy_onto_itself(Tensor& self, const Tensor& source, CallSite site);
};

/// Writes all of `output`, which is on the host and of nobody else yet, with the elements of an operand
/// of its sizes that was recorded as read, converted.
void convert_recorded(Tensor& output, const Tensor& operand, const char* operation);

/// The sizes that both broadcast to: aligned at the last dimension, each is of one size or one of
/// the two is 1. Throws ShapeError. Source: NumPy.
BYRE_API Dims broadcast_sizes(const Dims& a, const Dims& b, const char* operation);

/// The operand's elements under the sizes of what is written in place. Throws ShapeError: a result
/// never broadcasts.
Layout broadcast_to(const Dims& sizes, const Tensor& operand, const char* operation);

/// Throws DTypeError if a result of dtype `result` may not be written to elements of dtype `to`: its
/// category would be lost.
BYRE_API void expect_category_holds(DType to, DType result, const char* operation);

[[noreturn]] void refuse_dtype(DType dtype, const char* operation);

// ---- the memory of elements

/// Memory of indeterminate contents, except that bools are false: to read a bool that is neither 0 nor 1
/// is undefined, while any bytes are some number. Throws OutOfMemory, and for bools DeviceError.
Storage allocate_elements(std::size_t nbytes, DType dtype, Allocator& allocator);

/// Throws InvalidArgument if elements of `dtype` cannot begin at `data`, on the host; a device knows
/// its own addresses.
void expect_aligned(const void* data, DType dtype, Device device, const char* operation);

/// Throws DTypeError for a bool, on the host, that is neither 0 nor 1. Other dtypes are not read.
void expect_bools(const void* data, std::size_t nbytes, DType dtype, Device device,
                  const char* operation);

}  // namespace byre::inline v0::detail
