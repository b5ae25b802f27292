// SPDX-License-Identifier: BSL-1.0
/// The functionalize pass over the CPU backend. The pass records a write to a view as an update of
/// the view's base, and applies updates at the next use. The benchmarks measure
///
/// - the memory that updates occupy if their base is not used,
/// - a use of one view, depending on the depth of the view, and a use of all views of a chain,
/// - a write to one output of an unbind, depending on the number of outputs,
/// - a write with and without the pass, also to one element of a large input.
#include "harness.hpp"

#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/functionalize/detail/functional_tensor.hpp>
#include <byre/functional/functionalize/transform.hpp>
#include <byre/tensor/elements.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace byre_bench {
namespace {

namespace functional = byre::functional;

using byre::Tensor;
using functional::AnyTensor;
using functional::ViewPaths;

/// How the pass records views, or nullopt to run without the pass.
using Paths = std::optional<ViewPaths>;

struct Variant {
  const char* name;
  Paths paths;
};
constexpr Variant variants[] = {
    {"plain", std::nullopt}, {"chains", ViewPaths::chains}, {"strides", ViewPaths::strides}};

/// During the lifetime of this object, zeros() returns tensors of the pass with these `paths`, or
/// of the plain CPU backend if `paths` is nullopt.
class PathsScope {
 public:
  explicit PathsScope(Paths paths)
      : scope_({.paths = paths.value_or(ViewPaths::by_backend)}), is_plain_(!paths) {}

  AnyTensor zeros(const byre::Dims& sizes) const {
    AnyTensor tensor = functional::from_cpu(Tensor::zeros(sizes, byre::DType::f32));
    return is_plain_ ? tensor : functional::to_functional(std::move(tensor));
  }

