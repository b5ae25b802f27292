// SPDX-License-Identifier: BSL-1.0
/// vmap: a function over tensors becomes one over batches of them.
///
///   auto norms = vmap([](const Tensors& x) {
///     return call("sum", {call_for_one("mul", {x[0], x[0]})});
///   });
///   norms({matrix});  // the sum of squares of each row
#pragma once

#include <byre/config.hpp>
#include <byre/functional/dispatch/operator.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace byre::inline v0::functional {

/// For each input the dimension that is the batch; none for one that is the same for all of it.
using BatchAxes = std::vector<std::optional<std::int64_t>>;

/// Calls `function` once for a whole batch, with tensors that look like one of it. Results have the
/// batch as dimension 0, also those that do not depend on it. Without `axes`, the batch is
/// dimension 0 of each input. Nests; runs on any backend, by its pure operators. A batch in memory
/// is a view of its input: it sees what the function writes there by tensors that have no batch,
/// and results do not.
///
/// functionalize() makes pure operators of views and of operators that write:
/// vmap(functionalize(f)), or functionalize(vmap(f)). What such a function writes to inputs with a
/// batch is written to them once it is done, to all of them or none. An input that is returned is
/// that input, if its batch is dimension 0. The function writes inputs without a batch itself: they
/// stay written if the batches are refused afterwards.
///
/// The function that is returned throws ArgumentError for another number of inputs than axes, and
/// for no input with a batch, for no function, and for a handle without a tensor, given or returned; ShapeError for an axis that is not there and batches of unequal
/// sizes, and where the batch and what the function makes are more than max_ndim dimensions;
/// DispatchError for a view or a write of a batched tensor, for a batch that is written to a
/// tensor that has none, for a written input in memory that another input sees, under the pass for
/// memory of a batch that is written by a tensor without one, and for an input that became of other
/// sizes; and what the function throws, std::bad_alloc as OutOfMemory. Thread-safety: as of
/// `function`.
BYRE_API Program vmap(Program function, BatchAxes axes = {});

}  // namespace byre::inline v0::functional
