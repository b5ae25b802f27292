// SPDX-License-Identifier: BSL-1.0
/// Format-aware mutations of zip archives: they change numbers in records to other significant
/// values, so that errors also occur beyond the first thing that a reader checks.
#pragma once

#include <string>

#include "../target.hpp"

namespace byre::fuzz {

/// Applies one mutation to the archive, chosen by the input.
void mutate_archive(std::string& archive, Choices& input);

}  // namespace byre::fuzz
