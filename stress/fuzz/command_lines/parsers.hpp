// SPDX-License-Identifier: BSL-1.0
/// The command lines' parsers, one function each: it takes an argument vector or refuses it with
/// the parser's own error, of which it answers the text. What else is thrown comes out of it.
#pragma once

#include <optional>
#include <string>

namespace byre::fuzz {

/// What the user is told; nothing if the arguments are taken.
using Refusal = std::optional<std::string>;

Refusal parse_for_live_checkpoint(int argc, const char* const* argv);
Refusal parse_for_weights_overlay(int argc, const char* const* argv);
Refusal parse_for_reshape_audit(int argc, const char* const* argv);
Refusal parse_for_byre_verify(int argc, const char* const* argv);
Refusal parse_for_byre_stress(int argc, const char* const* argv);

}  // namespace byre::fuzz
