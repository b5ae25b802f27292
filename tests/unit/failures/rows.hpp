// SPDX-License-Identifier: BSL-1.0
/// The functions of the API, each with a call of it that can be made again and again: the table of which
/// every_allocation_test.cpp makes every allocation fail. every_function_has_a_row.py holds it against what
/// the libraries export.
#pragma once

#include <byre/tensor/print.hpp>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "support/failing_new.hpp"

namespace byre::test {

/// One run of a row, with its allocation number `nth` failing, or none, alone or with all that follow. A row
/// prepares what it needs and then attempts one step.
class Attempt {
 public:
  Attempt(int nth, Failures failures, std::optional<std::string>& state_when_done)
      : nth_(nth), failures_(failures), state_when_done_(state_when_done) {}

  /// A step that throws leaves `state()` as it was, and works when it is tried again; one that is done has
  /// the state that it has where nothing fails.
  void operator()(
      const std::function<void()>& step,
      const std::function<std::string()>& state = [] { return std::string(); });

  /// Another one for each attempt, for names that are to be new.
  int number() const noexcept { return number_; }
  /// Whether none of its allocations failed.
  bool is_without_failure() const noexcept { return is_without_failure_; }

 private:
  static int next_number();

  const int nth_;
  const Failures failures_;
  const int number_ = next_number();
  std::optional<std::string>& state_when_done_;
  bool is_without_failure_ = false;
};

struct Row {
  const char* name;  ///< as the libraries export it, without `byre::`
  void (*run)(Attempt&);
};

std::span<const Row> rows_of_core();
std::span<const Row> rows_of_tiles();
std::span<const Row> rows_of_views();
std::span<const Row> rows_of_tensors();
std::span<const Row> rows_of_exchange();
std::span<const Row> rows_of_operators();
std::span<const Row> rows_of_texts();
std::span<const Row> rows_of_transforms();

/// With more dimensions than sizes are kept of in place: 0, 1, 2, ... of f32.
Tensor deep_tensor();

/// A step that throws an `Expected`, where it has the memory to say so.
template <class Expected, class Step>
void refused(const Step& step) {
  try {
    step();
  } catch (const Expected&) {
  }
}

// ---- what a result is, to be compared

inline std::string described(const std::string& text) {
  return text;
}
inline std::string described(const Tensor& tensor) {
  return to_string(tensor, {.type = true});
}
inline std::string described(const Dims& dims) {
  return to_string(dims);
}
inline std::string described(const Layout& layout) {
  return to_string(layout.sizes) + to_string(layout.strides) + std::to_string(layout.offset);
}
template <class Each>
std::string described(const std::vector<Each>& several) {
  std::string text;
  for (const Each& each : several) {
    text += described(each) + "\n";
  }
  return text;
}
template <class Held>
std::string described(const std::optional<Held>& held) {
  return held ? described(*held) : "nothing";
}

/// A row of what `Function`, a lambda that captures nothing, makes of a tensor, which it may write.
template <class Function>
Row of_tensor(const char* name, Function) {
  static_assert(std::is_empty_v<Function>);
  return {name, [](Attempt& attempt) {
            Tensor tensor = deep_tensor();
            std::optional<std::decay_t<decltype(Function()(tensor))>> result;
            attempt([&] { result.emplace(Function()(tensor)); },
                    [&] { return described(tensor) + described(result); });
          }};
}

/// The same of what needs no tensor.
template <class Function>
Row of_nothing(const char* name, Function) {
  static_assert(std::is_empty_v<Function>);
  return {name, [](Attempt& attempt) {
            std::optional<std::decay_t<decltype(Function()())>> result;
            attempt([&] { result.emplace(Function()()); }, [&] { return described(result); });
          }};
}

}  // namespace byre::test
