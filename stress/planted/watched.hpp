// SPDX-License-Identifier: BSL-1.0
/// Watched: a Sync whose objects know whether they are alive, so that a step on released memory is
/// seen when it is done, and by its name, where it would often do no visible harm.
#pragma once

#include <byre/sync/detail/no_destructor.hpp>
#include <byre/sync/sync.hpp>

#include <boost/atomic/atomic.hpp>

#include <cstdint>
#include <string_view>

namespace byre::stress::planted {

/// Called by who finds itself at a step on released memory, which is said.
[[noreturn]] void trespass(std::string_view step) noexcept;

/// Part of what is watched. Memory that is released is overwritten, and stays so for the round.
class Alive {
 public:
  constexpr Alive() noexcept : mark_(alive) {}

  void expect(std::string_view step) const noexcept {
    // Relaxed: who sees it too late would have been seen in another round.
    if (mark_.load(boost::memory_order_relaxed) != alive) [[unlikely]] {
      trespass(step);
    }
  }
  void expect(const sync::Step& step) const noexcept { expect(step.site->name); }

 private:
  static constexpr std::uint64_t alive = 0xA11F'E000'0000'A11F;

  boost::atomic<std::uint64_t> mark_;
};

/// Over `Base`. Looks before a step only: after it, the object may be gone by right.
template <sync::Sync Base>
struct Watched : Base {
  template <class Value>
  class Atomic {
   public:
    constexpr explicit Atomic(Value value) noexcept : value_(value) {}

    Value load(sync::Step step) const noexcept {
      alive_.expect(step);
      return value_.load(step);
    }
    void store(Value value, sync::Step step) noexcept {
      alive_.expect(step);
      value_.store(value, step);
    }
    Value fetch_add(Value value, sync::Step step) noexcept {
      alive_.expect(step);
      return value_.fetch_add(value, step);
    }
    Value fetch_sub(Value value, sync::Step step) noexcept {
      alive_.expect(step);
      return value_.fetch_sub(value, step);
    }
    bool compare_exchange_weak(Value& expected, Value desired, sync::Step step) noexcept {
      alive_.expect(step);
      return value_.compare_exchange_weak(expected, desired, step);
    }

   private:
    typename Base::template Atomic<Value> value_;
    Alive alive_;
  };

  /// A program of these has one object of each type; the library has none of a Sync that it does not know.
  template <class Object>
  static Object& no_destructor() noexcept {
    return sync::no_destructor<Object>();
  }

  class SharedMutex {
   public:
    void lock(sync::Step step) {
      alive_.expect(step);
      mutex_.lock(step);
    }
    void unlock(sync::Step step) {
      alive_.expect(step);
      mutex_.unlock(step);
    }
    void lock_shared(sync::Step step) {
      alive_.expect(step);
      mutex_.lock_shared(step);
    }
    void unlock_shared(sync::Step step) {
      alive_.expect(step);
      mutex_.unlock_shared(step);
    }

   private:
    typename Base::SharedMutex mutex_;
    Alive alive_;
  };

  template <class Value>
  class Plain {
   public:
    constexpr explicit Plain(Value value) noexcept : value_(value) {}

    Value get() const noexcept {
      alive_.expect("a read of plain data");
      return value_.get();
    }
    void set(Value value) noexcept {
      alive_.expect("a write of plain data");
      value_.set(value);
    }

   private:
    typename Base::template Plain<Value> value_;
    Alive alive_;
  };
};

}  // namespace byre::stress::planted
