// SPDX-License-Identifier: BSL-1.0
/// Command lines of programs that test or measure, parsed strictly. An error is a UsageError that says what is right,
/// and exit status 2.
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

/// What was given on a command line. Options are named without their dashes.
class GivenOptions {
 public:
  bool has(const std::string& name) const { return texts_.count(name) != 0; }
  /// The option that chose what is done; empty if none did.
  const std::string& mode() const noexcept { return mode_; }

  /// Of an option that may be given several times, or none.
  std::vector<std::string> texts(const std::string& name) const;
  /// The value that was given for `name`, if any.
  std::optional<std::string> text(const std::string& name) const;
  /// A whole number. Throws UsageError.
  std::optional<std::uint64_t> number(
      const std::string& name, std::uint64_t least = 0,
      std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const;

 private:
  friend class CommandLine;

  std::map<std::string, std::vector<std::string>> texts_;
  std::string mode_;
};

/// The options that a program takes, each by "--name value" or "--name=value"; --help also by "-h".
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
  /// What stands without an option is taken as values of `name`; else it is an error.
  CommandLine& operands(const std::string& name) { return add(name, Takes::operands, "", ""); }
  /// With `option`, or "" for none of these, the program does one thing, to which only `uses` matter.
  /// Where there are modes, an option that does not matter is an error.
  CommandLine& mode(const std::string& option, std::set<std::string> uses);

  /// Throws UsageError.
  GivenOptions parse(int argc, const char* const* argv) const;
  /// All options, a paragraph each.
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

/// What a whole number says. `name` is what takes it, as "--threads". Throws UsageError.
std::uint64_t parse_number(const std::string& name, const std::string& text, std::uint64_t least,
                           std::uint64_t most);

/// Runs the body of a main(). A UsageError ends in 2, another exception in 1, and so does standard output that
/// did not take all; they are told on standard error.
int run_main(const char* program, const std::function<int()>& body) noexcept;

}  // namespace byre::test
