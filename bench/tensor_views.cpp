// SPDX-License-Identifier: BSL-1.0
/// Views, made and dropped: each operation selects a row of a matrix, shows its data pointer to the
/// compiler, and drops it. And reshape, which makes a view of a lazy clone.
#include "harness.hpp"

#include <byre/tensor/tensor.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace byre_bench {
namespace {

constexpr std::size_t views_per_burst = 1000;
constexpr std::int64_t rows = 16;

struct CountedStorage {
  std::atomic<std::uint32_t> count{1};
  std::byte* data = nullptr;
};

/// Decrements a count that must not get to 0.
template <class Count>
void decrement(std::atomic<Count>& count) {
  if (count.fetch_sub(1, std::memory_order::acq_rel) == 1) {
    std::abort();
  }
}

/// The least that is a view in a tensor's sense, a counted object over a counted storage: three
/// words and two counts. To make one is to increment both counts, to drop it is to decrement them.
struct ThreeWords {
  CountedStorage* storage;
  std::int64_t size;
  std::int64_t offset;
  std::atomic<std::uint32_t> count{0};
};

ThreeWords* make_view(CountedStorage& storage, std::int64_t size, std::int64_t offset) {
  storage.count.fetch_add(1, std::memory_order::relaxed);
  auto* const view = new ThreeWords{&storage, size, offset};
  view->count.fetch_add(1, std::memory_order::relaxed);
  return view;
}

void drop_view(ThreeWords* view) {
  if (view->count.fetch_sub(1, std::memory_order::acq_rel) == 1) {
    decrement(view->storage->count);
    delete view;
  }
}

/// Calls `view(row)` for each view of a burst.
template <class View>
void run_views(benchmark::State& state, View view) {
  run_bursts(state, views_per_burst, [&](std::size_t) {
    return timed_ns([&] {
      for (std::size_t i = 0; i < views_per_burst; ++i) {
        view(static_cast<std::int64_t>(i) % rows);
      }
    });
  });
}

void run_three_words(benchmark::State& state) {
  std::vector<std::byte> data(4 * kib);
  CountedStorage storage;
  storage.data = data.data();
  run_views(state, [&](std::int64_t row) {
    ThreeWords* const view = make_view(storage, 64, row * 64);
    benchmark::DoNotOptimize(view->storage->data + view->offset);
    drop_view(view);
  });
}

/// The same three words on the stack, without a block. Both counts are still incremented and decremented; the
/// view's is the matrix's. A tensor that others may hold cannot be that: the ratio is the cost of being more.
void run_by_value(benchmark::State& state) {
  std::vector<std::byte> data(4 * kib);
  CountedStorage storage;
  storage.data = data.data();
  std::atomic<std::uint32_t> handles{1};
  struct View {
    CountedStorage* storage;
    std::int64_t size;
    std::int64_t offset;
  };
  run_views(state, [&](std::int64_t row) {
    View view{&storage, 64, row * 64};
    benchmark::DoNotOptimize(view);
    storage.count.fetch_add(1, std::memory_order::relaxed);
    handles.fetch_add(1, std::memory_order::relaxed);
    benchmark::DoNotOptimize(view.storage->data + view.offset);
    decrement(handles);
    decrement(storage.count);
  });
}

/// By value and with no count of its own: what cannot be left out.
void run_floor_of_views(benchmark::State& state) {
  std::vector<std::byte> data(4 * kib);
  CountedStorage storage;
  storage.data = data.data();
  run_views(state, [&](std::int64_t row) {
    storage.count.fetch_add(1, std::memory_order::relaxed);
    benchmark::DoNotOptimize(storage.data + row * 64);
    decrement(storage.count);
  });
}

void run_view(benchmark::State& state) {
  const byre::Tensor matrix = byre::Tensor::zeros({rows, 64}, byre::DType::u8);
  run_views(state, [&](std::int64_t at) {
    const byre::Tensor row = matrix.select(0, at);
    benchmark::DoNotOptimize(row.raw_data());
  });
}

/// One operation for each `operation(tensor, sizes)`, on nbytes in two dimensions made one.
template <class Operation>
void add_reshape(const std::string& contender, std::size_t nbytes, Operation operation) {
  add({"tensor_reshape", nbytes}, contender, [=](benchmark::State& state) {
    const auto numel = static_cast<std::int64_t>(nbytes);
    const byre::Tensor tensor = byre::Tensor::zeros({numel / 16, 16}, byre::DType::u8);
    const byre::Dims sizes{numel};
    run_bursts(state, views_per_burst, [&](std::size_t) {
      return timed_ns([&] {
        for (std::size_t i = 0; i < views_per_burst; ++i) {
          operation(tensor, sizes);
        }
      });
    });
  });
}

}  // namespace

void add_tensor_views() {
  add({"tensor_view", 64}, "byre", run_view);
  add({"tensor_view", 64}, "three_words", run_three_words);
  add({"tensor_view", 64}, "by_value", run_by_value);
  add({"tensor_view", 64}, "floor", run_floor_of_views);
  for (const std::size_t nbytes : all_sizes) {
    add_reshape("byre", nbytes, [](const byre::Tensor& tensor, const byre::Dims& sizes) {
      const byre::Tensor reshaped = tensor.reshape(sizes);
      benchmark::DoNotOptimize(reshaped.raw_data());
    });
    add_reshape("view_and_clone", nbytes, [](const byre::Tensor& tensor, const byre::Dims& sizes) {
      const byre::Tensor view = tensor.view(sizes);
      const byre::Storage clone = view.storage().lazy_clone();
      benchmark::DoNotOptimize(clone.data());
    });
  }
}

}  // namespace byre_bench
