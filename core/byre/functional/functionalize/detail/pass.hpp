// SPDX-License-Identifier: BSL-1.0
/// The functionalize pass: the fallback of the key functionalize. The effect of the called operator
/// selects the action: a pure operator calls the backend's kernel, a view creates a view, and an
/// operator that writes calls its functional variant and records the result as an update. A call of
/// add_ on a view runs these functions:
///
///   call, checked_arguments, dispatch           to the pass
///   run_functionalized                          prepares the write, and calls add on values:
///     target_of, Alias::prepare_write, expect_no_partial_overlap
///     redispatch, Alias::sync, dispatch         to the backend's kernel
///     converted_to_target, Alias::write         and records the result
///
/// overwriting.cpp contains the kernels of operators that overwrite a whole tensor.
///
/// Source: the design note "Functionalization".
#pragma once

#include <byre/functional/functionalize/detail/functional_tensor.hpp>

namespace byre::inline BYRE_ABI::functional::detail {

/// Returns `tensor` if it is a tensor of the pass. Any other tensor was captured: returns a tensor
/// of the pass with the captured value, which must not be written.
AnyTensor functional(const AnyTensor& tensor);

/// Returns the argument at `index`, which is written or viewed. If it was captured, replaces it by
/// a tensor of the pass first.
FunctionalTensor& target_of(const Call& call, std::size_t index);

/// Throws FunctionalizeError if the argument was captured: the change would be lost.
void expect_not_captured(const Call& call, std::size_t index);

[[noreturn]] void refuse_batch(const FunctionalTensor& written, const char* operation);
/// Throws DispatchError if `level`, the level of a value, is the level of a vmap() that `written`
/// does not belong to.
inline void expect_takes_batch(const FunctionalTensor& written, BatchLevel level,
                               const char* operation) {
  if (level > written.writable_level()) {
    refuse_batch(written, operation);
  }
}

/// Checks `target`, the written argument at `index`. Throws ShapeError
///
/// - if another operand partially overlaps the target, because elements could be written before
///   they are read (operators in memory throw too);
/// - if an earlier written argument has elements in common with the target, because the functional
///   variant would write the two arguments one after the other, whereas the operator itself may
///   write them in any order.
void expect_no_partial_overlap(const FunctionalTensor& target, std::size_t index, const Call& call);

/// Calls an operator below the pass, where all tensors are values.
AnyTensor redispatch_for_one(const char* name, Arguments values);
/// Calls a factory below the pass, on the backend of `target`.
AnyTensor redispatch_on_backend_of(const FunctionalTensor& target, const char* name,
                                   Arguments values);

/// For define_functionalize_pass(): defines fill_, zero_, copy_, resize_, set_ and the out=
/// variants.
void define_overwriting_operators();

}  // namespace byre::inline BYRE_ABI::functional::detail
