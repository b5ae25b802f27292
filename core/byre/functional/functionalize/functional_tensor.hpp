// SPDX-License-Identifier: BSL-1.0
/// Tensors of the pass: made of values of a backend, and what they hold now.
#pragma once

#include <byre/config.hpp>
#include <byre/error/error.hpp>
#include <byre/functional/dispatch/any_tensor.hpp>

namespace byre::inline v0::functional {

/// A write that nobody would see, or that would leave views behind; inputs that the pass cannot
/// part.
class BYRE_API FunctionalizeError : public Error {
 public:
  using Error::Error;
};

/// A tensor of the pass that holds `value`, a tensor of a backend. Throws ArgumentError for a handle
/// without a tensor.
BYRE_API AnyTensor to_functional(AnyTensor value);

/// What a tensor of the pass holds now: a tensor of the backend, which never changes. Pending
/// updates are applied: throws what the operators throw that it calls. Any other tensor is returned
/// as it is.
BYRE_API AnyTensor from_functional(const AnyTensor& tensor);

/// Whether a write to one may show in the other: they are one tensor, or share a storage of the
/// CPU, or an alias of the pass.
BYRE_API bool share_memory(const AnyTensor& a, const AnyTensor& b);

}  // namespace byre::inline v0::functional
