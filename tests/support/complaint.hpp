// SPDX-License-Identifier: BSL-1.0
/// What an error says.
#pragma once

#include <byre/error/error.hpp>

#include <string>

namespace byre::test {

/// What was said by the Expected that `action` threw.
template <class Expected = Error, class Action>
std::string complaint_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    const bool is_expected = dynamic_cast<const Expected*>(&error) != nullptr;
    return (is_expected ? "" : "another type of error: ") + std::string(error.what());
  }
  return "nothing was thrown";
}

}  // namespace byre::test
