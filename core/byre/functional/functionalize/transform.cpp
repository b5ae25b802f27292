// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/backends/cpu.hpp>
#include <byre/functional/functionalize/transform.hpp>

#include <utility>

namespace byre::inline v0::functional {

Program functionalize(Program f, FunctionalizeOptions options) {
  return [f = std::move(f), options](const Tensors& inputs) {
    InputAliasing aliasing(inputs);
    Tensors bases;
    KeySet backend;
    for (std::size_t base = 0; base < aliasing.base_count(); ++base) {
      bases.push_back(aliasing.value(base, inputs));
      backend = backend | bases.back().keys();
    }
    backend = backend.without(KeySet(Key::batched) | Key::functionalize);
    const FunctionalRun run(f, inputs, std::move(aliasing), std::move(bases), backend, options);
    return run.finish(inputs, run.values());
  };
}

Program functionalize_on(Lowering lowering, Program f, FunctionalizeOptions options) {
  return [lowering = std::move(lowering), f = std::move(f), options](const Tensors& inputs) {
    InputAliasing aliasing(inputs);
    Tensors bases;
    for (std::size_t base = 0; base < aliasing.base_count(); ++base) {
      bases.push_back(lowering.lift(to_cpu(aliasing.value(base, inputs))));
    }
    const FunctionalRun run(f, inputs, std::move(aliasing), std::move(bases), lowering.backend,
                            options);
    Tensors values;
    for (const AnyTensor& value : run.values()) {
      values.push_back(value.as<CpuTensor>() != nullptr ? value : from_cpu(lowering.lower(value)));
    }
    return run.finish(inputs, values);
  };
}

}  // namespace byre::inline v0::functional
