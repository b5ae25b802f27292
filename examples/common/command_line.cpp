// SPDX-License-Identifier: BSL-1.0
#include "command_line.hpp"

#include "failure.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>
#include <vector>

namespace examples {

namespace po = boost::program_options;

using Texts = std::vector<std::string>;

namespace {

/// What is wrong. Boost 1.74 never ends replacing the placeholders of its texts, such as %option%, where
/// an argument is written like one.
std::string text_of(const po::error& error, int argc, const char* const* argv) {
  const bool is_placeholder = std::any_of(
      argv + 1, argv + argc, [](std::string_view text) { return text.find('%') != text.npos; });
  return is_placeholder ? "an argument with a % in it is not understood" : error.what();
}

}  // namespace

po::variables_map parse_command_line(int argc, const char* const* argv,
                                     const po::options_description& options, const char* alone) {
  try {
    po::variables_map given;
    constexpr auto style = po::command_line_style::unix_style &
                           ~static_cast<int>(po::command_line_style::allow_guessing);
    po::options_description all;
    all.add(options);
    // What may not stand alone is an error by a list of positions that has not so many.
    po::positional_options_description positions;
    if (alone != nullptr) {
      all.add_options()(alone, po::value<std::string>());
      positions.add(alone, 1);
    }
    po::store(
        po::command_line_parser(argc, argv).options(all).positional(positions).style(style).run(),
        given);
    po::notify(given);
    return given;
  } catch (const po::error& error) {
    throw UsageError("Wrong usage: " + text_of(error, argc, argv) + ".");
  }
}

std::uint64_t number(const std::string& name, const std::string& given, std::uint64_t least,
                     std::uint64_t most) {
  std::uint64_t value = 0;
  const char* end = given.data() + given.size();
  const auto [stopped, error] = std::from_chars(given.data(), end, value);
  if (error != std::errc() || stopped != end || value < least || value > most) {
    throw UsageError("--" + name + " takes a whole number from " + std::to_string(least) + " to " +
                     std::to_string(most) + ", not '" + given + "'.");
  }
  return value;
}

void add_json_option(po::options_description& options) {
  options.add_options()("json",
                        po::value<Texts>()->zero_tokens()->multitoken()->value_name("[FILE]"),
                        "write all figures as JSON, to FILE or instead of the table");
}

JsonOption json_option(const po::variables_map& given) {
  if (given.count("json") == 0) {
    return {};
  }
  const auto& files = given["json"].as<Texts>();
  if (files.size() > 1) {
    throw UsageError("--json takes one file, not also '" + files[1] + "'.");
  }
  return {true, files.empty() ? "" : files.front()};
}

}  // namespace examples
