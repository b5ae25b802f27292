// SPDX-License-Identifier: BSL-1.0
/// vmap(f) turns a function over tensors into a function over batches of tensors, which calls f
/// once for a whole batch.
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

namespace byre::inline BYRE_ABI::functional {

/// For each input, the dimension that is the batch. std::nullopt: the input has no batch, and all
/// members of the batch use the whole input.
using BatchAxes = std::vector<std::optional<std::int64_t>>;

/// Returns a program that calls `function` once for a whole batch. The function receives batched
/// tensors: each looks like one member of the batch. Results have the batch as dimension 0, even if
/// they do not depend on it. If `axes` is empty, dimension 0 of each input is the batch. Calls of
/// vmap() nest. A batch is computed by the pure operators of the backend, so vmap() works on any
/// backend.
///
/// Batched tensors support no views or writes. functionalize() turns both into pure operators:
/// vmap(functionalize(f)) or functionalize(vmap(f)).
///
/// - Writes to inputs with a batch are made after the function returned: to all these inputs or
///   none.
/// - Writes to inputs without a batch are made by the function itself. They remain if vmap() later
///   rejects the writes to batches.
/// - A result that is an input with the batch as dimension 0 is that input.
/// - A batch in memory is a view of its input, so writes to this memory through tensors without a
///   batch are visible in the batch. Results do not share this memory.
///
/// The returned program throws:
///
/// - ArgumentError if the number of axes differs from the number of inputs, if no input has a
///   batch, or if an input or result is empty;
/// - ShapeError if an axis is out of range, if batch sizes differ, or if a tensor with its batch
///   would exceed max_ndim dimensions;
/// - DispatchError if the function makes a view of a batched tensor or writes one, writes a batch
///   to a tensor without a batch, writes an input whose memory another input shares, changes the
///   sizes or dtype of an input, or, under the functionalize pass, writes the memory of a batch
///   through a tensor without a batch;
/// - the exceptions of the function. A std::bad_alloc becomes OutOfMemory.
///
/// vmap() itself throws ArgumentError if `function` is empty, or OutOfMemory. Thread-safety: that
/// of `function`.
BYRE_API Program vmap(Program function, BatchAxes axes = {});

}  // namespace byre::inline BYRE_ABI::functional
