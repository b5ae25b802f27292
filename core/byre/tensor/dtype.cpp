// SPDX-License-Identifier: BSL-1.0
#include <byre/tensor/dtype.hpp>

namespace byre::inline v0::detail {

void no_such_dtype(const char* operation, DType) {
  throw DTypeError(format_text(
      "%s: a dtype is needed, and it is uninitialized. Name one, such as DType::f32, or call "
      "realize(dtype) on the tensor first.",
      operation));
}

}  // namespace byre::inline v0::detail
