// SPDX-License-Identifier: BSL-1.0
/// A history: the operations of several threads on shared objects, each with its start, its end and
/// its result. Threads record a history while it runs; search.hpp checks it afterwards.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace byre::stress::histories {

using Tick = std::uint32_t;

/// A specification defines the meaning of `kind` and of the numbers.
struct Operation {
  Tick start = 0;
  Tick end = 0;
  std::uint8_t thread = 0;
  std::uint8_t object = 0;  ///< the object that it uses
  std::uint8_t kind = 0;
  std::uint8_t argument = 0;
  std::uint8_t other_argument = 0;
  std::uint8_t result = 0;
  std::uint8_t other_result = 0;
};

/// The order of starts and ends in all threads: a counter, which each operation increments before
/// its first step and after its last step.
///
/// A history is sound if end(a) < start(b) only if a happens before b; then b has to observe a.
/// The increments of one counter have a total order, and each reads the result of the previous one.
/// So if the end of a precedes the start of b, the increments between them form a release sequence,
/// the start of b synchronizes with the end of a, and a happens before b. Two operations whose
/// intervals overlap may in fact have run one after the other, which only makes the check more
/// permissive.
///
/// The time stamp counter of the processor would disturb the schedules less. But C++ orders no
/// operation with a read of it, and not every machine has counters that agree on all processors.
class Clock {
 public:
  Tick tick() noexcept {
    // Release and acquire pair with each other: see above. The counter orders only operations that
    // do not overlap; it cannot hide a missing order between two that do.
    return now_.fetch_add(1, std::memory_order_acq_rel);
  }

 private:
  std::atomic<Tick> now_{1};
};

/// The operations of one thread. It does not allocate while the thread runs.
class Log {
 public:
  static constexpr std::size_t capacity = 16;

  Log() { operations_.reserve(capacity); }

  void begin(Clock& clock, std::uint8_t thread) noexcept {
    operations_.clear();
    clock_ = &clock;
    thread_ = thread;
  }
  /// Runs `act` as the next operation, and returns its result. Requires that fewer than `capacity`
  /// operations are logged.
  template <class Act>
  auto run(Operation operation, Act act) {
    operation.thread = thread_;
    operation.start = clock_->tick();
    if constexpr (std::is_void_v<decltype(act())>) {
      act();
      operation.end = clock_->tick();
      operations_.push_back(operation);
    } else {
      auto result = act();
      operation.end = clock_->tick();
      operations_.push_back(operation);
      return result;
    }
  }
  /// The last operation, for its results.
  Operation& last() noexcept { return operations_.back(); }
  const std::vector<Operation>& operations() const noexcept { return operations_; }

 private:
  std::vector<Operation> operations_;
  Clock* clock_ = nullptr;
  std::uint8_t thread_ = 0;
};

/// Operations that overlap an operation of another thread.
inline std::size_t overlapping(const std::vector<Operation>& history) noexcept {
  std::size_t count = 0;
  for (const Operation& each : history) {
    for (const Operation& other : history) {
      if (each.thread != other.thread && each.start < other.end && other.start < each.end) {
        ++count;
        break;
      }
    }
  }
  return count;
}

}  // namespace byre::stress::histories
