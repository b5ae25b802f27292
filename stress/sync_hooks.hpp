// SPDX-License-Identifier: BSL-1.0
/// Hooked: a Sync (the template parameter that provides byre's atomic operations) that calls a hook
/// before and after each step of another Sync.
#pragma once

#include <byre/sync/detail/no_destructor.hpp>
#include <byre/sync/sync.hpp>

namespace byre::stress {

/// Each atomic and plain variable contains a `Hook`. Hooked constructs `Hook::Scope(hook, name)`
/// before each step on the variable, and destroys the scope after the step. Another thread may have
/// destroyed the variable by then, so the destructor of a scope must not access the hook.
template <sync::Sync Base, class Hook>
struct Hooked : Base {
  template <class Value>
  class Atomic {
   public:
    constexpr explicit Atomic(Value value) noexcept : value_(value) {}

    Value load(sync::Step step) const noexcept {
      const Scope scope(hook_, step.site->name);
      return value_.load(step);
    }
    void store(Value value, sync::Step step) noexcept {
      const Scope scope(hook_, step.site->name);
      value_.store(value, step);
    }
    Value exchange(Value value, sync::Step step) noexcept {
      const Scope scope(hook_, step.site->name);
      return value_.exchange(value, step);
    }
    Value fetch_add(Value value, sync::Step step) noexcept {
      const Scope scope(hook_, step.site->name);
      return value_.fetch_add(value, step);
    }
    Value fetch_sub(Value value, sync::Step step) noexcept {
      const Scope scope(hook_, step.site->name);
      return value_.fetch_sub(value, step);
    }
    bool compare_exchange_weak(Value& expected, Value desired, sync::Step step) noexcept {
      const Scope scope(hook_, step.site->name);
      return value_.compare_exchange_weak(expected, desired, step);
    }

   private:
    typename Base::template Atomic<Value> value_;
    [[no_unique_address]] Hook hook_;
  };

  template <class Value>
  class Plain {
   public:
    constexpr explicit Plain(Value value) noexcept : value_(value) {}

    Value get() const noexcept {
      const Scope scope(hook_, "a read of plain data");
      return value_.get();
    }
    void set(Value value) noexcept {
      const Scope scope(hook_, "a write of plain data");
      value_.set(value);
    }

   private:
    typename Base::template Plain<Value> value_;
    [[no_unique_address]] Hook hook_;
  };

  /// The objects are defined in this program, because the library defines them only for
  /// sync::Default.
  template <class Object>
  static Object& no_destructor() noexcept {
    return sync::no_destructor<Object>();
  }

 private:
  using Scope = typename Hook::Scope;
};

}  // namespace byre::stress
