// SPDX-License-Identifier: BSL-1.0
#include "replay.hpp"

#include <array>
#include <sstream>

namespace byre::verification {
namespace {

constexpr std::string_view digits = "0123456789abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kinds = "tlcmu";  // thread, load, compare-exchange, memory, user

UsageError malformed(const std::string& why) {
  return UsageError("malformed replay string: " + why +
                    "; give all that a failing run prints after --replay, in quotes");
}

std::size_t place_of(char character, std::string_view among) {
  const std::size_t place = among.find(character);
  if (place == std::string_view::npos) {
    throw malformed(std::string("its state has a '") + character + "', where one of '" +
                    std::string(among) + "' is due");
  }
  return place;
}

std::string packed(const std::string& state) {
  std::istringstream in(state);
  std::uint64_t execution = 0;
  std::size_t depth = 0;
  in >> execution >> depth;
  std::string text;
  std::array<std::size_t, 3> choice{};
  while (in >> choice[0] >> choice[1] >> choice[2]) {
    text += {digits.at(choice[0]), digits.at(choice[1]), kinds.at(choice[2])};
  }
  return text;
}

}  // namespace

std::string replay_string(const Job& job, const Found& found) {
  return std::string(job.scenario->name) + '/' + job.mutation.name() + '/' +
         job.search.bound.name() + '/' + packed(found.state);
}

std::vector<std::string> parts_of_replay_string(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char character : text) {
    if (character == '/') {
      parts.emplace_back();
    } else {
      parts.back() += character;
    }
  }
  if (parts.size() != 4) {
    throw malformed("it is scenario/mutant/bound/state, and '" + text + "' has " +
                    std::to_string(parts.size()) + (parts.size() == 1 ? " part" : " parts"));
  }
  return parts;
}

std::string unpacked_state(const std::string& text) {
  if (text.empty() || text.size() % 3 != 0) {
    throw malformed("its state is cut off: choices of three characters each, and " +
                    std::to_string(text.size()) + " characters");
  }
  std::ostringstream out;
  out << 1 << ' ' << text.size() / 3;
  for (std::size_t at = 0; at < text.size(); at += 3) {
    const std::size_t ways = place_of(text[at], digits);
    const std::size_t taken = place_of(text[at + 1], digits);
    if (taken >= ways) {
      throw malformed("choice " + std::to_string(at / 3 + 1) + " of its state takes way " +
                      std::to_string(taken) + " of " + std::to_string(ways) + ", counted from 0");
    }
    out << ' ' << ways << ' ' << taken << ' ' << place_of(text[at + 2], kinds);
  }
  return out.str() + ' ';
}

}  // namespace byre::verification