 private:
  functional::FunctionalizeOptionsScope scope_;
  bool is_plain_;
};

AnyTensor row(const AnyTensor& x, std::int64_t index) {
  static const functional::Operator& select = functional::find("select");
  return functional::call_for_one(select, {x, 0, index});
}

void use(const AnyTensor& tensor) {
  const AnyTensor value = functional::from_functional(tensor);
  benchmark::DoNotOptimize(functional::to_cpu(value).raw_data());
}

/// Each burst writes to the base, and then uses all views of a chain of `depth` views, or only the
/// last view. The figure is per use.
void run_use(benchmark::State& state, Paths paths, std::size_t depth, bool uses_all) {
  const PathsScope scope(paths);
  const AnyTensor x = scope.zeros({2, 4, 4});
  const AnyTensor written = row(x, 0);
  functional::Tensors views{row(x, 1)};
  while (views.size() < depth) {
    views.push_back(functional::call_for_one("transpose", {views.back(), 0, 1}));
  }
  if (!uses_all) {
    views = {views.back()};
  }
  const std::size_t writes = std::max<std::size_t>(1, 256 / depth);
  static const functional::Operator& fill = functional::find("fill_");
  run_bursts(state, writes * views.size(), [&](std::size_t) {
    return timed_ns([&] {
      for (std::size_t i = 0; i < writes; ++i) {
        functional::call(fill, {written, 1});
        for (const AnyTensor& view : views) {
          use(view);
        }
      }
    });
  });
}

/// Writes each output of one unbind, and then uses the base. The figure is per output.
void run_unbind(benchmark::State& state, Paths paths, std::size_t count) {
  const PathsScope scope(paths);
  static const functional::Operator& fill = functional::find("fill_");
  run_bursts(state, count, [&](std::size_t) {
    const AnyTensor x = scope.zeros({static_cast<std::int64_t>(count), 4});
    return timed_ns([&] {
      for (const AnyTensor& part : functional::call("unbind", {x, 0})) {
        functional::call(fill, {part, 1});
      }
      use(x);
    });
  });
}

constexpr std::int64_t row_count = 16;

/// Measures x[i] += 1, for one row of 64 floats after another. The figure is per addition to a row.
void run_add_to_rows(benchmark::State& state, Paths paths) {
  constexpr std::size_t adds_per_burst = 256;
  const PathsScope scope(paths);
  const AnyTensor x = scope.zeros({row_count, 64});
  static const functional::Operator& add = functional::find("add_.scalar");
  run_bursts(state, adds_per_burst, [&](std::size_t) {
    return timed_ns([&] {
      for (std::size_t i = 0; i < adds_per_burst; ++i) {
        functional::call(add, {row(x, static_cast<std::int64_t>(i) % row_count), 1});
      }
      use(x);
    });
  });
}

/// Measures a function that writes one element of an input. The pass need not copy the other
/// elements.
void run_write_element(benchmark::State& state, Paths paths, std::size_t nbytes) {
  const AnyTensor x = functional::from_cpu(
      Tensor::zeros({static_cast<std::int64_t>(nbytes / sizeof(float))}, byre::DType::f32));
  functional::Program write = [](const functional::Tensors& in) {
    static const functional::Operator& fill = functional::find("fill_");
    functional::call(fill, {row(in[0], 7), 1});
    return functional::Tensors();
  };
  if (paths) {
    write = functional::functionalize(std::move(write), {.paths = *paths});
  }
  run_repeated(state, 16, [&](std::size_t) { write({x}); });
}

/// Measures the memory that `writes` updates x[i] = j occupy while x is not used.
void run_memory(benchmark::State& state, Paths paths, std::size_t writes) {
  const PathsScope scope(paths);
  const AnyTensor x = scope.zeros({row_count, 64});
  const auto write = [&](std::size_t i) {
    const auto j = static_cast<std::int64_t>(i);
    functional::call("fill_", {row(x, j % row_count), j});
  };
  write(0);
  report_memory(state, 1, [&] {
    for (std::size_t i = 1; i < writes; ++i) {
      write(i);
    }
  });
}

/// Measures the memory of a queue that stores all written values, like the queue of PyTorch's
/// functionalization.
void run_memory_of_queue(benchmark::State& state, std::size_t writes) {
  std::vector<Tensor> queue;
  report_memory(state, 1, [&] {
    for (std::size_t i = 0; i < writes; ++i) {
      Tensor value = Tensor::empty({64}, byre::DType::f32);
      queue.push_back(byre::fill_(value, static_cast<std::int64_t>(i)));
    }
  });
}

}  // namespace

void add_functionalize() {
  const auto add_counted = [](const char* operation, std::size_t count, const char* contender,
                              auto run) {
    add({operation + std::to_string(count), 64}, contender, run);
  };
  for (const auto& [name, paths] : variants) {
    add({"functional_add_row", 4 * kib}, name,
        [paths](benchmark::State& state) { run_add_to_rows(state, paths); });
    for (const std::size_t nbytes : {4 * kib, 16 * mib}) {
      add({"functional_write_element", nbytes}, name,
          [=](benchmark::State& state) { run_write_element(state, paths, nbytes); });
    }
    for (const std::size_t count : {1UL, 64UL, 1024UL, 4096UL}) {
      add_counted("functional_unbind_", count, name,
                  [=](benchmark::State& state) { run_unbind(state, paths, count); });
      if (paths) {
        add_counted("functional_use_", count, name,
                    [=](benchmark::State& state) { run_use(state, paths, count, false); });
        add_counted("functional_use_all_", count, name,
                    [=](benchmark::State& state) { run_use(state, paths, count, true); });
      }
    }
    for (const std::size_t count : {100UL, 1000UL, 10000UL, 100000UL}) {
      add_counted("functional_updates_", count, name,
                  [=](benchmark::State& state) { run_memory(state, paths, count); });
    }
  }
  for (const std::size_t count : {100UL, 1000UL, 10000UL, 100000UL}) {
    add_counted("functional_updates_", count, "queue",
                [=](benchmark::State& state) { run_memory_of_queue(state, count); });
  }
}

}  // namespace byre_bench
