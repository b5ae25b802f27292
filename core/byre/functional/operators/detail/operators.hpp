// SPDX-License-Identifier: BSL-1.0
/// What kernels of the operators of byre/tensor have in common with those of the pass.
#pragma once

#include <byre/functional/dispatch/operator.hpp>

namespace byre::inline v0::functional::detail {

/// What an out= variant does with the result that its functional variant computed: copies it to
/// `out`, which takes its sizes if it has no elements. Throws ShapeError for an `out` of other
/// sizes, DTypeError for one of a lower category.
void write_result_to_out(const Operator& op, const AnyTensor& out, const AnyTensor& result);

/// For resize_: a contiguous layout of `sizes` that begins where `before` does. Throws ShapeError if
/// `before` is not contiguous.
Layout resized(const Layout& before, const Dims& sizes);
/// For resize_: throws StateError, for a tensor that others see and that would need new memory.
[[noreturn]] void refuse_to_grow(const Dims& sizes);

}  // namespace byre::inline v0::functional::detail
