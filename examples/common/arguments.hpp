// SPDX-License-Identifier: BSL-1.0
/// The command line of an example: `--name VALUE` or `--name=VALUE`, and flags. Every program has --help and --json
/// [FILE]. Each error is a UsageError that names the allowed values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace examples {

struct Option {
  const char* name;
  const char*
      usual;  ///< the value if the option is not given; nullptr: a flag, which takes no value
  const char* help;
};

class Arguments {
 public:
  Arguments(int argc, const char* const* argv, const std::vector<Option>& options);

  /// True if the option is on the command line.
  bool has(const std::string& name) const { return given_.contains(name); }
  /// The value that is given, else the usual one.
  const std::string& text(const std::string& name) const { return texts_.at(name); }
  std::uint64_t number(const std::string& name, std::uint64_t least, std::uint64_t most) const;
  /// Which of `choices` is given, as an index.
  std::size_t choice(const std::string& name, const std::vector<std::string>& choices) const;

 private:
  std::map<std::string, std::string> texts_;
  std::map<std::string, bool> given_;
};

}  // namespace examples
