// SPDX-License-Identifier: BSL-1.0
/// The pass: a fallback for the key functionalize, driven by the schemas. For a pure operator it
/// calls the backend's kernel; for a view it makes a view; for an operator that writes it calls the
/// functional variant and records the result as an update. A call of add_ on a view goes through
///
///   call, checked_arguments, dispatch           to the pass
///   functionalized                              prepares the write, and calls add on values:
///     target_of, Alias::prepare_write, expect_no_partial_overlap
///     redispatch, Alias::sync, dispatch         to the backend's kernel
///     conforming, Alias::write                  and records the result
///
/// Operators that overwrite all of a tensor have kernels of their own: overwriting.cpp.
///
/// Source: the seed "Functionalization".
#pragma once

#include <byre/functional/functionalize/detail/functional_tensor.hpp>

namespace byre::inline v0::functional::detail {

/// `tensor` itself, if it is one of the pass. Any other was captured: a tensor of the pass of its
/// value, which must not be written.
AnyTensor functional(const AnyTensor& tensor);

/// An argument that is written or viewed, made one of the pass where it stands.
FunctionalTensor& target_of(const Call& call, std::size_t index);

/// Throws FunctionalizeError for an argument that was captured: the change would be lost.
void expect_not_captured(const Call& call, std::size_t index);

[[noreturn]] void refuse_batch(const FunctionalTensor& written, const char* operation);
/// Throws DispatchError if `level`, that of a value, is of a batch that `written` is used outside
/// of.
inline void expect_takes_batch(const FunctionalTensor& written, BatchLevel level,
                               const char* operation) {
  if (level > written.writable_level()) {
    refuse_batch(written, operation);
  }
}

/// For `target`, the argument that is written at `index`. Throws ShapeError for an operand of its
/// alias that overlaps it in part, which may be written before it is read, as for tensors in
/// memory; and for an earlier argument that is written and has elements in common: the functional
/// variant would write one after the other, and the operator itself in any order.
void expect_no_partial_overlap(const FunctionalTensor& target, std::size_t index, const Call& call);

/// Calls below the pass, where all tensors are values.
AnyTensor redispatch_for_one(const char* name, Arguments values);
/// Calls a factory below the pass, on the backend of `target`.
AnyTensor redispatch_on_backend_of(const FunctionalTensor& target, const char* name,
                                   Arguments values);

/// For define_functionalize_pass(): fill_, zero_, copy_, resize_, set_ and out= variants.
void define_overwriting_operators();

}  // namespace byre::inline v0::functional::detail
