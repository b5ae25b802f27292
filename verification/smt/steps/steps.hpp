// SPDX-License-Identifier: BSL-1.0
/// Prints the steps that the shipped code takes in each operation of a protocol, from each small
/// state: one line for each operation, interference (the steps that other threads take meanwhile)
/// and state. protocol_steps.py compares these lines with the transitions of the proofs. Each
/// function returns the number of sites (named atomic steps) that no operation reached.
#pragma once

#include <string>

#include "../../recording.hpp"
#include "../../step_of.hpp"

namespace byre::verification {

unsigned print_atomic_slot_steps();
unsigned print_ref_count_steps();
unsigned print_bucket_steps();  ///< the steps of the parking lot and the table of locks

/// Joins words and numbers with spaces.
template <class... Words>
std::string words(const Words&... each) {
  std::string line;
  const auto add = [&line](const auto& word) {
    line += line.empty() ? "" : " ";
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(word)>>) {
      line += std::to_string(word);
    } else {
      line += word;
    }
  };
  (add(each), ...);
  return line;
}

}  // namespace byre::verification
