// SPDX-License-Identifier: BSL-1.0
/// Conversions between tensors of a backend and tensors of the functionalize pass. functionalize()
/// applies them to inputs and outputs; call them directly only to run single operators under the
/// pass.
#pragma once

#include <byre/config.hpp>
#include <byre/error/error.hpp>
#include <byre/functional/dispatch/any_tensor.hpp>

namespace byre::inline v0::functional {

/// A write would be lost or would leave views with old contents, or inputs share memory in an
/// unsupported way.
class BYRE_API FunctionalizeError : public Error {
 public:
  using Error::Error;
};

/// Returns a tensor of the pass that holds `value`, a tensor of a backend. Copies no elements.
/// Throws ArgumentError if `value` is empty; OutOfMemory.
BYRE_API AnyTensor to_functional(AnyTensor value);

/// Returns the current value of a tensor of the pass: a tensor of the backend, which never changes.
/// Returns any other tensor unchanged. Applies pending updates, so it throws the errors of the
/// operators that this calls. Thread-safe with other reads of tensors of the alias. Cost: O(1) if
/// the value is current.
BYRE_API AnyTensor from_functional(const AnyTensor& tensor);

/// Returns whether a write to one may be visible in the other: they are one tensor, or share a
/// storage of the CPU or an alias of the pass. False if one is empty. Thread-safe with other reads.
/// Cost: O(1).
BYRE_API bool share_memory(const AnyTensor& a, const AnyTensor& b);

}  // namespace byre::inline v0::functional
