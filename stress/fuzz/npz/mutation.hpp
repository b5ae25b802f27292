// SPDX-License-Identifier: BSL-1.0
/// Changes of zip archives that know the format: numbers of its records become others that matter, so that what is
/// wrong is not only what a reader sees first.
#pragma once

#include <string>

#include "../target.hpp"

namespace byre::fuzz {

/// Changes the bytes of an archive once, as the input says.
void mutate_archive(std::string& archive, Choices& input);

}  // namespace byre::fuzz
