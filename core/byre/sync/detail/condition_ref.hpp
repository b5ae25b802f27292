// SPDX-License-Identifier: BSL-1.0
/// ConditionRef: what a thread asks under a lock of a table, to know whether it has to wait.
#pragma once

#include <memory>
#include <type_traits>

namespace byre::inline v0::sync::detail {

/// A reference to a condition, without ownership or allocation.
class ConditionRef {
 public:
  template <class Condition>
  explicit ConditionRef(Condition& condition) noexcept
      : condition_(std::addressof(condition)), call_([](const void* erased) {
          return static_cast<bool>((*static_cast<std::add_const_t<Condition>*>(erased))());
        }) {}

  bool operator()() const { return call_(condition_); }

 private:
  const void* condition_;
  bool (*call_)(const void*);
};

}  // namespace byre::inline v0::sync::detail
