// SPDX-License-Identifier: BSL-1.0
/// Access to the elements of a tensor that no reshape met, and what it costs that one might have: the
/// same access to a view that nobody watches, in the mode of copies and in the one that warns. And of a
/// tensor that is tracked, whose families agree; also where each write is at another line than the last.
#include "harness.hpp"

#include <byre/tensor/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

namespace byre_bench {
namespace {

using byre::shadow::ReshapeMode;
using byre::shadow::ReshapeModeScope;

constexpr std::size_t tracked_per_burst = 4096;
constexpr std::size_t tracked_nbytes = 64;

/// What a tensor looks at to find its elements, without shadow storages.
class PlainView {
 public:
  explicit PlainView(const byre::Tensor& tensor)
      : base_(std::make_unique<Base>(Base{tensor.layout(), tensor.storage(), tensor.dtype()})) {}

  const std::uint8_t* data() const {
    const Base& base = expect_base();
    const std::byte* const first = base.storage.data();
    if (base.dtype != byre::DType::u8 || first == nullptr) [[unlikely]] {
      std::abort();
    }
    return reinterpret_cast<const std::uint8_t*>(first) + offset();
  }
  std::uint8_t* mutable_data() {
    Base& base = expect_base();
    if (base.dtype != byre::DType::u8 || std::as_const(base.storage).data() == nullptr)
        [[unlikely]] {
      std::abort();
    }
    return reinterpret_cast<std::uint8_t*>(base.storage.mutable_data()) + offset();
  }

 private:
  struct Base {
    byre::Layout layout;
    byre::Storage storage;
    byre::DType dtype;
  };
  Base& expect_base() const {
    if (base_ == nullptr) [[unlikely]] {
      std::abort();
    }
    return *base_;
  }
  std::size_t offset() const {
    return static_cast<std::size_t>(base_->layout.offset) * byre::itemsize(base_->dtype);
  }

  std::unique_ptr<Base> base_;
};

struct Tracked {
  byre::Tensor tensor;
  const std::uint8_t* data() const { return tensor.data<std::uint8_t>(); }
  std::uint8_t* mutable_data() { return tensor.mutable_data<std::uint8_t>(); }
};

/// Written at one line and another in turn. No pointer leaves, which would cost more.
double write_at_two_lines(byre::Tensor& tensor) {
  return timed_ns([&] {
    for (std::size_t i = 0; i < tracked_per_burst; i += 2) {
      const auto value = static_cast<std::uint8_t>(i);
      tensor.set_at<std::uint8_t>({0, 0}, value);
      benchmark::ClobberMemory();
      tensor.set_at<std::uint8_t>({0, 0}, value);
      benchmark::ClobberMemory();
    }
  });
}
double write_at_one_line(byre::Tensor& tensor) {
  return timed_ns([&] {
    for (std::size_t i = 0; i < tracked_per_burst; ++i) {
      tensor.set_at<std::uint8_t>({0, 0}, static_cast<std::uint8_t>(i));
      benchmark::ClobberMemory();
    }
  });
}

template <class View>
double read_bytes(const View& view) {
  std::size_t sum = 0;
  const double ns = timed_ns([&] {
    for (std::size_t i = 0; i < tracked_per_burst; ++i) {
      sum += view.data()[i % tracked_nbytes];
      benchmark::ClobberMemory();
    }
    benchmark::DoNotOptimize(sum);
  });
  return ns;
}

template <class View>
double write_bytes(View& view) {
  return timed_ns([&] {
    for (std::size_t i = 0; i < tracked_per_burst; ++i) {
      view.mutable_data()[i % tracked_nbytes] = static_cast<std::uint8_t>(i);
      benchmark::ClobberMemory();
    }
  });
}

template <class View>
void run(benchmark::State& state, View view, bool write) {
  benchmark::DoNotOptimize(&view);
  run_bursts(state, tracked_per_burst,
             [&](std::size_t) { return write ? write_bytes(view) : read_bytes(view); });
}

byre::Tensor a_tensor() {
  return byre::Tensor::zeros({tracked_nbytes}, byre::DType::u8);
}

void add_in_mode(const char* operation, const char* contender, ReshapeMode mode, bool write) {
  add({operation, tracked_nbytes}, contender, [=](benchmark::State& state) {
    const ReshapeModeScope scope(mode);
    run(state, Tracked{a_tensor()}, write);
  });
}

void add_set(const char* contender, double (*write)(byre::Tensor&)) {
  add({"tensor_set", tracked_nbytes}, contender, [=](benchmark::State& state) {
    const ReshapeModeScope scope(ReshapeMode::warn);
    const byre::Tensor tensor = a_tensor();
    byre::Tensor reshaped = tensor.reshape({tracked_nbytes / 2, 2});
    run_bursts(state, tracked_per_burst, [&](std::size_t) { return write(reshaped); });
  });
}

}  // namespace

void add_tracked_access() {
  for (const bool write : {false, true}) {
    const char* const operation = write ? "tensor_write" : "tensor_read";
    add({operation, tracked_nbytes}, "plain",
        [=](benchmark::State& state) { run(state, PlainView(a_tensor()), write); });
    add_in_mode(operation, "copy", ReshapeMode::copy, write);
    add_in_mode(operation, "warn", ReshapeMode::warn, write);
    add({operation, tracked_nbytes}, "tracked", [=](benchmark::State& state) {
      const ReshapeModeScope scope(ReshapeMode::warn);
      const byre::Tensor tensor = a_tensor();
      run(state, Tracked{tensor.reshape({tracked_nbytes / 2, 2})}, write);
    });
  }
  add_set("tracked", &write_at_one_line);
  add_set("tracked_lines", &write_at_two_lines);
}

}  // namespace byre_bench
