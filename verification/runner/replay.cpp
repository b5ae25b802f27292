// SPDX-License-Identifier: BSL-1.0
#include <array>
#include <sstream>

#include "job.hpp"

namespace byre::verification {
namespace {

constexpr std::string_view digits = "0123456789abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kinds = "tlcmu";  // thread, load, compare-exchange, memory, user

UsageError malformed(const std::string& why) {
  return UsageError("malformed replay string: " + why +
                    "; give all that a failing run prints after --replay, in quotes");
}

}  // namespace

std::string replay_string(const Job& job, const Found& found) {
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
    throw malformed("it is scenario/mutant/bound/state, and not '" + text + "'");
  }
  return parts;
}

std::string unpacked_state(const std::string& text) {
  if (text.size() % 3 != 0) {
    throw malformed("its state is cut off");
  }
  std::ostringstream out;
  out << 1 << ' ' << text.size() / 3;
  for (std::size_t at = 0; at < text.size(); at += 3) {
    const std::size_t ways = digits.find(text[at]);
    const std::size_t taken = digits.find(text[at + 1]);
    const std::size_t kind = kinds.find(text[at + 2]);
    if (ways >= digits.size() || taken >= ways || kind >= kinds.size()) {
      throw malformed("'" + text.substr(at, 3) + "' in its state is no choice");
    }
    out << ' ' << ways << ' ' << taken << ' ' << kind;
  }
  return out.str() + ' ';
}

}  // namespace byre::verification
