// SPDX-License-Identifier: BSL-1.0
/// Converts graphs to text for people. No function parses this notation. For example:
///
///   graph(%0 x: f32[2], %1: f32[1, 2]):
///     %2: f32[] = select_copy(%0, 0, 1)
///     %3: f32[2] = constant
///     %4: f32[1], %5: f32[1] = user_halves(%3)
///     return %2, %5
///
/// The functions may throw OutOfMemory. Thread-safe.
#pragma once

#include <byre/config.hpp>
#include <byre/functional/graph/graph.hpp>

#include <string>

namespace byre::inline BYRE_ABI::functional {

/// Omits the contents of constants. Cost: O(nodes).
BYRE_API std::string to_string(const Graph& graph);

namespace detail {
/// Returns the text after the equals sign: "add(%0, %1)" or "constant". The texts of two nodes are
/// equal if, and only if, the nodes perform equal operations on equal values. There are two
/// exceptions: all constants have one text, and NaNs are written without their payload.
BYRE_API std::string operation_of(const GraphNode& node);
/// Returns dtype and sizes: "f32[2]".
BYRE_API std::string to_string(const TensorMeta& meta);
}  // namespace detail

}  // namespace byre::inline BYRE_ABI::functional
