// SPDX-License-Identifier: BSL-1.0
/// Reads programs.
#pragma once

#include "script.hpp"

namespace examples::functionalize {

/// Throws byre::functional::SyntaxError, which points at the place.
Script parse(Source source);

}  // namespace examples::functionalize
