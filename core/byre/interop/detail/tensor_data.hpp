// SPDX-License-Identifier: BSL-1.0
/// Loads, maps and writes the elements of tensors in files of every format.
#pragma once

#include <byre/error/error.hpp>
#include <byre/files/output_file.hpp>
#include <byre/storage/storage.hpp>
#include <byre/tensor/tensor.hpp>

#include <bit>
#include <cstddef>
#include <functional>

namespace byre::inline BYRE_ABI::detail {

/// Contiguous elements of a file.
struct StoredElements {
  Dims sizes;
  DType dtype;
  std::endian byte_order;
  std::size_t nbytes;
  /// Throws FileError about an invalid element: a bool that is neither 0 nor 1, which C++ must not
  /// read.
  std::function<void(const Text& found)> refuse;
};

/// Elements in fresh memory. If there are any, `fill(destination, nbytes)` stores their bytes.
Tensor loaded(const StoredElements& elements,
              const std::function<void(std::byte* destination, std::size_t nbytes)>& fill);

/// Whether elements at `offset` of a mapped file can be used in place.
bool are_usable(const StoredElements& elements, std::size_t offset);
/// A view of elements that can be used in place.
Tensor mapped(const StoredElements& elements, Storage file, std::size_t offset);

/// Throws StateError, which names `operation`, for a tensor without a dtype or without memory.
void expect_initialized(const Tensor& tensor, const char* operation);
/// The elements of `tensor`, contiguous, on the host, and in `byte_order`. Does not copy
/// elements that already have this form, even if their memory is borrowed.
Tensor to_write(const Tensor& tensor, std::endian byte_order, CallSite site);
/// Writes the elements of a tensor that to_write() returned.
void write_elements(OutputFile& file, const Tensor& data, CallSite site);

}  // namespace byre::inline BYRE_ABI::detail
