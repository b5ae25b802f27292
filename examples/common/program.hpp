// SPDX-License-Identifier: BSL-1.0
/// How the examples end: what they deliver, and what they say where they fail.
#pragma once

#include "command_line.hpp"
#include "failure.hpp"

#include <byre/files/output_file.hpp>

#include <functional>
#include <optional>
#include <string>

namespace examples {

/// To standard output. Throws Failure.
void print(const std::string& text);

/// Where the figures go that --json asked for.
class JsonOutput {
 public:
  /// Opens the file before the work, so that a place that cannot be written to is not found out
  /// after it. Throws Failure.
  explicit JsonOutput(const JsonOption& option);

  /// Writes the figures as JSON to the file, or prints them instead of the table. Throws Failure.
  void deliver(const std::function<std::string()>& json, const std::function<std::string()>& table);

 private:
  bool replaces_table_;
  std::optional<byre::OutputFile> file_;
};

/// What main() returns: `work` done, or the exit code for what it threw, said on standard error.
int guarded_main(const char* program, const char* advice_without_memory,
                 const std::function<ExitCode()>& work);

/// The same of a program with options, one of which is help.
template <class Options>
int run_program(const char* program, const char* advice_without_memory, int argc,
                const char* const* argv, Options (*parse_options)(int, const char* const*),
                std::string (*help_text)(), ExitCode (*work)(const Options&)) {
  return guarded_main(program, advice_without_memory, [=] {
    const Options options = parse_options(argc, argv);
    if (options.help) {
      print(help_text());
      return exit_success;
    }
    record_signals();
    return work(options);
  });
}

}  // namespace examples
