// SPDX-License-Identifier: BSL-1.0
/// The checks that operations make before they change anything: whether operands are initialized,
/// are on the host and fit each other, and whether memory is suitable for elements. The message of
/// each error names `operation`.
#pragma once

#include <byre/config.hpp>

#include <byre/tensor/tensor.hpp>

#include <initializer_list>

namespace byre::inline BYRE_ABI::detail {

[[noreturn, gnu::cold]] void refuse_empty_handle(const char* operation);

/// Throws StateError if the handle is empty.
inline void expect_tensor(const Tensor& operand, const char* operation) {
  if (!operand) [[unlikely]] {
    refuse_empty_handle(operation);
  }
}

/// Throws StateError if the handle is empty, or the tensor is storage- or dtype-uninitialized.
void expect_elements(const Tensor& operand, const char* operation);
/// Throws StateError if the handle is empty, or the tensor is dtype-uninitialized.
void expect_dtype_known(const Tensor& operand, const char* operation);

/// Throws DeviceError if the tensor is not on the host.
void expect_host(const Tensor& operand, const char* operation);
[[noreturn]] void refuse_other_dtype(const Tensor& operand, DType wanted, const char* operation);

/// Calls expect_elements() and expect_host() for each operand.
void expect_operands(const char* operation, std::initializer_list<const Tensor*> operands);

/// Access to the elements of operands, for operations that do not retain a pointer when they
/// return. The operations record their reads and writes for the tracking of view families
/// (byre/shadow). An operation records reads after its last check and before its first write,
/// because an operand may alias the output.
struct BYRE_API ElementAccess {
  static void record_read(const Tensor& operand, CallSite site);
  /// The first element of an operand, for reading. Requires that the caller has recorded the read.
  static const void* to_read(const Tensor& operand) noexcept;
  /// The first element of the output, for writing. Like Tensor::mutable_raw_data(), realizes and
  /// materializes the output. Records the write.
  static void* to_write(Tensor& output, CallSite site);
  /// A copy of `operand` in host memory. Requires that the caller has recorded the read.
  static Tensor on_host(const Tensor& operand);
  /// Records a copy of elements onto themselves: source and target have equal addresses. If the
  /// copy covers the whole storage, records no write. Instead, records that the view family of
  /// `self` has observed every earlier write to the storage.
  static void record_copy_onto_itself(Tensor& self, const Tensor& source, CallSite site);
};

/// Converts the elements of `operand` and writes them to `output`. Requires that the sizes are
/// equal, that `output` is new and on the host, and that the caller has recorded the read.
void convert_recorded(Tensor& output, const Tensor& operand, const char* operation);

/// The sizes that `a` and `b` broadcast to. Dimensions are counted from the last. Throws ShapeError
/// if the two sizes of a dimension differ and neither is 1. Source: NumPy.
BYRE_API Dims broadcast_sizes(const Dims& a, const Dims& b, const char* operation);

/// The layout of `operand`, expanded to `sizes`, the sizes of a tensor that is written in place.
/// Throws ShapeError if the operand does not broadcast to `sizes`.
Layout broadcast_to(const Dims& sizes, const Tensor& operand, const char* operation);

/// Throws DTypeError if the category of `result` is higher than that of `to`, the dtype of the
/// tensor that is written in place.
BYRE_API void expect_category_holds(DType to, DType result, const char* operation);

[[noreturn]] void refuse_dtype(DType dtype, const char* operation);

// ---- the memory of elements

/// Memory with indeterminate contents, except that elements of dtype bool are false: reading a byte
/// other than 0 and 1 as a bool would be undefined. Throws OutOfMemory if memory is exhausted. If
/// `dtype` is bool, also throws DeviceError if the device of `allocator` is not registered, or any
/// exception of the device.
Storage allocate_elements(std::size_t nbytes, DType dtype, Allocator& allocator);

/// Throws InvalidArgument if `data` is not aligned for `dtype`. Checks host memory only, because
/// devices may require other alignments.
void expect_aligned(const void* data, DType dtype, Device device, const char* operation);

/// Throws DTypeError if `dtype` is bool, the memory is on the host and a byte is neither 0 nor 1.
/// Does not read the memory if `dtype` is not bool.
void expect_bools(const void* data, std::size_t nbytes, DType dtype, Device device,
                  const char* operation);

}  // namespace byre::inline BYRE_ABI::detail
