// SPDX-License-Identifier: BSL-1.0
#include "command_line.hpp"

#include <algorithm>
#include <boost/program_options.hpp>
#include <boost/thread/exceptions.hpp>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace byre::test {

namespace po = boost::program_options;
using Texts = std::vector<std::string>;

namespace {

/// What is wrong. Boost 1.74 never ends replacing the placeholders of its texts, such as %option%, where
/// an argument is written like one.
std::string explained(const po::error& error, int argc, const char* const* argv) {
  const bool is_placeholder = std::any_of(
      argv + 1, argv + argc, [](std::string_view text) { return text.find('%') != text.npos; });
  return is_placeholder ? "an argument with a % in it is not understood" : error.what();
}

}  // namespace

struct CommandLine::Parts {
  po::options_description options{"Options", 96, 60};
  po::options_description hidden;
  po::positional_options_description positions;
  std::set<std::string> repeatable;
  std::map<std::string, std::set<std::string>> modes;
};

std::set<std::string> GivenOptions::names() const {
  std::set<std::string> names;
  for (const auto& [name, texts] : texts_) {
    names.insert(name);
  }
  return names;
}

std::vector<std::string> GivenOptions::texts(const std::string& name) const {
  const auto found = texts_.find(name);
  return found == texts_.end() ? Texts() : found->second;
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

void GivenOptions::if_given(const std::string& name,
                            const std::function<void(const std::string&)>& take) const {
  const auto given = text(name);
  try {
    if (given) {
      take(*given);
    }
  } catch (const std::invalid_argument& error) {
    throw UsageError("--" + name + ": " + error.what());
  }
}

CommandLine::CommandLine() : parts_(std::make_unique<Parts>()) {}
CommandLine::~CommandLine() = default;
CommandLine::CommandLine(CommandLine&&) noexcept = default;
CommandLine& CommandLine::operator=(CommandLine&&) noexcept = default;

CommandLine& CommandLine::flag(const std::string& name, const char* help) {
  parts_->options.add_options()(name.c_str(), po::value<Texts>()->zero_tokens(), help);
  return *this;
}

CommandLine& CommandLine::value(const std::string& name, const char* value_name, const char* help) {
  parts_->options.add_options()(name.c_str(), po::value<std::string>()->value_name(value_name),
                                help);
  return *this;
}

CommandLine& CommandLine::values(const std::string& name, const char* value_name,
                                 const char* help) {
  parts_->options.add_options()(name.c_str(),
                                po::value<Texts>()->composing()->value_name(value_name), help);
  parts_->repeatable.insert(name);
  return *this;
}

CommandLine& CommandLine::optional_value(const std::string& name, const char* value_name,
                                         const char* help) {
  parts_->options.add_options()(
      name.c_str(), po::value<Texts>()->zero_tokens()->multitoken()->value_name(value_name), help);
  return *this;
}

CommandLine& CommandLine::operands(const std::string& name) {
  parts_->hidden.add_options()(name.c_str(), po::value<Texts>());
  parts_->positions.add(name.c_str(), -1);
  parts_->repeatable.insert(name);
  return *this;
}

CommandLine& CommandLine::mode(const std::string& option, std::set<std::string> uses) {
  parts_->modes[option] = std::move(uses);
  return *this;
}

GivenOptions CommandLine::parse(int argc, const char* const* argv) const {
  constexpr auto style = po::command_line_style::unix_style &
                         ~static_cast<int>(po::command_line_style::allow_guessing);
  GivenOptions given;
  try {
    po::options_description all;
    all.add(parts_->options).add(parts_->hidden);
    po::variables_map map;
    po::store(po::command_line_parser(argc, argv)
                  .options(all)
                  .positional(parts_->positions)
                  .style(style)
                  .run(),
              map);
    for (const auto& [name, value] : map) {
      const auto* const one = boost::any_cast<std::string>(&value.value());
      const Texts& texts = given.texts_[name] = one != nullptr ? Texts{*one} : value.as<Texts>();
      if (texts.size() > 1 && parts_->repeatable.count(name) == 0) {
        throw UsageError("--" + name + " takes one value, not also '" + texts[1] + "'");
      }
    }
  } catch (const po::error& error) {
    throw UsageError(explained(error, argc, argv));
  }
  choose_mode(given);
  return given;
}

void CommandLine::choose_mode(GivenOptions& given) const {
  const auto& modes = parts_->modes;
  for (const auto& [name, texts] : given.texts_) {
    if (modes.count(name) != 0 && !given.mode_.empty()) {
      throw UsageError("either --" + given.mode_ + " or --" + name + ", not both");
    }
    given.mode_ = modes.count(name) != 0 ? name : given.mode_;
  }
  const auto chosen = modes.find(given.mode_);
  for (const auto& [name, texts] : given.texts_) {
    if (chosen == modes.end() || name == given.mode_ || chosen->second.count(name) != 0) {
      continue;
    }
    if (!given.mode_.empty()) {
      throw UsageError("--" + given.mode_ + " does not take --" + name);
    }
    std::string users;
    for (const auto& [option, uses] : modes) {
      if (uses.count(name) != 0) {
        users += (users.empty() ? "--" : " or --") + option;
      }
    }
    throw UsageError("--" + name + " goes with " + users);
  }
}

std::string CommandLine::help() const {
  std::ostringstream text;
  text << parts_->options;
  return text.str();
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

int complain(const char* program, std::string_view text) {
  std::fprintf(stderr, "%s: %.*s%s\n", program, static_cast<int>(text.size()), text.data(),
               text.ends_with('.') ? "" : ".");
  return 1;
}

constexpr const char* no_thread =
    "no thread could be started. Use fewer, or raise the limits: ulimit -u -v -s.";

}  // namespace

int run_main(const char* program, const std::function<int()>& body) noexcept {
  // What is beyond a limit on the sizes of files, or is read by nobody, is an error, not a signal.
  for (const int signal : {SIGXFSZ, SIGPIPE}) {
    std::signal(signal, SIG_IGN);
  }
  try {
    const int code = body();
    const bool is_printed =
        std::cout.flush() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    return is_printed ? code : complain(program, "cannot write to standard output");
  } catch (const UsageError& error) {
    std::fprintf(stderr, "%s: %s.\nSee %s --help.\n", program, error.what(), program);
    return 2;
  } catch (const boost::thread_resource_error&) {
    return complain(program, no_thread);
  } catch (const std::system_error& error) {
    const bool is_of_thread = error.code() == std::errc::resource_unavailable_try_again;
    return complain(program, is_of_thread ? no_thread : error.what());
  } catch (const std::exception& error) {
    return complain(program, error.what());
  }
}

}  // namespace byre::test
