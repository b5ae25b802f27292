// SPDX-License-Identifier: BSL-1.0
#include "arguments.hpp"

#include "failure.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

namespace examples {

Arguments::Arguments(int argc, const char* const* argv, const std::vector<Option>& options) {
  std::map<std::string, bool> takes_value{{"help", false}, {"json", false}};
  texts_ = {{"json", ""}};
  for (const Option& option : options) {
    takes_value[option.name] = option.default_value != nullptr;
    texts_[option.name] = option.default_value == nullptr ? "" : option.default_value;
  }
  for (int at = 1; at < argc; ++at) {
    const std::string text = argv[at];
    if (!text.starts_with("--")) {
      throw UsageError("Unexpected argument '" + text + "'.");
    }
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(2, equals == text.npos ? text.npos : equals - 2);
    const auto known = takes_value.find(name);
    if (known == takes_value.end()) {
      throw UsageError("Unknown option --" + name + ".");
    }
    given_[name] = true;
    const bool may_have_value = known->second || name == "json";
    if (equals != text.npos) {
      if (!may_have_value) {
        throw UsageError("--" + name + " takes no value.");
      }
      texts_[name] = text.substr(equals + 1);
    } else if (may_have_value && at + 1 < argc &&
               !std::string_view(argv[at + 1]).starts_with("--")) {
      texts_[name] = argv[++at];
    } else if (known->second) {
      throw UsageError("--" + name + " takes a value.");
    }
  }
}

std::uint64_t Arguments::number(const std::string& name, std::uint64_t least,
                                std::uint64_t most) const {
  const std::string& given = text(name);
  std::uint64_t value = 0;
  const char* const end = given.data() + given.size();
  const auto [stopped, error] = std::from_chars(given.data(), end, value);
  if (error != std::errc() || stopped != end || value < least || value > most) {
    throw UsageError("--" + name + " takes a whole number from " + std::to_string(least) + " to " +
                     std::to_string(most) + ", not '" + given + "'.");
  }
  return value;
}

std::size_t Arguments::choice(const std::string& name,
                              const std::vector<std::string>& choices) const {
  const auto found = std::ranges::find(choices, text(name));
  if (found == choices.end()) {
    std::string all;
    for (const std::string& each : choices) {
      all += (all.empty() ? "" : ", ") + each;
    }
    throw UsageError("--" + name + " takes one of " + all + ", not '" + text(name) + "'.");
  }
  return static_cast<std::size_t>(found - choices.begin());
}

}  // namespace examples
