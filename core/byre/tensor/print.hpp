// SPDX-License-Identifier: BSL-1.0
/// Tensors as text, in NumPy's format: nested brackets and aligned columns. Numbers have the fewest
/// digits from which the same number is read back, and large tensors are summarized.
#pragma once

#include <byre/config.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>

namespace byre::inline v0 {

/// The defaults are NumPy's.
struct PrintOptions {
  std::int64_t threshold = 1000;  ///< tensors of more elements are summarized
  std::int64_t edge_items = 3;    ///< shown at each end of a dimension in a summary; at least 1
  int precision = 8;              ///< the most digits after the decimal point; 0 or more
  std::size_t line_width = 75;    ///< longer rows continue on the next line
  bool type = false;              ///< append dtype, sizes and device: "[1 2], i32 [2]"
};

/// The text of numpy.array2string(). For an uninitialized tensor or an empty handle, the text names
/// the state: "[4], storage-uninitialized". A tensor on another device is copied to the host first.
/// Throws DeviceError, OutOfMemory. Thread-safety: reads the tensor, as Tensor::data().
BYRE_API std::string to_string(const Tensor& tensor, const PrintOptions& options = {},
                               CallSite site = CallSite::current());

/// Writes to_string(tensor).
BYRE_API std::ostream& operator<<(std::ostream& stream, const Tensor& tensor);

}  // namespace byre::inline v0
