// SPDX-License-Identifier: BSL-1.0
/// What the kernels of the pass have in common.
#pragma once

#include <byre/functional/functionalize/functional_tensor.hpp>
#include <byre/tensor/elements/detail/overlap.hpp>

namespace byre::inline v0::functional::detail {

/// `tensor` itself, if it is one of the pass; one that is not was captured: a frozen one of its value,
/// that knows it.
AnyTensor functional(const AnyTensor& tensor);

/// What a program captures is read as it is when it is read. Throws FunctionalizeError for a tensor that
/// shares memory with an input of a program this thread runs: what was written to that is not there.
void expect_captured_apart(const AnyTensor& tensor);

/// Throws DispatchError for memory that is to be written and that an input of a program this thread runs
/// shares: that program has read it already.
void expect_written_apart_from_running(const AnyTensor& tensor, const char* operation);

/// The inputs of a program that this thread runs, for as long as this lives; those of the programs that
/// it runs in are heeded too.
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

/// Throws DispatchError for a value of a batch that `written` is seen outside of.
void expect_takes_batch(const FunctionalTensor& written, const AnyTensor& value,
                        const char* operation);
/// The same for what is of the batch of that vmap.
void expect_takes_batch(const FunctionalTensor& written, BatchLevel level, const char* operation);

/// An argument that is written or viewed, made one of the pass where it stands.
FunctionalTensor& target_of(const Call& call, std::size_t index);

/// Calls below the pass, where all tensors are values.
AnyTensor one_below(const char* name, Arguments values);
/// The same of what makes a tensor of nothing: on the backend of `target`.
AnyTensor made_beside(const FunctionalTensor& target, const char* name, Arguments values);

/// Which elements two tensors of the pass have in common: none, where they have not one alias.
byre::detail::Overlap overlap_in_alias(const FunctionalTensor& a, const FunctionalTensor& b);

/// Throws ShapeError for tensors of one alias that overlap in part: what is read there may have been
/// written already. As for tensors in memory.
void expect_apart(FunctionalTensor& written, const AnyTensor& read, const char* operation);

/// While the registry is filled: fill_, zero_, copy_, resize_ and set_.
void define_overwriting_operators();

}  // namespace byre::inline v0::functional::detail
