// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/dispatch/guards.hpp>
#include <byre/functional/functionalize/detail/functional_run.hpp>
#include <byre/functional/functionalize/detail/functional_tensor.hpp>
#include <byre/functional/functionalize/transform.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace byre::inline BYRE_ABI::functional {
namespace {

thread_local FunctionalizeOptions options_of_thread;

bool is_within_pass(const Tensors& inputs) {
  return thread_keys().included.has(Key::functionalize) ||
         std::any_of(inputs.begin(), inputs.end(), [](const AnyTensor& input) {
           return input.as<FunctionalTensor>() != nullptr;
         });
}

/// Runs `f` under the pass that is already active. That pass handles all views and writes,
/// including those of inputs that alias each other.
Tensors run_within_pass(const Program& f, const Tensors& inputs) {
  KeySet keys = Key::functionalize;
  for (const AnyTensor& input : inputs) {
    if (const auto* const seen = input.as<FunctionalTensor>()) {
      keys = keys | seen->backend().without(Key::batched);
    }
  }
  const IncludeKeys pass(keys);
  Tensors returned = f(inputs);
  detail::expect_tensors(returned, "functionalize", "the returned tensors");
  return returned;
}

/// Runs `f` under the pass, on the backend of `lowering` or, if `lowering` is null, on the backend
/// of the inputs.
Tensors run_under_pass(const char* name, const Lowering* lowering, const Program& f,
                       FunctionalizeOptions options, const Tensors& inputs) try {
  detail::expect_tensors(inputs, name, "the inputs");
  if (lowering == nullptr && is_within_pass(inputs)) {
    return run_within_pass(f, inputs);
  }
  InputAliasing aliasing(inputs);
  Tensors bases = aliasing.values(inputs);
  KeySet backend = lowering == nullptr ? KeySet() : lowering->backend;
  for (AnyTensor& base : bases) {
    if (lowering == nullptr) {
      backend = backend | base.keys().without(Key::batched);
    } else {
      base = lowering->lift(to_cpu(base));
    }
  }
  detail::expect_tensors(bases, name, "the lifted tensors");
  FunctionalRun run(f, inputs, std::move(aliasing), std::move(bases), backend, options);
  Tensors values = run.take_values();
  for (AnyTensor& value : values) {
    if (lowering != nullptr && value.as<CpuTensor>() == nullptr) {
      value = from_cpu(lowering->lower(value));
    }
  }
  return run.finish(inputs, std::move(values));
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap(name);
}

}  // namespace

FunctionalizeOptions functionalize_options() noexcept {
  return options_of_thread;
}

FunctionalizeOptionsScope::FunctionalizeOptionsScope(FunctionalizeOptions options) noexcept
    : before_(options_of_thread) {
  options_of_thread = options;
}

FunctionalizeOptionsScope::~FunctionalizeOptionsScope() {
  options_of_thread = before_;
}

Program functionalize(Program f, FunctionalizeOptions options) try {
  detail::expect_program(f, "functionalize");
  return [f = std::move(f), options](const Tensors& inputs) {
    return run_under_pass("functionalize", nullptr, f, options, inputs);
  };
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("functionalize");
}

Program functionalize_on(Lowering lowering, Program f, FunctionalizeOptions options) try {
  detail::expect_program(f, "functionalize_on");
  if (!lowering.lift || !lowering.lower) {
    throw ArgumentError(
        format_text("functionalize_on: the lowering's %s is empty. Set both lift and lower.",
                    lowering.lift ? "lower" : "lift"));
  }
  return [lowering = std::move(lowering), f = std::move(f), options](const Tensors& inputs) {
    return run_under_pass("functionalize_on", &lowering, f, options, inputs);
  };
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("functionalize_on");
}

}  // namespace byre::inline BYRE_ABI::functional
