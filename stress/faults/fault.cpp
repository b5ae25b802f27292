// SPDX-License-Identifier: BSL-1.0
#include "fault.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <stdexcept>

#include "../mixed/sizes.hpp"

namespace byre::stress {
namespace {

constexpr std::array<std::string_view, fault_count> fault_names{
    "allocation", "random", "budget", "copy", "heap", "sink", "truncation"};

struct Rate {
  std::string_view name;
  double FaultRates::*rate;
};
constexpr Rate chances[] = {{"allocation", &FaultRates::allocation},
                            {"random", &FaultRates::random},
                            {"copy", &FaultRates::copy},
                            {"heap", &FaultRates::heap},
                            {"sink", &FaultRates::sink}};
constexpr std::string_view budget = "budget";
constexpr std::string_view allocation_at = "allocation_at";

[[noreturn]] void refuse(std::string_view part) {
  throw std::invalid_argument(
      "faults are none, usual, or parts such as allocation=0.1 (also random, copy, heap and sink, "
      "each a chance from 0 to 1), budget=64M and allocation_at=7, not '" +
      std::string(part) + "'");
}

double chance_in(std::string_view text, std::string_view part) {
  double chance = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, chance);
  if (error != std::errc() || stopped != end || !(chance >= 0 && chance <= 1)) {
    refuse(part);
  }
  return chance;
}

std::uint64_t count_in(std::string_view text, std::string_view part) {
  std::uint64_t count = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc() || stopped != end || count == 0) {
    refuse(part);
  }
  return count;
}

/// What chance_in reads as the same.
std::string shortest(double chance) {
  std::array<char, 32> digits;
  const auto written = std::to_chars(digits.begin(), digits.end(), chance);
  return {digits.begin(), written.ptr};
}

void parse_part(std::string_view part, FaultRates& rates) {
  const std::size_t equals = part.find('=');
  if (equals == part.npos) {
    refuse(part);
  }
  const std::string_view name = part.substr(0, equals);
  const std::string_view value = part.substr(equals + 1);
  if (name == budget) {
    rates.budget_nbytes = parse_nbytes(value);
    return;
  }
  if (name == allocation_at) {
    rates.allocation_at = count_in(value, part);
    return;
  }
  const auto found = std::ranges::find(chances, name, &Rate::name);
  if (found == std::end(chances)) {
    refuse(part);
  }
  rates.*found->rate = chance_in(value, part);
}

}  // namespace

std::string_view name_of(Fault fault) noexcept {
  return fault_names[static_cast<std::size_t>(fault)];
}

FaultRates parse_faults(std::string_view text) {
  if (text == "none") {
    return {};
  }
  if (text == "usual") {
    return usual_faults;
  }
  FaultRates rates;
  std::string_view rest = text;
  do {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    parse_part(part, rates);
  } while (!rest.empty());
  if (rates.allocation + rates.copy + rates.heap > 1) {
    throw std::invalid_argument(
        "an operation has one fault at most: allocation, copy and heap are at most 1 together");
  }
  return rates;
}

std::string text_of(const FaultRates& rates) {
  std::ostringstream text;
  for (const Rate& chance : chances) {
    if (rates.*chance.rate != 0) {
      text << (text.tellp() == 0 ? "" : ",") << chance.name << '=' << shortest(rates.*chance.rate);
    }
  }
  if (rates.budget_nbytes != 0) {
    text << (text.tellp() == 0 ? "" : ",") << budget << '=' << text_of_nbytes(rates.budget_nbytes);
  }
  if (rates.allocation_at != 0) {
    text << (text.tellp() == 0 ? "" : ",") << allocation_at << '=' << rates.allocation_at;
  }
  return text.tellp() == 0 ? "none" : text.str();
}

}  // namespace byre::stress
