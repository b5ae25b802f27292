// SPDX-License-Identifier: BSL-1.0
#include "told.hpp"

#include <algorithm>
#include <set>

namespace byre::test {
namespace {

Triples::key_type triple(const Told& told) {
  return {told.reshape, told.write, told.access};
}

std::string to_string(const Told& told) {
  return " [" + std::to_string(told.reshape) + " reshaped, " + std::to_string(told.write) +
         " written, " + std::to_string(told.access) +
         (told.access_writes ? " then written: " : " then read: ") + to_string(told.advice) +
         (told.is_error ? ", an error" : "") + ", " + std::to_string(told.unaudited) +
         " unaudited]";
}

}  // namespace

Told told_by(const shadow::Violation& violation) {
  return {violation.reshape.site.line, violation.write.site.line, violation.access.site.line,
          violation.access_writes,     violation.advice,          violation.unaudited,
          violation.is_error()};
}

Triples triples_of(const std::vector<shadow::Violation>& summary) {
  Triples triples;
  for (const shadow::Violation& violation : summary) {
    const Told told = told_by(violation);
    triples.emplace(triple(told), std::pair(told, violation.count));
  }
  return triples;
}

Tellings tellings_of(const Tellings& all) {
  Tellings tellings;
  std::set<Triples::key_type> met;
  for (const Telling& each : all) {
    if (each.told.is_error || met.insert(triple(each.told)).second) {
      tellings.push_back(each);
    }
  }
  return tellings;
}

Triples triples_of(const Tellings& all) {
  Triples triples;
  for (const Telling& each : all) {
    auto& [first, count] =
        triples.emplace(triple(each.told), std::pair(each.told, std::uint64_t{0})).first->second;
    first.unaudited = std::max(first.unaudited, each.told.unaudited);
    ++count;
  }
  return triples;
}

std::string to_string(const Tellings& tellings) {
  std::string text;
  for (const Telling& each : tellings) {
    text += " at " + std::to_string(each.number) + to_string(each.told);
  }
  return text.empty() ? " nothing" : text;
}

std::string to_string(const Triples& triples) {
  std::string text;
  for (const auto& [lines, entry] : triples) {
    text += to_string(entry.first) + " " + std::to_string(entry.second) + " times";
  }
  return text.empty() ? " nothing" : text;
}

}  // namespace byre::test
