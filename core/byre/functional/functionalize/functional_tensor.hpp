// SPDX-License-Identifier: BSL-1.0
/// Conversions between tensors of a backend and tensors of the functionalize pass. functionalize()
/// applies them to inputs and outputs; call them directly only to run single operators under the
/// pass.
#pragma once

#include <byre/config.hpp>
#include <byre/error/error.hpp>
#include <byre/functional/dispatch/any_tensor.hpp>

namespace byre::inline BYRE_ABI::functional {

/// A write would be lost or would leave views with old contents, or inputs share memory in an
/// unsupported way.
class BYRE_API FunctionalizeError : public Error {
 public:
  using Error::Error;
};

/// Returns a tensor of the pass that holds `value`, a tensor of a backend. Copies no elements.
/// Throws ArgumentError if `value` is empty, or OutOfMemory.
BYRE_API AnyTensor to_functional(AnyTensor value);

/// Returns the current value of a tensor of the pass: a tensor of the backend, which never changes.
/// Returns any other tensor unchanged. If the value is not cached since the last write, calls the
/// operators that compute it, and throws the errors of these operators. May run concurrently with
/// other reads of the tensor and of its views. Cost: O(1) if the value is cached.
BYRE_API AnyTensor from_functional(const AnyTensor& tensor);

/// Returns whether a write to one tensor may be visible in the other: both handles refer to one
/// tensor, both tensors share a storage of the CPU, or both are views of one base under the pass.
/// False if a handle is empty. May run concurrently with other reads. Cost: O(1).
BYRE_API bool share_memory(const AnyTensor& a, const AnyTensor& b);

}  // namespace byre::inline BYRE_ABI::functional
