// SPDX-License-Identifier: BSL-1.0
/// Functions that the CPU's kernels and the pass share.
#pragma once

#include <byre/functional/dispatch/operator.hpp>

namespace byre::inline BYRE_ABI::functional::detail {

/// Copies the result of an out= variant to `out`. Resizes `out` first if it is empty. Throws
/// ShapeError if `out` has other sizes, DTypeError if its dtype is of a lower category.
void write_result_to_out(const Operator& op, const AnyTensor& out, const AnyTensor& result);

/// For resize_: returns a contiguous layout of `sizes` with the offset of `before`. Throws
/// ShapeError if `before` is not contiguous.
Layout resized(const Layout& before, const Dims& sizes);
/// For resize_: throws StateError because the tensor needs new memory to grow, but has views or is
/// a view.
[[noreturn]] void refuse_to_grow(const Dims& sizes);

}  // namespace byre::inline BYRE_ABI::functional::detail
