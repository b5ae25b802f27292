// SPDX-License-Identifier: BSL-1.0
/// What people are told of a violation, and when: of what really ran, and as it should be.
#pragma once

#include <byre/shadow/report.hpp>

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace byre::test {

/// A violation, but for sizes and how often.
struct Told {
  std::uint32_t reshape = 0;  ///< a line, as the other two
  std::uint32_t write = 0;
  std::uint32_t access = 0;
  bool access_writes = false;
  shadow::Advice advice{};
  std::uint64_t unaudited = 0;
  bool is_error = false;

  friend auto operator<=>(const Told&, const Told&) = default;
};

/// To a handler, or by what was thrown.
struct Telling {
  std::uint32_t number = 0;  ///< of the statement
  Told told{};

  friend bool operator==(const Telling&, const Telling&) = default;
};
using Tellings = std::vector<Telling>;

/// Of each triple the first, but with the most lines that were unaudited, and how often.
using Triples = std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>,
                         std::pair<Told, std::uint64_t>>;

Told told_by(const shadow::Violation& violation);
Triples triples_of(const std::vector<shadow::Violation>& summary);

/// Of everything that happened, who is told of what: of errors each, else of each triple the first.
Tellings tellings_of(const Tellings& all);
Triples triples_of(const Tellings& all);

std::string to_string(const Tellings& tellings);
std::string to_string(const Triples& triples);

}  // namespace byre::test
