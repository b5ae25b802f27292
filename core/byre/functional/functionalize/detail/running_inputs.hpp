// SPDX-License-Identifier: BSL-1.0
/// RunningInputs: the inputs of the programs that a thread runs. Memory that they see is read and
/// written by them alone until the program ends.
#pragma once

#include <byre/functional/dispatch/any_tensor.hpp>

namespace byre::inline v0::functional::detail {

/// The inputs of a program that this thread runs, for as long as this lives. Nests.
class RunningInputs {
 public:
  explicit RunningInputs(const Tensors& inputs) noexcept;
  RunningInputs(const RunningInputs&) = delete;
  RunningInputs& operator=(const RunningInputs&) = delete;
  ~RunningInputs();

  /// An input that shares memory with a tensor of the CPU, or null.
  static const AnyTensor* find_sharing(const AnyTensor& tensor) noexcept;

 private:
  const Tensors& inputs_;
  const RunningInputs* const before_;
};

/// For a captured tensor that is read. Throws FunctionalizeError if it shares memory with an input
/// of a running program: the program's writes to that input are not in memory yet.
void expect_captured_apart(const AnyTensor& tensor);

/// For memory that is to be written. Throws DispatchError if it shares memory with an input of a
/// running program, which has read it already.
void expect_written_apart_from_running(const AnyTensor& tensor, const char* operation);

}  // namespace byre::inline v0::functional::detail
