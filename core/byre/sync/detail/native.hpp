// SPDX-License-Identifier: BSL-1.0
/// Native: a Sync (sync.hpp) for programs, over the atomics of a library. The seams that ship
/// (boost.hpp, standard.hpp, single_thread.hpp) differ only in these atomics, and in the locks that
/// detail/locks.hpp selects. Sites and constants are resolved at compile time and cost nothing.
#pragma once

#include <byre/config.hpp>
#include <byre/sync/detail/parking_lot.hpp>
#include <byre/sync/detail/process_state.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>

namespace byre::inline BYRE_ABI::sync {

class ProcessMutex;
class SharedMutex;

namespace detail {

/// The only object of its type in this process. Each `object` is defined in a source file, because
/// a header would define one in every library that includes it.
template <class Object>
struct BYRE_API Singleton {
  static Object object;
};

/// `Atomics::Atomic` has the interface of std::atomic, except that its memory orders are those
/// which `Atomics::order()` returns.
template <class OfLibrary>
struct Native {
  using Atomics = OfLibrary;

  /// Always inline: in a large file a compiler may reach its limit of inlining, and each step would
  /// then be a call that switches over the order at run time.
  template <class Value>
  class Atomic {
   public:
    constexpr explicit Atomic(Value value) noexcept : value_(value) {}

    [[gnu::always_inline]] Value load(Step step) const noexcept {
      return value_.load(Atomics::order(step.order));
    }
    [[gnu::always_inline]] void store(Value value, Step step) noexcept {
      value_.store(value, Atomics::order(step.order));
    }
    [[gnu::always_inline]] Value exchange(Value value, Step step) noexcept {
      return value_.exchange(value, Atomics::order(step.order));
    }
    [[gnu::always_inline]] Value fetch_add(Value value, Step step) noexcept {
      return value_.fetch_add(value, Atomics::order(step.order));
    }
    [[gnu::always_inline]] Value fetch_sub(Value value, Step step) noexcept {
      return value_.fetch_sub(value, Atomics::order(step.order));
    }
    [[gnu::always_inline]] bool compare_exchange_weak(Value& expected, Value desired,
                                                      Step step) noexcept {
      return value_.compare_exchange_weak(expected, desired, Atomics::order(step.order),
                                          Atomics::order(std::memory_order::relaxed));
    }

   private:
    // On 32-bit machines the share word is larger than a pointer, and some of these machines have
    // no lock-free atomics of that size.
    static_assert(sizeof(Value) > sizeof(void*) ||
                      Atomics::template Atomic<Value>::is_always_lock_free,
                  "an atomic of at most the size of a pointer must be lock-free");

    typename Atomics::template Atomic<Value> value_;
  };

  /// Defined in detail/mutex.hpp, because no API needs a lock and the libraries' locks compile
  /// slowly.
  using SharedMutex = sync::SharedMutex;
  using ProcessMutex = sync::ProcessMutex;

  template <class Value>
  class Plain {
   public:
    constexpr explicit Plain(Value value) noexcept : value_(value) {}
    Value get() const noexcept { return value_; }
    void set(Value value) noexcept { value_ = value; }

   private:
    Value value_;
  };

  template <class KeepWaiting>
  static void park(const void* address, KeepWaiting&& keep_waiting, Step) noexcept {
    detail::park(address, keep_waiting);
  }
  static void unpark_all(const void* address, Step) noexcept { detail::unpark_all(address); }

  /// The number of loads before a waiter parks. They take a few microseconds, which is about the
  /// cost of parking and waking.
  static constexpr unsigned spin_limit = 128;

  static void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm("isb");  // takes about as long as `pause` on x86; `yield` is a no-op
#endif
  }

  static consteval std::uint64_t value_of(const Constant& constant) noexcept {
    return constant.value;
  }

  template <class Object>
  static Object& no_destructor() noexcept {
    return Singleton<Object>::object;
  }

  static std::uint32_t process_number() noexcept {
    return detail::process_number;
  }
};

}  // namespace detail
}  // namespace byre::inline BYRE_ABI::sync
