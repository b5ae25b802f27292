// SPDX-License-Identifier: BSL-1.0
/// The pass: one kernel, for the key functionalize, that the schemas drive. Of a pure operator it calls
/// the backend's; of a view it makes a view; of an operator that writes it calls the pure form and
/// records what that returned as an update.
///
/// Source: the seed "Functionalization".
#pragma once

#include <byre/functional/dispatch/operator.hpp>

namespace byre::inline v0::functional::detail {

/// While the registry is filled.
void define_functionalize_pass();

}  // namespace byre::inline v0::functional::detail
