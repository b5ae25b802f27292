// SPDX-License-Identifier: BSL-1.0
/// Tests of error texts.
#pragma once

#include <byre/error/error.hpp>

#include <gtest/gtest.h>
#include <string>
#include <string_view>

namespace byre::test {

/// Whether a sentence ends in two full stops, as can happen if it quotes another text.
inline bool has_doubled_stop(std::string_view text) {
  for (std::size_t at = text.find(".. "); at != text.npos; at = text.find(".. ", at + 1)) {
    if (at == 0 || text[at - 1] != '.') {
      return true;
    }
  }
  return false;
}

/// The text of the `Expected` that `action` throws. If `action` throws another error, the result
/// starts with "another type of error". If it throws none, the result is "nothing was thrown".
template <class Expected = Error, class Action>
std::string complaint_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_FALSE(has_doubled_stop(error.what())) << error.what();
    const bool is_expected = dynamic_cast<const Expected*>(&error) != nullptr;
    return (is_expected ? "" : "another type of error: ") + std::string(error.what());
  }
  return "nothing was thrown";
}

/// Whether `text` contains all of `parts`.
template <class... Parts>
testing::AssertionResult says(const std::string& text, const Parts&... parts) {
  for (const std::string_view part : {std::string_view(parts)...}) {
    if (text.find(part) == std::string::npos) {
      return testing::AssertionFailure() << text << "\nlacks: " << part;
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace byre::test
