// SPDX-License-Identifier: BSL-1.0
/// Tensors as text, as NumPy prints arrays: nested brackets, aligned columns, the shortest numbers
/// that read back as what they are, and large tensors summarized.
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
  std::int64_t threshold = 1000;  ///< more elements than this are summarized
  std::int64_t edge_items = 3;    ///< of each end of a dimension, in a summary; at least 1
  int precision = 8;              ///< digits behind the decimal point, at most; 0 or more
  std::size_t line_width = 75;    ///< longer rows go on in the next line
  bool type = false;              ///< followed by dtype, sizes and device: "[1 2], i32 [2]"
};

/// What numpy.array2string says. A tensor that is uninitialized, or none, is printed as what it is:
/// "[4], storage-uninitialized". One off the host is copied there first. Throws DeviceError,
/// OutOfMemory.
BYRE_API std::string to_string(const Tensor& tensor, const PrintOptions& options = {},
                               CallSite site = CallSite::current());

BYRE_API std::ostream& operator<<(std::ostream& stream, const Tensor& tensor);

}  // namespace byre::inline v0
