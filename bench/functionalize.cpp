// SPDX-License-Identifier: BSL-1.0
/// The functionalize pass over the CPU: what updates keep that nobody looks at, what a use of a
/// view costs by its depth, also of all views of a chain, what outputs of one view cost by their
/// number, and what a write costs beside the same without the pass, also of one element of a large
/// input.
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

/// Without the pass, or how that remembers views.
using Paths = std::optional<ViewPaths>;

struct Way {
  const char* name;
  Paths paths;
};
constexpr Way ways[] = {
    {"plain", std::nullopt}, {"chains", ViewPaths::chains}, {"strides", ViewPaths::strides}};

/// The pass, as one way has it, for as long as this lives.
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

/// A use after each write, of a view of a view and so on: per view of the depth; `use_ns` is per
/// use.
void run_use(benchmark::State& state, Paths paths, std::size_t depth) {
  const PathsScope scope(paths);
  const AnyTensor x = scope.zeros({2, 4, 4});
  const AnyTensor written = row(x, 0);
  AnyTensor view = row(x, 1);
  for (std::size_t made = 1; made < depth; ++made) {
    view = functional::call_for_one("transpose", {view, 0, 1});
  }
  const std::size_t uses = std::max<std::size_t>(1, 256 / depth);
  static const functional::Operator& fill = functional::find("fill_");
  run_bursts(state, uses * depth, [&](std::size_t) {
    return timed_ns([&] {
      for (std::size_t i = 0; i < uses; ++i) {
        functional::call(fill, {written, 1});
        use(view);
      }
    });
  });
  state.counters["use_ns"] = state.counters["ns"] * static_cast<double>(depth);
}

/// A use of every view of a chain after each write: per view.
void run_use_all(benchmark::State& state, Paths paths, std::size_t depth) {
  const PathsScope scope(paths);
  const AnyTensor x = scope.zeros({2, 4, 4});
  const AnyTensor written = row(x, 0);
  functional::Tensors views{row(x, 1)};
  while (views.size() < depth) {
    views.push_back(functional::call_for_one("transpose", {views.back(), 0, 1}));
  }
  const std::size_t rounds = std::max<std::size_t>(1, 256 / depth);
  static const functional::Operator& fill = functional::find("fill_");
  run_bursts(state, rounds * depth, [&](std::size_t) {
    return timed_ns([&] {
      for (std::size_t i = 0; i < rounds; ++i) {
        functional::call(fill, {written, 1});
        for (const AnyTensor& view : views) {
          use(view);
        }
      }
    });
  });
}

/// Each output of one unbind is written, and then the base is used: per output.
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

void add_to_row(const AnyTensor& x, std::size_t index) {
  static const functional::Operator& add = functional::find("add_.scalar");
  functional::call(add, {row(x, static_cast<std::int64_t>(index) % row_count), 1});
}

/// x[i] += 1, row by row, of 64 floats each.
void run_add_to_rows(benchmark::State& state, Paths paths) {
  constexpr std::size_t adds_per_burst = 256;
  const PathsScope scope(paths);
  const AnyTensor x = scope.zeros({row_count, 64});
  run_bursts(state, adds_per_burst, [&](std::size_t) {
    return timed_ns([&] {
      for (std::size_t i = 0; i < adds_per_burst; ++i) {
        add_to_row(x, i);
      }
      use(x);
    });
  });
}

/// A function that writes one element of a large input, whose bytes it need not copy.
void run_write_element(benchmark::State& state, Paths paths, std::size_t nbytes) {
  constexpr std::size_t calls_per_burst = 16;
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
  run_bursts(state, calls_per_burst, [&](std::size_t) {
    return timed_ns([&] {
      for (std::size_t i = 0; i < calls_per_burst; ++i) {
        write({x});
      }
    });
  });
}

/// What is kept of x[i] = j, for so many j, where nobody looks. The time means nothing.
template <class Write>
void run_memory(benchmark::State& state, std::size_t writes, const Write& write) {
  write(0);
  const long long before = malloc_nbytes_in_use();
  if (before < 0) {
    state.SkipWithError("this C library does not say what its heap has handed out");
    return;
  }
  for (std::size_t i = 1; i < writes; ++i) {
    write(i);
  }
  state.counters["bytes_kept"] =
      std::max(1.0, static_cast<double>(malloc_nbytes_in_use() - before));
  for ([[maybe_unused]] auto iteration : state) {
    state.SetIterationTime(1e-9);
  }
}

void add_memory_of(const Way& way, const std::string& name, std::size_t writes) {
  add({name, 64}, way.name, [way, writes](benchmark::State& state) {
    const PathsScope scope(way.paths);
    const AnyTensor x = scope.zeros({row_count, 64});
    run_memory(state, writes, [&](std::size_t i) {
      functional::call("fill_", {row(x, static_cast<std::int64_t>(i) % row_count),
                                 static_cast<std::int64_t>(i)});
    });
  });
}

/// The same of a queue of what was written, as the seed has it.
void add_memory_of_queue(const std::string& name, std::size_t writes) {
  add({name, 64}, "queue", [writes](benchmark::State& state) {
    std::vector<Tensor> queue;
    run_memory(state, writes, [&](std::size_t i) {
      Tensor value = Tensor::empty({64}, byre::DType::f32);
      queue.push_back(byre::fill_(value, static_cast<std::int64_t>(i)));
    });
  });
}

/// For many writes, and, to be drawn, for fewer.
void add_memory() {
  const bool is_smoke = settings().effort == Effort::smoke;
  const std::size_t most = is_smoke ? 1000 : 100000;
  for (std::size_t writes = 100; writes <= most; writes *= 10) {
    std::vector<std::string> names{"functional_updates_" + std::to_string(writes)};
    if (writes == most) {
      names.emplace_back("functional_updates");
    }
    for (const std::string& name : names) {
      for (const Way& way : ways) {
        add_memory_of(way, name, writes);
      }
      add_memory_of_queue(name, writes);
    }
  }
}

}  // namespace

void add_functionalize() {
  std::vector<std::size_t> counts{1, 64, 1024};
  if (settings().effort == Effort::full) {
    counts.push_back(4096);
  }
  for (const Way& way : ways) {
    add({"functional_add_row", 4 * kib}, way.name,
        [way](benchmark::State& state) { run_add_to_rows(state, way.paths); });
    for (const std::size_t nbytes : {4 * kib, 16 * mib}) {
      add({"functional_write_element", nbytes}, way.name,
          [way, nbytes](benchmark::State& state) { run_write_element(state, way.paths, nbytes); });
    }
    for (const std::size_t count : counts) {
      add({"functional_unbind_" + std::to_string(count), 64}, way.name,
          [way, count](benchmark::State& state) { run_unbind(state, way.paths, count); });
      if (way.paths) {
        add({"functional_use_" + std::to_string(count), 64}, way.name,
            [way, count](benchmark::State& state) { run_use(state, way.paths, count); });
        add({"functional_use_all_" + std::to_string(count), 64}, way.name,
            [way, count](benchmark::State& state) { run_use_all(state, way.paths, count); });
      }
    }
  }
  add_memory();
}

}  // namespace byre_bench
