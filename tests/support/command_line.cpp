// SPDX-License-Identifier: BSL-1.0
#include "command_line.hpp"

#include <charconv>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string_view>
#include <system_error>
#include <utility>

namespace byre::test {

std::vector<std::string> GivenOptions::texts(const std::string& name) const {
  const auto found = texts_.find(name);
  return found == texts_.end() ? std::vector<std::string>() : found->second;
}

std::optional<std::string> GivenOptions::text(const std::string& name) const {
  const auto found = texts_.find(name);
  if (found == texts_.end()) {
    return std::nullopt;
  }
  return found->second.empty() ? "" : found->second.front();
}

std::optional<std::uint64_t> GivenOptions::number(const std::string& name, std::uint64_t least,
                                                  std::uint64_t most) const {
  const auto given = text(name);
  return given ? std::optional(parse_number("--" + name, *given, least, most)) : std::nullopt;
}

CommandLine& CommandLine::add(const std::string& name, Takes takes, const char* value_name,
                              const char* help) {
  options_.push_back({name, takes, value_name, help});
  return *this;
}

CommandLine& CommandLine::mode(const std::string& option, std::set<std::string> uses) {
  modes_[option] = std::move(uses);
  return *this;
}

const CommandLine::Option& CommandLine::option_of(const std::string& argument) const {
  for (const Option& option : options_) {
    if (option.takes == Takes::operands
            ? !argument.starts_with('-')
            : argument == "--" + option.name || (option.name == "help" && argument == "-h")) {
      return option;
    }
  }
  throw UsageError("unknown option '" + argument + "'");
}

GivenOptions CommandLine::parse(int argc, const char* const* argv) const {
  GivenOptions given;
  for (int at = 1; at < argc; ++at) {
    const std::string argument = argv[at];
    const std::size_t equals = argument.starts_with('-') ? argument.find('=') : argument.npos;
    const Option& option = option_of(argument.substr(0, equals));
    const bool is_value_next = at + 1 < argc && !std::string_view(argv[at + 1]).starts_with('-');
    std::optional<std::string> value;
    if (option.takes == Takes::operands) {
      value = argument;
    } else if (equals != argument.npos) {
      value = argument.substr(equals + 1);
    } else if (option.takes != Takes::nothing && is_value_next) {
      value = argv[++at];
    }
    if (value && option.takes == Takes::nothing) {
      throw UsageError("--" + option.name + " takes no value, not '" + *value + "'");
    }
    if (!value && option.takes != Takes::nothing) {
      throw UsageError("--" + option.name + " takes a value");
    }
    const auto [texts, is_first] = given.texts_.try_emplace(option.name);
    if (!is_first && option.takes != Takes::several && option.takes != Takes::operands) {
      throw UsageError("--" + option.name + " is given twice");
    }
    if (value) {
      texts->second.push_back(std::move(*value));
    }
  }
  choose_mode(given);
  return given;
}

void CommandLine::choose_mode(GivenOptions& given) const {
  for (const auto& [name, texts] : given.texts_) {
    if (modes_.count(name) != 0 && !given.mode_.empty()) {
      throw UsageError("either --" + given.mode_ + " or --" + name + ", not both");
    }
    given.mode_ = modes_.count(name) != 0 ? name : given.mode_;
  }
  const auto chosen = modes_.find(given.mode_);
  for (const auto& [name, texts] : given.texts_) {
    if (chosen == modes_.end() || name == given.mode_ || chosen->second.count(name) != 0) {
      continue;
    }
    if (!given.mode_.empty()) {
      throw UsageError("--" + given.mode_ + " does not take --" + name);
    }
    std::string users;
    for (const auto& [option, uses] : modes_) {
      if (uses.count(name) != 0) {
        users += (users.empty() ? "--" : " or --") + option;
      }
    }
    throw UsageError("--" + name + " requires " + users);
  }
}

std::string CommandLine::help() const {
  std::string text = "Options:\n";
  for (const Option& option : options_) {
    if (option.takes != Takes::operands) {
      text += (option.name == "help" ? "  -h, --" : "  --") + option.name +
              (*option.value_name == '\0' ? "" : " ") + option.value_name + "\n      " +
              option.help + '\n';
    }
  }
  return text;
}

std::uint64_t parse_number(const std::string& name, const std::string& text, std::uint64_t least,
                           std::uint64_t most) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end || value < least || value > most) {
    throw UsageError(name + " takes a whole number from " + std::to_string(least) + " to " +
                     std::to_string(most) + ", not '" + text + "'");
  }
  return value;
}

namespace {

int report_error(const char* program, std::string_view text) {
  std::fprintf(stderr, "%s: %.*s%s\n", program, static_cast<int>(text.size()), text.data(),
               text.ends_with('.') ? "" : ".");
  return 1;
}

constexpr const char* no_thread =
    "cannot start a thread. Use fewer threads, or raise the limits: ulimit -u -v -s.";

}  // namespace

int run_main(const char* program, const std::function<int()>& body) noexcept {
  // Exceeding the limit of file sizes, and writing to a pipe without a reader, are errors instead
  // of signals.
#if defined(SIGXFSZ) && defined(SIGPIPE)
  for (const int signal : {SIGXFSZ, SIGPIPE}) {
    std::signal(signal, SIG_IGN);
  }
#endif
  try {
    const int code = body();
    const bool is_printed =
        std::cout.flush() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    return is_printed ? code : report_error(program, "cannot write to standard output");
  } catch (const UsageError& error) {
    std::fprintf(stderr, "%s: %s.\nSee %s --help.\n", program, error.what(), program);
    return 2;
  } catch (const std::system_error& error) {
    const bool is_of_thread = error.code() == std::errc::resource_unavailable_try_again;
    return report_error(program, is_of_thread ? no_thread : error.what());
  } catch (const std::exception& error) {
    return report_error(program, error.what());
  }
}

}  // namespace byre::test
