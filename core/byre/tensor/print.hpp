// SPDX-License-Identifier: BSL-1.0
/// Tensors as text, in NumPy's format: nested brackets and aligned columns. Each number is printed
/// with the fewest digits from which it can be read back exactly, or rounded to
/// PrintOptions::precision digits after the decimal point. Large tensors are summarized.
#pragma once

#include <byre/config.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>

namespace byre::inline BYRE_ABI {

/// The defaults are NumPy's.
struct PrintOptions {
  std::int64_t threshold = 1000;  ///< tensors of more elements are summarized
  std::int64_t edge_items = 3;    ///< shown at each end of a dimension of a summary; at least 1
  int precision = 8;              ///< the most digits after the decimal point; at least 0
  std::size_t line_width = 75;    ///< longer rows continue on the next line
  bool type = false;              ///< append dtype, sizes and device: "[1 2], i32 [2]"
};

/// The text of numpy.array2string(). The text of an uninitialized tensor or of an empty handle
/// names the state: "f32 [4], storage-uninitialized", "no tensor". A tensor on another device is
/// copied to the host first. Options that are less than their minimum count as the minimum.
///
/// Throws OutOfMemory if memory is exhausted, and DeviceError or another exception of the device if
/// the tensor is not on the host and the copy fails. Cost: O(n) in the number of shown elements, or
/// of all elements if the tensor is copied. Thread-safety: reads the tensor, as Tensor::data().
BYRE_API std::string to_string(const Tensor& tensor, const PrintOptions& options = {},
                               CallSite site = CallSite::current());

/// Writes to_string(tensor) to `stream`.
BYRE_API std::ostream& operator<<(std::ostream& stream, const Tensor& tensor);

}  // namespace byre::inline BYRE_ABI
