// SPDX-License-Identifier: BSL-1.0
#include "run_program.hpp"

#include "format.hpp"

#include <byre/files/output_file.hpp>

#include <algorithm>
#include <atomic>
#include <boost/thread/exceptions.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <optional>

namespace examples {
namespace {

std::atomic<int> received_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free, "or a handler could wait for itself");

struct Interrupted {
  int signal;
};

void set_signals() noexcept {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const auto before = std::signal(
        signal, [](int received) { received_signal.store(received, std::memory_order_relaxed); });
    if (before == SIG_IGN) {
      std::signal(signal, SIG_IGN);  // as nohup wants
    }
  }
  // So that a limit on files, or a pipe without a reader, is an error of the write.
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
  options.push_back({"json", "", "write the figures as JSON to a file, or print them"});
  for (const Option& option : options) {
    const std::string name = option.name + std::string(option.usual == nullptr ? "" : " VALUE");
    text += format("  --%-23s ", name.c_str()) + option.help;
    const bool has_usual = option.usual != nullptr && *option.usual != '\0';
    text += has_usual ? std::string(" (default: ") + option.usual + ")\n" : "\n";
  }
  return text + "\nExit codes: 0 all is right, 1 something is wrong or failed, 2 wrong usage.\n";
}

int run(const Program& program, const Arguments& given) {
  if (given.has("help")) {
    print(help_text(program));
    return 0;
  }
  set_signals();
  std::optional<byre::OutputFile> file;  // opened first: not to fail at the end of long work
  if (!given.text("json").empty()) {
    file.emplace(given.text("json"));
  }
  Report report = program.work(given);
  report.figures["faults"] = report.faults;
  // Paths may be any bytes, JSON may not.
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

int say(const Program& program, const std::string& text, int code) {
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
    return say(program, std::string(error.what()) + " See --help.", 2);
  } catch (const Interrupted& interruption) {
    return say(program, "interrupted", 128 + interruption.signal);
  } catch (const std::bad_alloc&) {
    return say(program, "Out of memory. Ask for less: see --help.", 1);
  } catch (const boost::thread_resource_error&) {
    return say(program, "No thread could be started. Raise the limits: ulimit -u -v -s.", 1);
  } catch (const std::exception& error) {
    return say(program, error.what(), 1);
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
