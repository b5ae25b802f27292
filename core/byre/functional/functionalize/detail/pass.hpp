// SPDX-License-Identifier: BSL-1.0
/// The pass: a fallback for the key functionalize, driven by the schemas. For a pure operator it
/// calls the backend's kernel; for a view it makes a view; for an operator that writes it calls the
/// functional variant and records the result as an update.
///
/// Source: the seed "Functionalization".
#pragma once

#include <byre/functional/dispatch/operator.hpp>

namespace byre::inline v0::functional::detail {

/// While the registry is filled.
void define_functionalize_pass();

}  // namespace byre::inline v0::functional::detail
