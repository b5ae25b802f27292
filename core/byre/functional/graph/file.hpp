// SPDX-License-Identifier: BSL-1.0
/// Graphs in files, which people can read: what to_string() says, with the contents of constants,
/// byte for byte in hexadecimal, little-endian.
#pragma once

#include <byre/functional/graph/graph.hpp>
#include <byre/functional/graph/recording.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace byre::inline v0::functional {

/// The graph as text that read_graph() reads back exactly, but for the payloads of numbers that are
/// NaN among the arguments. Throws OutOfMemory.
std::string write_graph(const Graph& graph);

/// The same into a file, in place of one that is there: complete, or not at all. Throws FileError,
/// OutOfMemory.
void save_graph(const std::filesystem::path& path, const Graph& graph);

/// The graph of a text, in which everything was checked: the operators are registered, and pure
/// (or, if so asked, views) and take these arguments; values are numbered in order and made before
/// they are used; sizes and dtypes are what the operators return. Throws SyntaxError, which points
/// at the place in `source`; OutOfMemory.
Graph read_graph(std::string_view text, std::string_view source = "graph",
                 Recording::Views views = Recording::Views::refused);

/// The same of a file, which SyntaxErrors name. Throws FileError for one that cannot be read.
Graph load_graph(const std::filesystem::path& path,
                 Recording::Views views = Recording::Views::refused);

}  // namespace byre::inline v0::functional
