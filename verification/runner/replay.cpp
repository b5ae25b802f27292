// SPDX-License-Identifier: BSL-1.0
/// Formats an execution as a replay string and as a trace, and parses replay strings.
#include <algorithm>
#include <array>
#include <cstdio>
#include <sstream>

#include "../relacy/trace.hpp"
#include "job.hpp"

namespace byre::verification {
namespace {

constexpr std::string_view digits = "0123456789abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kinds = "tlcmu";  // thread, load, compare-exchange, memory, user

UsageError malformed(const std::string& why) {
  return UsageError("malformed replay string: " + why +
                    ". Pass the whole string that a failing run prints after --replay, in quotes.");
}

/// E.g. "cow/share_word.hpp:120": the last folder, the file and the line.
std::string place(CallSite where) {
  std::string file = where.file;
  if (const std::size_t slash = file.rfind('/'); slash != std::string::npos && slash != 0) {
    const std::size_t before = file.rfind('/', slash - 1);
    file = file.substr(before == std::string::npos ? 0 : before + 1);
  }
  return file + ':' + std::to_string(where.line);
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

std::string step_text(const TraceEntry& entry) {
  return std::string(entry.object.data()) + ": " + entry.text.data();
}

}  // namespace

std::string replay_string(const Job& job, const SearchResult& found) {
  std::istringstream in(found.state);
  std::uint64_t execution = 0;
  std::size_t depth = 0;
  in >> execution >> depth;
  std::string choices;
  for (std::array<std::size_t, 3> choice{}; in >> choice[0] >> choice[1] >> choice[2];) {
    choices += {digits.at(choice[0]), digits.at(choice[1]), kinds.at(choice[2])};
  }
  return std::string(job.scenario->name) + '/' + job.mutation.name() + '/' +
         job.search.bound.name() + '/' + choices;
}

std::vector<std::string> parts_of_replay_string(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, '/');) {
    parts.push_back(part);
  }
  if (parts.size() != 4) {
    throw malformed("expected scenario/mutant/bound/state, got '" + text + "'");
  }
  return parts;
}

std::string unpacked_state(const std::string& text) {
  if (text.size() % 3 != 0) {
    throw malformed("the length of the state is " + std::to_string(text.size()) +
                    ", required a multiple of 3");
  }
  std::ostringstream out;
  out << 1 << ' ' << text.size() / 3;
  for (std::size_t at = 0; at < text.size(); at += 3) {
    const std::size_t ways = digits.find(text[at]);
    const std::size_t taken = digits.find(text[at + 1]);
    const std::size_t kind = kinds.find(text[at + 2]);
    if (ways >= digits.size() || taken >= ways || kind >= kinds.size()) {
      throw malformed("'" + text.substr(at, 3) + "' in the state is not a choice");
    }
    out << ' ' << ways << ' ' << taken << ' ' << kind;
  }
  return out.str() + ' ';
}

std::string trace_text(unsigned threads) {
  std::size_t column_width = 0;
  for (const TraceEntry& entry : trace) {
    column_width = std::max(column_width, step_text(entry).size() + 2);
  }
  std::string text = "  step  ";
  for (unsigned thread = 0; thread < threads; ++thread) {
    text += padded("thread " + std::to_string(thread), column_width);
  }
  text += "site\n";
  bool begun = false;
  unsigned number = 0;
  std::string last;
  for (const TraceEntry& entry : trace) {
    begun = begun || entry.thread != Trace::set_up;
    if (!begun) {
      continue;  // skip the set-up, which is equal in every execution
    }
    const bool is_after = entry.thread == Trace::set_up;
    std::string row(std::size_t{is_after ? 0 : entry.thread} * column_width, ' ');
    row += (is_after ? "afterwards: " : "") + step_text(entry) + "  ";
    row = padded(row, threads * column_width);
    if (entry.site != nullptr) {
      row += std::string(entry.site->name) + ", ";
    }
    row += place(entry.where);
    if (entry.site == nullptr && row == last) {
      continue;  // skip equal rows, which are accesses to several fields of an object
    }
    char label[16];
    std::snprintf(label, sizeof label, "  %4u  ", ++number);
    text += label + row + '\n';
    last = row;
  }
  return text;
}

}  // namespace byre::verification
