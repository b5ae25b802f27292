// SPDX-License-Identifier: BSL-1.0
#include "program.hpp"

#include <boost/thread/exceptions.hpp>
#include <cstdio>
#include <exception>
#include <new>

namespace examples {
namespace {

int complain(const char* program, const std::string& text, ExitCode code) {
  std::fprintf(stderr, "%s: %s\n", program, text.c_str());
  if (code == exit_usage) {
    std::fprintf(stderr, "See %s --help.\n", program);
  }
  return code;
}

}  // namespace

void print(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    throw Failure("Cannot write to standard output.");
  }
}

JsonOutput::JsonOutput(const JsonOption& option)
    : replaces_table_(option.is_given && option.file.empty()) {
  if (!option.file.empty()) {
    file_.emplace(option.file);
  }
}

void JsonOutput::deliver(const std::function<std::string()>& json,
                         const std::function<std::string()>& table) {
  if (file_) {
    const std::string text = json();
    file_->write(text.data(), text.size());
    file_->commit();
  }
  print(replaces_table_ ? json() : table());
}

int guarded_main(const char* program, const char* advice_without_memory,
                 const std::function<ExitCode()>& work) {
  try {
    return work();
  } catch (const UsageError& error) {
    return complain(program, error.what(), exit_usage);
  } catch (const Interrupted& interruption) {
    std::fprintf(stderr, "\n%s: interrupted\n", program);
    return interruption.exit_code();
  } catch (const std::bad_alloc&) {
    return complain(program, std::string("Out of memory. ") + advice_without_memory, exit_failure);
  } catch (const boost::thread_resource_error&) {
    return complain(program, "No thread could be started. Raise the limits: ulimit -u -v -s.",
                    exit_failure);
  } catch (const std::exception& error) {
    return complain(program, error.what(), exit_failure);
  }
}

}  // namespace examples
