// SPDX-License-Identifier: BSL-1.0
/// Kernels of the CPU that view rules say: views, views in place, copies of what a view sees, and
/// scatters.
#pragma once

namespace byre::inline v0::functional::detail {

/// While the registry is filled, behind the operators.
void define_cpu_backend();

}  // namespace byre::inline v0::functional::detail
