// SPDX-License-Identifier: BSL-1.0
/// Prints what each operation of a protocol does from each small state, step by step, with the code that
/// ships: a line per operation, interference and state. protocol_steps.py prints the same of the proofs'
/// transitions. Each answers how many sites no operation reached.
#pragma once

#include <string>

#include "../../recording.hpp"
#include "../../step_of.hpp"

namespace byre::verification {

unsigned print_ref_count_steps();
unsigned print_bucket_steps();  ///< of the parking lot and the table of locks

/// The words of a line.
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
