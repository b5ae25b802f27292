// SPDX-License-Identifier: BSL-1.0
#include "fault.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "../mixed/sizes.hpp"
#include "../parsing.hpp"

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

/// A fault as it is written, "allocation=0.1".
void take_part(std::string_view name, std::string_view value, std::string_view part,
               FaultRates& rates) {
  const auto count = parse_number<std::uint64_t>(value);
  const auto chance = parse_number<double>(value);
  const auto found = std::ranges::find(chances, name, &Rate::name);
  if (name == budget && !value.empty()) {
    rates.budget_nbytes = parse_nbytes(value);
  } else if (name == allocation_at && count.value_or(0) != 0) {
    rates.allocation_at = *count;
  } else if (found != std::end(chances) && chance && *chance >= 0 && *chance <= 1) {
    rates.*found->rate = *chance;
  } else {
    throw std::invalid_argument(
        "faults are none, usual, or parts such as allocation=0.1 (also random, copy, heap and "
        "sink, "
        "each a chance from 0 to 1), budget=64M and allocation_at=7, not '" +
        std::string(part) + "'");
  }
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
  for_each_part(text,
                [&](auto name, auto value, auto part) { take_part(name, value, part, rates); });
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
      text << (text.tellp() == 0 ? "" : ",") << chance.name << '='
           << shortest_text(rates.*chance.rate);
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
