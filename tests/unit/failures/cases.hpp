// SPDX-License-Identifier: BSL-1.0
/// The table of API functions with a repeatable call of each. every_allocation_test.cpp makes every
/// allocation of these calls fail. every_function_has_a_case.py compares the table with the exports
/// of the libraries.
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

/// One run of a case. Allocation number `nth` fails, alone or with all later ones; if `nth` is
/// never_fails, no allocation fails. A case prepares its values, then attempts one step.
class Attempt {
 public:
  Attempt(int nth, Failures failures, bool retains_memory,
          std::optional<std::string>& state_when_done)
      : nth_(nth),
        failures_(failures),
        retains_memory_(retains_memory),
        state_when_done_(state_when_done) {}

  /// Runs `step`. If the step throws, `state()` must be unchanged and no memory leaked, and a
  /// second try must succeed. The state after success must be the state after a run without
  /// failures.
  void operator()(
      const std::function<void()>& step,
      const std::function<std::string()>& state = [] { return std::string(); });

  /// A number that is unique to each attempt, for names that must be new.
  int number() const noexcept { return number_; }
  /// Whether no allocation failed.
  bool is_without_failure() const noexcept { return is_without_failure_; }

 private:
  static int next_number();

  const int nth_;
  const Failures failures_;
  const bool retains_memory_;
  const int number_ = next_number();
  std::optional<std::string>& state_when_done_;
  bool is_without_failure_ = false;
};

struct Case {
  const char* name;  ///< the exported name, without `byre::`
  void (*run)(Attempt&);
  /// A failed step may retain memory for the next attempt: nodes of a table, or a file that a
  /// source maps already.
  bool retains_memory = false;
  /// A failed step allocates memory to undo its changes. Therefore only one allocation per attempt
  /// is made to fail.
  bool allocates_to_undo = false;
};
inline Case retaining_memory(Case given) {
  given.retains_memory = true;
  return given;
}

std::span<const Case> storage_cases();
std::span<const Case> c_cases();
std::span<const Case> report_cases();
std::span<const Case> tensor_cases();
std::span<const Case> exchange_cases();
std::span<const Case> process_cases();
std::span<const Case> operator_cases();
std::span<const Case> program_cases();
std::span<const Case> graph_cases();

/// Sizes, axes and indices that exceed the inline capacity of Dims: copying them allocates.
inline const Dims deep_sizes{1, 2, 1, 2, 1, 3};
inline const Dims two_elements{1, 1, 1, 1, 1, 2};
inline const Dims twelve_elements{1, 1, 1, 1, 1, 12};
inline const Dims all_elements{1, 1, 1, 1, 1, -1};
inline const Dims all_axes{0, 1, 2, 3, 4, 5};
inline const Dims reversed_axes{5, 4, 3, 2, 1, 0};
inline const Dims last_element{0, 1, 0, 1, 0, 2};
inline const Dims last_steps{0, 0, 0, 0, 0, 1};
inline const Dims sevens{7, 2, 7, 2, 7, 3};

/// A tensor of deep_sizes with the elements 0, 1, 2, ... of dtype f32.
Tensor deep_tensor();

/// Runs a step that throws `Expected`, and catches it. Without memory for the message, the step
/// throws OutOfMemory instead.
template <class Expected, class Step>
void catch_refusal(const Step& step) {
  try {
    step();
  } catch (const Expected&) {
  }
}

// ---- results as text, for comparison

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

/// A case: `Make` prepares a value; `Step` may change it and return a result. Both are lambdas
/// without captures. A step that throws leaves the value unchanged. The value and the result are
/// compared as described() prints them.
template <class Make, class Step>
Case value_case(const char* name, Make, Step) {
  static_assert(std::is_empty_v<Make> && std::is_empty_v<Step>);
  return {name, [](Attempt& attempt) {
            auto made = Make()();
            using Result = decltype(Step()(made));
            if constexpr (std::is_void_v<Result>) {
              attempt([&] { Step()(made); }, [&] { return described(made); });
            } else {
              std::optional<std::decay_t<Result>> result;
              attempt([&] { result.emplace(Step()(made)); },
                      [&] { return described(made) + described(result); });
            }
          }};
}

/// A case: `Step` uses a tensor of deep_sizes.
template <class Step>
Case tensor_case(const char* name, Step step) {
  return value_case(
      name, [] { return deep_tensor(); }, step);
}

/// A value to print. Only the printed text is compared.
template <class Held>
struct Printed {
  Held held;
};
template <class Held>
std::string described(const Printed<Held>&) {
  return "";
}
/// A case: `Print` returns, as text, the value that `Make` prepares.
template <class Make, class Print>
Case text_case(const char* name, Make, Print) {
  return value_case(
      name, [] { return Printed<decltype(Make()())>{Make()()}; },
      [](auto& printed) { return Print()(printed.held); });
}

/// A case: `Function` takes no value.
template <class Function>
Case call_case(const char* name, Function) {
  static_assert(std::is_empty_v<Function>);
  return value_case(
      name, [] { return std::string(); }, [](const std::string&) { return Function()(); });
}

/// A case: `Step` throws `Expected`.
template <class Expected, class Step>
Case refusal_case(const char* name, Step) {
  return call_case(name, [] {
    catch_refusal<Expected>(Step());
    return std::string();
  });
}

}  // namespace byre::test
