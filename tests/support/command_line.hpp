// SPDX-License-Identifier: BSL-1.0
/// CommandLine: a strict parser of the command lines of test programs and benchmarks. An invalid
/// command line is a UsageError, whose text states the allowed arguments; run_main() then exits
/// with status 2.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace byre::test {

struct UsageError : std::runtime_error {
  using runtime_error::runtime_error;
};

/// The options and values that a command line contains. Names of options omit the dashes.
class GivenOptions {
 public:
  bool has(const std::string& name) const { return texts_.count(name) != 0; }
  /// The option that selected the mode; empty if none did.
  const std::string& mode() const noexcept { return mode_; }

  /// All values of an option.
  std::vector<std::string> texts(const std::string& name) const;
  /// The first value of an option, if it was given.
  std::optional<std::string> text(const std::string& name) const;
  /// The first value of an option as a whole number, if the option was given. Throws UsageError if
  /// the value is not a whole number from `least` to `most`.
  std::optional<std::uint64_t> number(
      const std::string& name, std::uint64_t least = 0,
      std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const;

 private:
  friend class CommandLine;

  std::map<std::string, std::vector<std::string>> texts_;
  std::string mode_;
};

/// The options of a program. A value follows as "--name value" or "--name=value". "-h" is short for
/// "--help".
class CommandLine {
 public:
  CommandLine& flag(const std::string& name, const char* help) {
    return add(name, Takes::nothing, "", help);
  }
  CommandLine& value(const std::string& name, const char* value_name, const char* help) {
    return add(name, Takes::one, value_name, help);
  }
  /// May be given several times.
  CommandLine& values(const std::string& name, const char* value_name, const char* help) {
    return add(name, Takes::several, value_name, help);
  }
  /// Declares that operands (arguments that belong to no option) are values of `name`. Without this
  /// declaration, operands are errors.
  CommandLine& operands(const std::string& name) { return add(name, Takes::operands, "", ""); }
  /// Declares that `option` selects a mode of the program, in which only the options `uses` have an
  /// effect. The mode "" applies if no such option is given. If modes are declared, an option that
  /// has no effect in the selected mode is an error.
  CommandLine& mode(const std::string& option, std::set<std::string> uses);

  /// Throws UsageError if the command line is invalid.
  GivenOptions parse(int argc, const char* const* argv) const;
  /// Describes each option in a paragraph.
  std::string help() const;

 private:
  enum class Takes : std::uint8_t { nothing, one, several, operands };
  struct Option {
    std::string name;
    Takes takes;
    const char* value_name;
    const char* help;
  };

  CommandLine& add(const std::string& name, Takes takes, const char* value_name, const char* help);
  const Option& option_of(const std::string& argument) const;
  void choose_mode(GivenOptions& given) const;

  std::vector<Option> options_;
  std::map<std::string, std::set<std::string>> modes_;
};

/// Parses a whole number. `name` is the option, such as "--threads", for the error text. Throws
/// UsageError if `text` is not a whole number from `least` to `most`.
std::uint64_t parse_number(const std::string& name, const std::string& text, std::uint64_t least,
                           std::uint64_t most);

/// Runs the body of a main() and returns the exit status: 2 after a UsageError, 1 after another
/// exception or if standard output could not be written, otherwise the result of `body`. Errors are
/// written to standard error.
int run_main(const char* program, const std::function<int()>& body) noexcept;

}  // namespace byre::test
