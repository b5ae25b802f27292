// SPDX-License-Identifier: BSL-1.0
// functionalize: runs a small program on a backend that has neither views nor operations in place.
// See README.md.
#include "options.hpp"
#include "parser.hpp"
#include "program.hpp"
#include "run.hpp"

#include <byre/files/output_file.hpp>
#include <byre/functional/graph/text.hpp>

#include <boost/thread/thread.hpp>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <fstream>
#include <utility>

namespace examples::functionalize {
namespace {

Source read_source(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open() || std::filesystem::is_directory(path)) {
    throw Failure("Cannot read " + path.string() + ".");
  }
  // A device may have no end.
  constexpr std::size_t most_nbytes = std::size_t{16} << 20;
  std::string text(most_nbytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > most_nbytes) {
    throw Failure(path.string() + " is no program: it has more than 16 MiB.");
  }
  return {std::move(text), path.filename().string()};
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  byre::OutputFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

ExitCode run_and_report(const Options& options) {
  JsonOutput json_output(options.json);
  const Script script = parse(read_source(options.program));
  const Report report = run(script, options);
  if (!options.dot.empty()) {
    write_file(options.dot, byre::functional::to_dot(report.graph->simplified));
  }
  json_output.deliver([&] { return json(report); }, [&] { return table(report); });
  for (const std::string& fault : report.faults) {
    std::fprintf(stderr, "functionalize: %s\n", fault.c_str());
  }
  return report.faults.empty() ? exit_success : exit_failure;
}

/// On a stack of its own, since parts within parts are read, computed and destroyed by functions that call
/// themselves: the deepest program takes half a megabyte, and the limit of the process may be less.
ExitCode work(const Options& options) {
  ExitCode code = exit_failure;
  std::exception_ptr failure;
  boost::thread::attributes attributes;
  attributes.set_stack_size(std::size_t{8} << 20);
  boost::thread(attributes, [&] {
    try {
      code = run_and_report(options);
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) {
    std::rethrow_exception(failure);
  }
  return code;
}

}  // namespace
}  // namespace examples::functionalize

int main(int argc, char** argv) {
  using namespace examples::functionalize;
  return examples::run_program("functionalize", "Use smaller tensors.", argc, argv, parse_options,
                               help_text, work);
}
