// SPDX-License-Identifier: BSL-1.0
#include "vocabulary.hpp"

#include "failure.hpp"

#include <limits>

namespace examples::live_checkpoint {

std::uint32_t Vocabulary::number_of(std::string_view word) {
  const auto found = numbers_.find(word);
  if (found != numbers_.end()) {
    return found->second;
  }
  if (words_.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw Failure("The text has more than 2^32 different words. Give less with --text.");
  }
  const auto number = static_cast<std::uint32_t>(words_.size());
  words_.emplace_back(word);
  numbers_.emplace(words_.back(), number);
  return number;
}

}  // namespace examples::live_checkpoint
