// SPDX-License-Identifier: BSL-1.0
#include "run_program.hpp"

#include "format.hpp"

#include <byre/files/output_file.hpp>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <system_error>

namespace examples {
namespace {

std::atomic<int> received_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler must not take a lock");

struct Interrupted {
  int signal;
};

void set_signals() noexcept {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const auto before = std::signal(
        signal, [](int received) { received_signal.store(received, std::memory_order_relaxed); });
    if (before == SIG_IGN) {
      std::signal(signal, SIG_IGN);  // stays ignored, for example under nohup
    }
  }
  // Ignored, so that a write beyond a file size limit or to a pipe without a reader returns an
  // error.
  for (const int signal : {SIGXFSZ, SIGPIPE}) {
    std::signal(signal, SIG_IGN);
  }
}

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw Failure("Cannot write to standard output.");
  }
}

std::string help_text(const Program& program) {
  std::string text =
      std::string("Usage: ") + program.name + " " + "[options]\n\n" + program.about + "\nOptions\n";
  std::vector<Option> options = program.options;
  options.push_back({"json", "", "write the figures as JSON to the file VALUE, or print JSON"});
  for (const Option& option : options) {
    const std::string name =
        option.name + std::string(option.default_value == nullptr ? "" : " VALUE");
    text += format("  --%-23s ", name.c_str()) + option.help;
    const bool has_default = option.default_value != nullptr && *option.default_value != '\0';
    text += has_default ? std::string(" (default: ") + option.default_value + ")\n" : "\n";
  }
  return text + "\nExit status: 0 success, 1 failure or wrong results, 2 wrong usage.\n";
}

int run(const Program& program, const Arguments& given) {
  if (given.has("help")) {
    print(help_text(program));
    return 0;
  }
  set_signals();
  std::optional<byre::OutputFile> file;  // opened before the work, so that an error is early
  if (!given.text("json").empty()) {
    file.emplace(given.text("json"));
  }
  Report report = program.work(given);
  report.figures["faults"] = report.faults;
  // Replaces invalid UTF-8, which paths may contain and JSON may not.
  const std::string json =
      report.figures.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (file) {
    file->write(json.data(), json.size());
    file->commit();
  }
  print(given.has("json") && !file ? json : report.text);
  for (const std::string& fault : report.faults) {
    std::fprintf(stderr, "%s: %s\n", program.name, fault.c_str());
  }
  return report.faults.empty() ? 0 : 1;
}

int print_error(const Program& program, const std::string& text, int code) {
  std::fprintf(stderr, "%s: %s\n", program.name, text.c_str());
  return code;
}

}  // namespace

void throw_if_interrupted() {
  const int signal = received_signal.load(std::memory_order_relaxed);
  if (signal != 0) {
    throw Interrupted{signal};
  }
}

int run_program(const Program& program, int argc, const char* const* argv) {
  try {
    return run(program, Arguments(argc, argv, program.options));
  } catch (const UsageError& error) {
    return print_error(program, std::string(error.what()) + " See --help.", 2);
  } catch (const Interrupted& interruption) {
    return print_error(program, "interrupted", 128 + interruption.signal);
  } catch (const std::bad_alloc&) {
    return print_error(program, "Out of memory. Use smaller sizes: see --help.", 1);
  } catch (const std::system_error& error) {
    const bool is_of_thread = error.code() == std::errc::resource_unavailable_try_again;
    return print_error(
        program,
        is_of_thread ? "Cannot start a thread. Raise the limits: ulimit -u -v -s." : error.what(),
        1);
  } catch (const std::exception& error) {
    return print_error(program, error.what(), 1);
  }
}

std::string table_of(const Json& columns) {
  const auto text_of = [](const Json& figure) {
    return figure.is_number_float() ? format("%.3f", figure.get<double>())
           : figure.is_null()       ? "n/a"
           : figure.is_string()     ? figure.get<std::string>()
                                    : figure.dump();
  };
  std::size_t widest = 0;
  for (const auto& [name, figure] : columns.front().items()) {
    widest = std::max(widest, name.size());
  }
  const int width = static_cast<int>(widest);
  std::string text = format("%-*s", width, "");
  for (const auto& [name, column] : columns.items()) {
    text += format(" %14s", name.c_str());
  }
  for (const auto& [name, figure] : columns.front().items()) {
    text += format("\n%-*s", width, name.c_str());
    for (const Json& column : columns) {
      text += format(" %14s", text_of(column.at(name)).c_str());
    }
  }
  return text + "\n";
}

}  // namespace examples
