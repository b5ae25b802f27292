// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/graph/file.hpp>
#include <byre/functional/graph/text.hpp>
#include <byre/storage/detail/input_file.hpp>
#include <byre/storage/detail/output_file.hpp>

namespace byre::inline v0::functional {

std::string write_graph(const Graph& graph) {
  return detail::text_of(graph, detail::Contents::exact);
}

void save_graph(const std::filesystem::path& path, const Graph& graph) {
  const std::string text = write_graph(graph);
  byre::detail::OutputFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

Graph load_graph(const std::filesystem::path& path, Recording::Views views) {
  byre::detail::InputFile file(path);
  std::string text(file.nbytes(), '\0');
  file.read(text.data(), text.size());
  return read_graph(text, path.string(), views);
}

}  // namespace byre::inline v0::functional
