// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/backends/cpu.hpp>
#include <byre/functional/functionalize/capture.hpp>
#include <byre/functional/graph/recording.hpp>

#include <utility>

namespace byre::inline v0::functional {

CapturedProgram capture(const Program& f, const Tensors& examples, FunctionalizeOptions options) {
  for (const AnyTensor& example : examples) {
    to_cpu(example);  // or throws
  }
  const Recording recording(options.remove == Remove::mutations ? Recording::Views::recorded
                                                                : Recording::Views::refused);
  const RecordingScope scope(recording);
  InputAliasing aliasing(examples);
  Tensors bases;
  for (std::size_t base = 0; base < aliasing.base_count(); ++base) {
    bases.push_back(recording.input(aliasing.meta(base).sizes, aliasing.meta(base).dtype));
  }
  CapturedProgram program(FunctionalRun(f, examples, std::move(aliasing), std::move(bases),
                                        Key::graph, options, FunctionalRun::Written::bases));
  program.graph = recording.capture(program.run_.take_values());
  return program;
}

Tensors CapturedProgram::operator()(const Tensors& inputs) const {
  InputAliasing aliasing(inputs);
  if (aliasing != run_.aliasing()) {
    throw GraphError(format_text(
        "a captured program was given inputs that differ from its examples in number, "
        "sizes, dtypes, or in which of them share memory. Capture it again with these."));
  }
  run_.expect_may_grow(aliasing);
  Tensors bases;
  for (std::size_t base = 0; base < aliasing.base_count(); ++base) {
    bases.push_back(aliasing.value(base, inputs));
  }
  Tensors values = execute(graph, bases);
  bases.clear();  // which share the memory that is written
  return run_.finish(inputs, std::move(values));
}

}  // namespace byre::inline v0::functional
