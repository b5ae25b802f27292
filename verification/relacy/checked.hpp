// SPDX-License-Identifier: BSL-1.0
/// Checked is a `Sync` (the template parameter that gives core's lock-free code its atomics, locks
/// and waits) that uses Relacy's types. The shipped templates run on it unchanged. At every step
/// the scheduler may switch threads, a load may return any value that C++ allows, and plain data is
/// watched for races.
#pragma once

#include <byre/sync/sync.hpp>

#include "checked_mutex.hpp"
#include "step.hpp"

namespace byre::verification {

struct Checked {
  template <class Value>
  class Atomic {
   public:
    explicit Atomic(Value value) {
      // Initialization is not a step: no other thread can access the object yet.
      rl::ctx().disable_preemption();
      value_.store(value, rl::mo_relaxed, {});
      rl::ctx().enable_preemption();
    }
    ~Atomic() { steps_ahead.end(this); }
    Atomic(const Atomic&) = delete;
    Atomic& operator=(const Atomic&) = delete;

    Value load(sync::Step step, CallSite where = CallSite::current()) const {
      StepScope scope(step, sync::Operation::load, this, "reads", where);
      const Value value = value_.load(scope.relacy_order(), scope.info());
      scope.record_value(value);
      return value;
    }

    void store(Value value, sync::Step step, CallSite where = CallSite::current()) {
      StepScope scope(step, sync::Operation::store, this, "stores", where);
      if (scope.change() != Change::left_out) {
        value = changed(value, scope);
        value_.store(value, scope.relacy_order(), scope.info());
        scope.record_value(value);
      }
    }

    Value exchange(Value value, sync::Step step, CallSite where = CallSite::current()) {
      StepScope scope(step, sync::Operation::exchange, this, "exchanges", where);
      value = changed(value, scope);
      switch (scope.change()) {
        case Change::left_out:
          return value_.load(rl::mo_relaxed, scope.info());
        case Change::plain: {
          const Value before = value_.load(of_load(scope.order()), scope.info());
          scope.let_others_run();
          value_.store(value, of_store(scope.order()), scope.info());
          return before;
        }
        default:
          break;
      }
      const Value before = value_.exchange(value, scope.relacy_order(), scope.info());
      scope.record_value(value, "becomes");
      return before;
    }

    Value fetch_add(Value value, sync::Step step, CallSite where = CallSite::current()) {
      StepScope scope(step, sync::Operation::fetch_add, this, "adds", where);
      return add(changed(value, scope), scope);
    }

    Value fetch_sub(Value value, sync::Step step, CallSite where = CallSite::current()) {
      StepScope scope(step, sync::Operation::fetch_sub, this, "subtracts", where);
      return add(static_cast<Value>(Value{0} - changed(value, scope)), scope);
    }

    bool compare_exchange_weak(Value& expected, Value desired, sync::Step step,
                               CallSite where = CallSite::current()) {
      StepScope scope(step, sync::Operation::compare_exchange, this, "compares and exchanges",
                      where);
      desired = changed(desired, scope);
      if (scope.change() == Change::left_out) {
        return true;
      }
      if (scope.change() == Change::plain) {
        return exchange_in_two_steps(expected, desired, scope);
      }
      const bool done = value_.compare_exchange(rl::bool_t<true>(), expected, desired,
                                                scope.relacy_order(), rl::mo_relaxed, scope.info());
      scope.record_value(done ? desired : expected, done ? "becomes" : "exchange fails, reads");
      if (!done) {
        steps_ahead.change_nothing();
      }
      return done;
    }

   private:
    static Value changed(Value operand, const StepScope& scope) noexcept {
      switch (scope.change()) {
        case Change::plus_one:
          return static_cast<Value>(operand + 1);
        case Change::minus_one:
          return static_cast<Value>(operand - 1);
        default:
          return operand;
      }
    }

    /// The order of the load and of the store when a mutant splits a read-modify-write.
    static rl::memory_order of_load(std::memory_order order) noexcept {
      const bool acquires =
          order != std::memory_order::relaxed && order != std::memory_order::release;
      return acquires ? rl::mo_acquire : rl::mo_relaxed;
    }
    static rl::memory_order of_store(std::memory_order order) noexcept {
      const bool releases =
          order != std::memory_order::relaxed && order != std::memory_order::acquire;
      return releases ? rl::mo_release : rl::mo_relaxed;
    }

