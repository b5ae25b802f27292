// SPDX-License-Identifier: BSL-1.0
/// Command lines: any argument vector is either taken or refused by the parser's own error, with a
/// text. The input's first byte chooses the parser, and every further line is an argument.
#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include "../input.hpp"
#include "../target.hpp"
#include "parsers.hpp"

namespace byre::fuzz {
namespace {

struct Program {
  const char* name;
  Refusal (*parse)(int argc, const char* const* argv);
};

constexpr Program programs[] = {
    {"live_checkpoint", &parse_for_live_checkpoint},
    {"byre-verify", &parse_for_byre_verify},
    {"byre-stress", &parse_for_byre_stress},
    {"weights_overlay", &parse_for_weights_overlay},
    {"reshape_audit", &parse_for_reshape_audit},
};

/// The lines, up to a 0 each, where an argument ends for C.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.emplace_back(text.substr(at, end - at));
    lines.back().resize(std::min(lines.back().find('\0'), lines.back().size()));
    at = end + 1;
  }
  return lines;
}

void run(const Program& program, const std::vector<std::string>& lines) {
  std::vector<const char*> arguments{program.name};
  for (const std::string& line : lines) {
    arguments.push_back(line.c_str());
  }
  const int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  try {
    const Refusal refusal = program.parse(count, arguments.data());
    trace("%s: %s", program.name, refusal ? refusal->c_str() : "taken");
    if (refusal && refusal->empty()) {
      fail("%s refuses without a text", program.name);
    }
  } catch (const std::exception& error) {
    fail("the parser of %s lets another error out: %s", program.name, error.what());
  }
}

}  // namespace

const char* const target_name = "command_lines";

}  // namespace byre::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t nbytes) {
  using namespace byre::fuzz;
  Input input(bytes, nbytes);
  const Program& program = programs[input.below(std::size(programs))];
  run(program, lines_of(input.rest()));
  return 0;
}
