// SPDX-License-Identifier: BSL-1.0
/// The command line of an example: options `--name VALUE` or `--name=VALUE`, and flags. Every
/// program has --help and --json [FILE]. All errors are UsageErrors that list the allowed values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace examples {

struct Option {
  const char* name;
  /// The value if the option is not on the command line; nullptr for a flag, which takes no value.
  const char* default_value;
  const char* help;
};

class Arguments {
 public:
  Arguments(int argc, const char* const* argv, const std::vector<Option>& options);

  /// True if the option is on the command line.
  bool has(const std::string& name) const { return given_.contains(name); }
  /// The given value, or the default.
  const std::string& text(const std::string& name) const { return texts_.at(name); }
  /// The value as a number. Throws UsageError if it is not in [`least`, `most`].
  std::uint64_t number(const std::string& name, std::uint64_t least, std::uint64_t most) const;
  /// The index of the value in `choices`. Throws UsageError if `choices` lacks the value.
  std::size_t choice(const std::string& name, const std::vector<std::string>& choices) const;

 private:
  std::map<std::string, std::string> texts_;
  std::map<std::string, bool> given_;
};

}  // namespace examples
