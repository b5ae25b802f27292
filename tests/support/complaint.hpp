// SPDX-License-Identifier: BSL-1.0
/// What an error says.
#pragma once

#include <byre/error/error.hpp>

#include <gtest/gtest.h>
#include <string>
#include <string_view>

namespace byre::test {

/// Whether a sentence ends in two full stops, as one does that quotes another.
inline bool has_doubled_stop(std::string_view text) {
  for (std::size_t at = text.find(".. "); at != text.npos; at = text.find(".. ", at + 1)) {
    if (at == 0 || text[at - 1] != '.') {
      return true;
    }
  }
  return false;
}

/// What was said by the Expected that `action` threw.
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

/// Whether a text has all of `parts`.
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
