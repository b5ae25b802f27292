// SPDX-License-Identifier: BSL-1.0
/// Faults: failures that are injected into a thread's calls of byre. An allocation, a copy or
/// operator new fails. Instead of a failure, further steps of the program may run in the middle of
/// a copy.
#pragma once

#include <byre/error/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <new>
#include <stdexcept>
#include <utility>

#include "trace.hpp"

namespace byre::programs {

/// What failed during a call. `heap` is operator new.
enum class Fault : std::uint8_t { none, allocation, copy, heap };

/// Thrown by a copy that fails because of an injected fault. Represents an error type that a user's
/// allocator defines.
struct CopyFailed : std::runtime_error {
  CopyFailed() : runtime_error("the copy was made to fail") {}
};

/// Used by one thread.
class Faults {
 public:
  /// Makes the operations of the kind `fault` fail `times` times, after `after` successes.
  void arm(Fault fault, int after, int times = 1) { of(fault) = {after, times}; }
  void disarm(Fault fault) { of(fault) = {}; }
  bool is_armed() const noexcept;
  std::size_t injected() const noexcept { return injected_; }

  /// Runs once, in the middle of the next copy by a TrackedAllocator.
  void arm_nested_steps(std::function<void()> steps) { nested_steps_ = std::move(steps); }
  /// Runs once in the next call, before its nested steps.
  std::function<void()> before_nested_steps;
  /// Runs once in the next call, when byre first calls operator new.
  std::function<void()> steps_in_new;

  /// The system may refuse memory for pages, so any call may throw OutOfMemory.
  bool system_may_fail = false;

  /// True if other threads use the pool, too. The pool may then call operator new to store a
  /// released block. It continues if operator new fails, so the call may succeed despite the fault.
  bool may_continue_without_heap = false;

  /// Calls byre and returns the fault that made the call fail. The call must throw the error of the
  /// injected fault, and must not throw without a fault. If `may_recover` is true, the call may
  /// succeed although memory was refused; the result is then Fault::none.
  template <class Call>
  Fault during(Call call, bool may_recover = false) {
    const auto outer = std::exchange(
        this_call_, {.before_nested_steps = std::exchange(before_nested_steps, nullptr),
                     .steps_in_new = std::exchange(steps_in_new, nullptr)});
    Fault thrown = Fault::none;
    {
      const AllowFailures may(*this);
      try {
        call();
      } catch (const OutOfMemory&) {
        thrown = Fault::allocation;
      } catch (const CopyFailed&) {
        thrown = Fault::copy;
      } catch (const std::exception& error) {
        fail("a call threw an error that no fault causes: %s", error.what());
      }
    }
    const ThisCall ended = std::exchange(this_call_, outer);
    copies_ = ended.copies;
    injected_ += ended.fault != Fault::none ? 1 : 0;
    if (thrown == Fault::allocation && ended.fault == Fault::heap) {
      thrown = Fault::heap;  // both throw OutOfMemory
    }
    const bool may_do = may_recover || (may_continue_without_heap && ended.fault == Fault::heap);
    const bool has_recovered = may_do && thrown == Fault::none && ended.fault != Fault::copy;
    const bool is_of_system = system_may_fail && thrown == Fault::allocation;
    if (thrown != ended.fault && !has_recovered && !is_of_system) {
      fail("fault %d was injected, but the call threw the error of fault %d", int(ended.fault),
           int(thrown));
    }
    trace(thrown != Fault::none ? "  which failed" : "  done");
    return thrown;
  }

  /// How many copies a TrackedAllocator completed in the last call.
  std::size_t copies() const noexcept { return copies_; }

  /// While such an object exists, no steps run in the middle of a copy. They would count a block
  /// that no value owns yet.
  class WithoutSteps {
   public:
    explicit WithoutSteps(Faults& faults) noexcept
        : faults_(faults), steps_(std::exchange(faults.nested_steps_, nullptr)) {}
    ~WithoutSteps() { faults_.nested_steps_ = std::move(steps_); }
    WithoutSteps(const WithoutSteps&) = delete;
    WithoutSteps& operator=(const WithoutSteps&) = delete;

   private:
    Faults& faults_;
    std::function<void()> steps_;
  };

  /// While such an object exists, operator new does not fail. It is for code of the test program
  /// that runs in the middle of a call.
  class Pause {
   public:
    Pause() noexcept : faults_(current()) {
      if (faults_ != nullptr) {
        faults_->stop_heap();
      }
    }
    ~Pause() {
      if (faults_ != nullptr) {
        faults_->start_heap();
      }
    }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    Faults* const faults_;
  };

  /// The faults of the call that this thread is making; null outside of calls.
  static Faults* current() noexcept;

  // For a TrackedAllocator in that call.

  /// True iff the fault is to happen now.
  bool fires(Fault fault);
  void run_nested_steps() {
    if (const auto steps = std::exchange(nested_steps_, nullptr)) {
      if (this_call_.before_nested_steps) {
        this_call_.before_nested_steps();
      }
      steps();
    }
  }
  void count_copy() noexcept { ++this_call_.copies; }

 private:
  static constexpr int never = std::numeric_limits<int>::max();

  struct Armed {
    int after = never;
    int times = 0;
  };
  struct ThisCall {
    Fault fault = Fault::none;
    std::size_t copies = 0;
    std::function<void()> before_nested_steps = nullptr;
    std::function<void()> steps_in_new = nullptr;
  };
  class AllowFailures {
   public:
    explicit AllowFailures(Faults& faults) noexcept;
    ~AllowFailures();

   private:
    Faults& faults_;
    Faults* const outer_;
  };

  Armed& of(Fault fault) { return armed_[static_cast<std::size_t>(fault)]; }
  void start_heap() noexcept;
  void stop_heap() noexcept;
  static void run_steps_in_new();

  std::array<Armed, 4> armed_;
  std::function<void()> nested_steps_;
  ThisCall this_call_;
  std::size_t copies_ = 0;
  std::size_t injected_ = 0;
};

}  // namespace byre::programs
