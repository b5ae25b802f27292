// SPDX-License-Identifier: BSL-1.0
#include <byre/shadow/summary.hpp>
#include <byre/storage/output_file.hpp>

#include <unistd.h>
#include <cstdio>

namespace byre::inline v0::shadow {
namespace {

std::string counted(std::uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string with_process_id(std::string where) {
  if (const std::size_t at = where.find("%p"); at != std::string::npos) {
    where.replace(at, 2, std::to_string(::getpid()));
  }
  return where;
}

bool is_json(const std::string& where) {
  return where.ends_with(".json");
}

}  // namespace

std::string to_string(const Summary& summary) {
  std::string text = "byre: reshape: " + counted(summary.reshapes, "reshape was", "reshapes were") +
                     " watched; " + counted(summary.violations, "access relies", "accesses rely") +
                     " on one being an alias, at " +
                     counted(summary.triples.size(), "triple of places", "triples of places") +
                     ", and " + counted(summary.silenced, "more was", "more were") + " silenced; " +
                     counted(summary.unaudited, "line is", "lines are") +
                     " unaudited, where raw pointers to write left.\n";
  std::size_t number = 0;
  for (const Violation& violation : summary.triples) {
    text += "\n" + std::to_string(++number) + ". " + to_string(violation) + "\n";
    for (const std::string& backtrace : backtraces_of(violation)) {
      text += backtrace;
    }
  }
  return text;
}

std::string to_json(const Summary& summary) {
  std::string text = "{\"reshapes\": " + std::to_string(summary.reshapes) +
                     ", \"violations\": " + std::to_string(summary.violations) +
                     ", \"silenced\": " + std::to_string(summary.silenced) +
                     ", \"unaudited\": " + std::to_string(summary.unaudited) + ", \"triples\": [";
  const char* separator = "\n  ";
  for (const Violation& violation : summary.triples) {
    text += separator + to_json(violation);
    separator = ",\n  ";
  }
  return text + "]}\n";
}

void detail::check_place_of_summary(const std::string& where) {
  if (where != "stderr" && !is_json(where) && !where.ends_with(".txt")) {
    throw InvalidArgument(format_text(
        "reshape: a summary is to go to \"%.500s\" (BYRE_RESHAPE_SUMMARY in the environment?), "
        "which is neither stderr, nor a file whose name ends in .json or .txt. Use one of these.",
        where.c_str()));
  }
}

void print_summary(const std::string& where) {
  detail::check_place_of_summary(where);
  const Summary all = summary();
  const std::string text = is_json(where) ? to_json(all) : to_string(all);
  if (where == "stderr") {
    std::fputs(text.c_str(), stderr);
    return;
  }
  byre::detail::OutputFile file(with_process_id(where));
  file.write(text.data(), text.size());
  file.commit();
}

}  // namespace byre::inline v0::shadow
