// SPDX-License-Identifier: BSL-1.0
/// Format-aware mutations of zip archives. They change numbers in records to other significant
/// values, so that errors occur also in places that a reader checks late.
#pragma once

#include <string>

#include "../target.hpp"

namespace byre::fuzz {

/// Applies one mutation, which the input chooses, to the archive.
void mutate_archive(std::string& archive, Choices& input);

}  // namespace byre::fuzz
