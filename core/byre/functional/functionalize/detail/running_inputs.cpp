// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/argument.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/functionalize/detail/running_inputs.hpp>
#include <byre/functional/functionalize/functional_tensor.hpp>

#include <utility>

namespace byre::inline v0::functional::detail {
namespace {

thread_local const RunningInputs* innermost_of_thread = nullptr;

}  // namespace

RunningInputs::RunningInputs(const Tensors& inputs) noexcept
    : inputs_(inputs), before_(std::exchange(innermost_of_thread, this)) {}

RunningInputs::~RunningInputs() {
  innermost_of_thread = before_;
}

const AnyTensor* RunningInputs::find_sharing(const AnyTensor& tensor) noexcept {
  const CpuTensor* const sought = tensor.as<CpuTensor>();
  for (const RunningInputs* running = innermost_of_thread; sought != nullptr && running != nullptr;
       running = running->before_) {
    for (const AnyTensor& input : running->inputs_) {
      const CpuTensor* const given = input.as<CpuTensor>();
      if (given != nullptr && given->value.aliases(sought->value)) {
        return &input;
      }
    }
  }
  return nullptr;
}

void expect_captured_apart(const AnyTensor& tensor) {
  if (const AnyTensor* const input = RunningInputs::find_sharing(tensor)) {
    throw FunctionalizeError(format_text(
        "the function captures a tensor, %s, that shares memory with an input, %s: "
        "what it writes to the input is not there yet. Use the input, or capture a clone().",
        describe(tensor).c_str(), describe(*input).c_str()));
  }
}

void expect_written_apart_from_running(const AnyTensor& tensor, const char* operation) {
  if (const AnyTensor* const input = RunningInputs::find_sharing(tensor)) {
    throw DispatchError(format_text(
        "%s: the function wrote to a tensor, %s, that shares memory with an input, %s, of the "
        "vmap() or the program it runs in, which did not change with it. clone() one of them.",
        operation, describe(tensor).c_str(), describe(*input).c_str()));
  }
}

}  // namespace byre::inline v0::functional::detail