    Value add(Value value, StepScope& scope) {
      if (scope.change() == Change::left_out) {
        return value_.load(rl::mo_relaxed, scope.info());
      }
      if (scope.change() == Change::plain) {
        const Value before = value_.load(of_load(scope.order()), scope.info());
        scope.let_others_run();
        value_.store(static_cast<Value>(before + value), of_store(scope.order()), scope.info());
        return before;
      }
      const Value before = value_.fetch_add(value, scope.relacy_order(), scope.info());
      scope.record_value(static_cast<Value>(before + value), "becomes");
      return before;
    }

    bool exchange_in_two_steps(Value& expected, Value desired, StepScope& scope) {
      const Value now = value_.load(of_load(scope.order()), scope.info());
      if (now != expected) {
        expected = now;
        return false;
      }
      scope.let_others_run();
      value_.store(desired, of_store(scope.order()), scope.info());
      return true;
    }

    rl::atomic<Value> value_;
  };

  using SharedMutex = CheckedMutex;
  using ProcessMutex = CheckedMutex;

  /// Data that is watched for races. Its destruction counts as a write, so freeing it has to happen
  /// after all reads.
  template <class Value>
  class Plain {
   public:
    Plain() = default;
    explicit Plain(Value value) : value_(Stored(value)) {}
    ~Plain() {
      record_event(this, CallSite::current(), "destroyed");
      value_({}).store(Stored{});
    }
    Plain(const Plain&) = delete;
    Plain& operator=(const Plain&) = delete;

    Value get(CallSite where = CallSite::current()) const {
      // recorded first, since the load may fail the execution
      TraceEntry* const entry = record_event(this, where, "reads");
      const Stored value = value_(to_relacy(where)).load();
      show(entry, "reads", value);
      return Value(value);
    }
    void set(Value value, CallSite where = CallSite::current()) {
      show(record_event(this, where, "writes"), "writes", Stored(value));
      value_(to_relacy(where)).store(Stored(value));
    }

   private:
    /// Relacy prints the values that it stores, so enums are stored as integers.
    using Stored = typename std::conditional_t<std::is_enum_v<Value>, std::underlying_type<Value>,
                                               std::type_identity<Value>>::type;

    static void show(TraceEntry* entry, const char* verb, Stored value) noexcept {
      if constexpr (std::is_integral_v<Stored>) {
        if (entry != nullptr) {
          format_value(entry->text, verb, nullptr, value);
        }
      }
    }

    rl::var<Stored> value_;
  };

  template <class KeepWaiting>
  static void park(const void* address, KeepWaiting&& keep_waiting, sync::Step step,
                   CallSite where = CallSite::current()) noexcept {
    StepScope scope(step, sync::Operation::park, address, "parks", where);
    scope.notify_observer();
    if (scope.change() == Change::left_out) {
      return;
    }
    Execution& execution = Execution::current();
    ModelLock& bucket = execution.bucket_of(address);
    bucket.pass_through();
    if (keep_waiting() && !execution.returns_spuriously()) {
      bucket.pass_through();
      scope.before_blocking();
      execution.wait_at(address, where);
      bucket.pass_through();
    }
  }

  static void unpark_all(const void* address, sync::Step step,
                         CallSite where = CallSite::current()) noexcept {
    StepScope scope(step, sync::Operation::unpark, address, "unparks", where);
    scope.notify_observer();
    if (scope.change() != Change::left_out) {
      Execution& execution = Execution::current();
      execution.bucket_of(address).pass_through();
      execution.unpark_all(address, where);
    }
  }

  /// 0 by default, since a spin only repeats a load. One scenario sets this limit to 1.
  static inline unsigned spin_limit = 0;

  static void pause() noexcept {
    ExceptionStateGuard exceptions;
    rl::ctx().yield(1, {});
  }

  /// The value of a constant of the code under test, or the wrong value if the active mutant
  /// changes the constant.
  struct Number {
    const sync::Constant* constant;

    operator std::uint64_t() const noexcept {
      return active_mutation.constant != constant ? constant->value : read_wrong_constant();
    }
  };
  static consteval Number value_of(const sync::Constant& constant) noexcept { return {&constant}; }

  template <class Object>
  static Object& no_destructor() noexcept {
    return Execution::current().no_destructor<Object>();
  }

  static std::uint32_t process_number() noexcept { return 0; }
};

static_assert(sync::Sync<Checked>);

}  // namespace byre::verification
