// SPDX-License-Identifier: BSL-1.0
/// vmap(f) makes a function over tensors into a function over batches of them. It calls f once for
/// a whole batch.
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

/// For each input, the dimension of the batch. No value: the input has no batch and is used for all
/// members.
using BatchAxes = std::vector<std::optional<std::int64_t>>;

/// Returns a program that calls `function` once for a whole batch. The function receives batched
/// tensors: each looks like one member of the batch. Results have the batch as dimension 0, even if
/// they do not depend on it. If `axes` is empty, dimension 0 of each input is the batch. vmap()
/// nests, and runs on any backend by its pure operators.
///
/// Batched tensors support no views or writes. functionalize() turns both into pure operators:
/// vmap(functionalize(f)) or functionalize(vmap(f)).
///
/// - Writes to inputs with a batch are made once the function is done, to all of them or none.
/// - Writes to inputs without a batch are made by the function itself. They stay if the batches are
///   rejected later.
/// - A result that is an input with the batch as dimension 0 is that input.
/// - A batch in memory is a view of its input, so writes through tensors without a batch are
///   visible in it. Results do not share this memory.
///
/// The returned program throws
///
/// - ArgumentError if the number of axes differs from the number of inputs, no input has a batch,
///   or an input or result is empty;
/// - ShapeError if an axis is out of range, batch sizes differ, or a tensor with its batch would
///   exceed max_ndim dimensions;
/// - DispatchError for a view or a write of a batched tensor; for a batch that is written to a
///   tensor without one; for a written input whose memory another input shares; under the pass, for
///   a write to the memory of a batch through a tensor without one; and for an input that changed
///   its sizes or dtype;
/// - the exceptions of the function, std::bad_alloc as OutOfMemory.
///
/// vmap() itself throws ArgumentError if `function` is empty; OutOfMemory. Thread-safety: as of
/// `function`.
BYRE_API Program vmap(Program function, BatchAxes axes = {});

}  // namespace byre::inline v0::functional
