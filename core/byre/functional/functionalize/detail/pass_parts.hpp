// SPDX-License-Identifier: BSL-1.0
/// What the kernels of the pass have in common.
#pragma once

#include <byre/functional/functionalize/detail/functional_tensor.hpp>
#include <byre/tensor/elements/detail/overlap.hpp>

namespace byre::inline v0::functional::detail {

/// `tensor` itself, if it is one of the pass. Any other was captured: a tensor of the pass of its
/// value, which must not be written.
AnyTensor functional(const AnyTensor& tensor);

/// For a captured tensor that is read. Throws FunctionalizeError if it shares memory with an input
/// of a program that this thread runs: what the program wrote to that is not in memory yet.
void expect_captured_apart(const AnyTensor& tensor);

/// For memory that is to be written. Throws DispatchError if it shares memory with an input of a
/// program that this thread runs: that program has read it already.
void expect_written_apart_from_running(const AnyTensor& tensor, const char* operation);

/// The inputs of a program that this thread runs, for as long as this lives. Nests.
class RunningInputs {
 public:
  explicit RunningInputs(const Tensors& inputs) noexcept;
  RunningInputs(const RunningInputs&) = delete;
  RunningInputs& operator=(const RunningInputs&) = delete;
  ~RunningInputs();

 private:
  friend void expect_captured_apart(const AnyTensor& tensor);
  friend void expect_written_apart_from_running(const AnyTensor& tensor, const char* operation);

  /// One that shares memory with a tensor of the CPU, or null.
  static const AnyTensor* find_sharing(const AnyTensor& tensor) noexcept;

  const Tensors& inputs_;
  const RunningInputs* const before_;
};

/// Throws FunctionalizeError for an argument that was captured, which nobody would see changed.
void expect_not_captured(const Call& call, std::size_t index);

/// Throws DispatchError for a value of a batch that `written` is used outside of.
void expect_takes_batch(const FunctionalTensor& written, const AnyTensor& value,
                        const char* operation);
/// The same for what is of the batch of that vmap.
void expect_takes_batch(const FunctionalTensor& written, BatchLevel level, const char* operation);

/// An argument that is written or viewed, made one of the pass where it stands.
FunctionalTensor& target_of(const Call& call, std::size_t index);

/// Calls below the pass, where all tensors are values.
AnyTensor redispatch_for_one(const char* name, Arguments values);
/// The same for a factory: on the backend of `target`.
AnyTensor redispatch_on_backend_of(const FunctionalTensor& target, const char* name,
                                   Arguments values);

/// Which elements two tensors of the pass have in common: none, if their aliases differ.
byre::detail::Overlap overlap_in_alias(const FunctionalTensor& a, const FunctionalTensor& b);

/// Throws ShapeError for tensors of one alias that overlap in part: what is read may have been
/// written already. As for tensors in memory.
void expect_no_partial_overlap(FunctionalTensor& written, const AnyTensor& read,
                               const char* operation);

/// While the registry is filled: fill_, zero_, copy_, resize_, set_ and out= variants.
void define_overwriting_operators();

}  // namespace byre::inline v0::functional::detail
