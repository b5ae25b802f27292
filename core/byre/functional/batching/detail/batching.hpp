// SPDX-License-Identifier: BSL-1.0
/// Kernels for the key batched.
#pragma once

#include <byre/functional/dispatch/operator.hpp>

namespace byre::inline v0::functional::detail {

/// While the registry is filled, behind the operators.
void define_batching();

/// What is done with an operator that no rule computes of a whole batch: a loop over the batch.
/// Throws DispatchError for an operator that is not pure.
Tensors compute_by_loop(const Call& call);

}  // namespace byre::inline v0::functional::detail
