// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/functionalize/capture.hpp>
#include <byre/functional/functionalize/detail/functional_run.hpp>
#include <byre/functional/graph/recording.hpp>
#include <byre/functional/graph/text.hpp>

#include <new>
#include <utility>

namespace byre::inline BYRE_ABI::functional {
namespace {

/// Checks the results of the caller's function `compute`, which may return any tensors.
void expect_outputs(const std::vector<TensorMeta>& outputs, const Tensors& values) {
  detail::expect_tensors(values, "a captured program", "the computed values");
  if (values.size() != outputs.size()) {
    throw GraphError(
        format_text("a captured program: %zu values were computed, its graph has %zu outputs. "
                    "Return one per output.",
                    values.size(), outputs.size()));
  }
  for (std::size_t index = 0; index < values.size(); ++index) {
    if (TensorMeta{values[index].sizes(), values[index].dtype()} != outputs[index]) {
      throw GraphError(format_text(
          "a captured program: output %zu must be %s, not %s. Compute the outputs of its graph.",
          index, detail::to_string(outputs[index]).c_str(), describe(values[index]).c_str()));
    }
  }
}

}  // namespace

CapturedProgram capture(const Program& f, const Tensors& examples,
                        FunctionalizeOptions options) try {
  detail::expect_program(f, "capture");
  detail::expect_tensors(examples, "capture", "the examples");
  detail::backend_of(examples, "capture");  // throws if there is no single backend
  const Recording recording(options.reapply_views ? Recording::Views::recorded
                                                  : Recording::Views::refused);
  const RecordingScope scope(recording);
  InputAliasing aliasing(examples);
  Tensors bases;
  for (std::size_t base = 0; base < aliasing.base_count(); ++base) {
    bases.push_back(recording.input(aliasing.meta(base).sizes, aliasing.meta(base).dtype));
  }
  FunctionalRun run(f, examples, std::move(aliasing), std::move(bases), Key::graph, options,
                    FunctionalRun::WrittenValues::bases);
  const Tensors values = run.take_values();
  std::vector<TensorMeta> outputs;
  for (const AnyTensor& value : values) {
    outputs.push_back({value.sizes(), value.dtype()});
  }
  Graph graph = recording.capture(values);
  return {std::move(graph), std::move(outputs),
          std::make_shared<const FunctionalRun>(std::move(run))};
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("capture");
}

std::vector<std::size_t> CapturedProgram::program_inputs() const try {
  const InputAliasing& aliasing = run_->aliasing();
  std::vector<std::size_t> inputs;
  for (std::size_t base = 0; base < aliasing.base_count(); ++base) {
    inputs.push_back(aliasing.input_of(base));
  }
  return inputs;
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("program_inputs");
}

Tensors CapturedProgram::operator()(const Tensors& inputs) const {
  return run(inputs, [this](const Tensors& bases) { return execute(graph, bases); });
}

Tensors CapturedProgram::run(const Tensors& inputs, const Program& compute) const try {
  detail::expect_program(compute, "a captured program");
  detail::expect_tensors(inputs, "a captured program", "the inputs");
  InputAliasing aliasing(inputs);
  if (aliasing != run_->aliasing()) {
    throw GraphError(format_text(
        "a captured program: the inputs differ from its examples in number, sizes, dtypes, shared "
        "memory, or in which are on the CPU. Capture the program again."));
  }
  run_->expect_may_grow(aliasing);
  Tensors bases = aliasing.values(inputs);
  Tensors values = compute(bases);
  bases.clear();  // the bases share the memory that is written next
  expect_outputs(outputs_, values);
  return run_->finish(inputs, std::move(values));
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("a captured program");
}

}  // namespace byre::inline BYRE_ABI::functional
