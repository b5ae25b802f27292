// SPDX-License-Identifier: BSL-1.0
/// Graphs as text, to be read by people. For example:
///
///   graph(%0 x: f32[2], %1: f32[1, 2]):
///     %2: f32[] = select_copy(%0, 0, 1)
///     %3: f32[2] = constant
///     %4: f32[1], %5: f32[1] = user_halves(%3)
///     return %2, %5
#pragma once

#include <byre/config.hpp>
#include <byre/functional/graph/graph.hpp>

#include <string>

namespace byre::inline v0::functional {

/// Without the contents of constants.
BYRE_API std::string to_string(const Graph& graph);

namespace detail {
/// "add(%0, %1)", "constant": what stands behind the equals sign. Two operations that compute the
/// same of the same read the same, and others do not, but for payloads of NaN and for constants.
BYRE_API std::string operation_of(const GraphNode& node);
/// "f32[2]".
BYRE_API std::string to_string(const TensorMeta& meta);
}  // namespace detail

}  // namespace byre::inline v0::functional
