// SPDX-License-Identifier: BSL-1.0
#include <byre/files/output_file.hpp>
#include <byre/shadow/detail/report_book.hpp>
#include <byre/shadow/summary.hpp>
#include <byre/shadow/suppression.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/system/detail/process.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

namespace byre::inline BYRE_ABI::shadow {
namespace {

std::string counted(std::uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

void check_place_of_summary(const std::string& where) {
  if (where != "stderr" && !where.ends_with(".json") && !where.ends_with(".txt")) {
    throw InvalidArgument(format_text(
        "reshape: cannot write a summary to \"%.500s\" (BYRE_RESHAPE_SUMMARY in the environment?), "
        "allowed are stderr and names that end in .json or .txt. Use one of these.",
        where.c_str()));
  }
}

/// Empty if the variable is not set.
std::string value_of(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Runs after the destructors of statics.
[[gnu::destructor]] void print_summary_at_exit() noexcept {
  try {
    if (const std::string where = value_of("BYRE_RESHAPE_SUMMARY"); !where.empty()) {
      print_summary(where);
    }
  } catch (const std::exception& error) {
    warn("the summary of reshapes was not written: %s", error.what());
  }
}

struct AppliedEnvironment {
  AppliedEnvironment();
};

AppliedEnvironment::AppliedEnvironment() try {
  if (const std::string where = value_of("BYRE_RESHAPE_SUMMARY"); !where.empty()) {
    check_place_of_summary(where);
  }
  if (const std::string file = value_of("BYRE_RESHAPE_SUPPRESSIONS"); !file.empty()) {
    suppress_sites(file);
  }
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("the modes of reshape in the environment");
}

}  // namespace

std::string to_string(const Summary& summary) try {
  std::string text =
      "byre: reshape: " + counted(summary.reshapes, "reshape was", "reshapes were") + " tracked; " +
      counted(summary.violations, "access relies", "accesses rely") + " on an alias, at " +
      counted(summary.triples.size(), "triple of call sites", "triples of call sites") + ", and " +
      counted(summary.suppressed, "more was", "more were") + " suppressed; " +
      counted(summary.untracked_escapes, "raw pointer", "raw pointers") +
      " to write escaped tracking.\n";
  if (const CallSite& first = summary.first_escape; first.line != 0) {
    text += std::string("  first at ") + first.file + ":" + std::to_string(first.line) + "\n";
  }
  std::size_t number = 0;
  for (const Violation& violation : summary.triples) {
    text += "\n" + std::to_string(++number) + ". " + to_string(violation) + "\n";
  }
  return text;
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("to_string");
}

void print_summary(const std::string& where) try {
  check_place_of_summary(where);
  const Summary all = summary();
  const std::string text = where.ends_with(".json") ? to_json(all) : to_string(all);
  if (where == "stderr") {
    std::fputs(text.c_str(), stderr);
    return;
  }
  std::string path = where;
  if (const std::size_t at = path.find("%p"); at != std::string::npos) {
    path.replace(at, 2, std::to_string(system::process_id()));
  }
  OutputFile file(path);
  file.write(text.data(), text.size());
  file.commit();
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("print_summary");
}

void detail::apply_environment() {
  sync::no_destructor<AppliedEnvironment>();
}

}  // namespace byre::inline BYRE_ABI::shadow
