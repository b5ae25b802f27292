// SPDX-License-Identifier: BSL-1.0
#include <byre/shadow/json.hpp>
#include <byre/shadow/summary.hpp>
#include <byre/storage/detail/output_file.hpp>

#include <unistd.h>
#include <cstdio>
#include <vector>

namespace byre::inline v0::shadow {
namespace {

std::string counted(std::uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string name_of(const UnauditedLine& line) {
  return line.site.line == 0 ? "a place that is not known"
                             : std::string(line.site.file) + ":" + std::to_string(line.site.line);
}

std::string json_of(const UnauditedLine& line) {
  return "{\"file\": " + json_string(line.site.file) +
         ", \"line\": " + std::to_string(line.site.line) +
         ", \"times\": " + std::to_string(line.times) + "}";
}

/// A line each.
template <class Element, class ToJson>
std::string json_list(const std::vector<Element>& elements, const ToJson& to_json) {
  std::string text = "[";
  for (const Element& each : elements) {
    text += (text.size() > 1 ? ",\n  " : "\n  ") + to_json(each);
  }
  return text + "]";
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
                     counted(summary.unaudited_lines.size(), "line is", "lines are") +
                     " unaudited, where raw pointers to write left.\n";
  for (const UnauditedLine& line : summary.unaudited_lines) {
    text += "  unaudited: " + name_of(line) + ", " + counted(line.times, "time", "times") + "\n";
  }
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
  const std::string text = "{\"reshapes\": " + std::to_string(summary.reshapes) +
                           ", \"violations\": " + std::to_string(summary.violations) +
                           ", \"silenced\": " + std::to_string(summary.silenced) +
                           ", \"unaudited\": " + std::to_string(summary.unaudited) +
                           ", \"unaudited_lines\": " + json_list(summary.unaudited_lines, json_of) +
                           ", \"triples\": ";
  return text + json_list(summary.triples, [](const Violation& each) { return to_json(each); }) +
         "}\n";
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
