// SPDX-License-Identifier: BSL-1.0
/// What an error says.
#pragma once

#include <byre/error/error.hpp>

#include <string>

namespace byre::test {

/// What was said by the Expected that `action` threw.
template <class Expected, class Action>
std::string complaint_of(Action&& action) {
  try {
    action();
  } catch (const Expected& error) {
    return error.what();
  } catch (const Error& error) {
    return std::string("another type of error: ") + error.what();
  }
  return "nothing was thrown";
}

}  // namespace byre::test
