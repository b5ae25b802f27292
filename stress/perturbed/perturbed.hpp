// SPDX-License-Identifier: BSL-1.0
/// Perturbed: the Sync that ships, with a chance of a delay before and after every step, so that
/// windows of a few instructions stay open long enough for another thread to step into. When a
/// thread is delayed, and how, follows from its own seed alone.
#pragma once

#include <byre/sync/detail/boost_shared_mutex.hpp>
#include <byre/storage/detail/attachment_table.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/sync/sync.hpp>

#include <boost/random/taus88.hpp>

#include <chrono>
#include <cstdint>
#include <utility>

namespace byre::stress {

/// How often a thread is held up, and how. The chances are of one window, in [0, 1], and exclude
/// each other: together they are at most 1.
struct Perturbation {
  double yields = 0;                          ///< to whoever else is ready
  double pauses = 0;                          ///< of the processor, from 1 to most_pauses of them
  double sleeps = 0;                          ///< for up to longest_sleep
  double spurious = 0;                        ///< a compare-exchange fails, a sleeper wakes, for
                                              ///< no reason, as both may
  std::uint32_t most_pauses = 0;              ///< some 10 to 50 ns each
  std::chrono::microseconds longest_sleep{};  ///< the system adds some 50 us

  friend bool operator==(const Perturbation&, const Perturbation&) = default;
};

inline constexpr Perturbation no_perturbation{};

/// Mostly delays as long as the windows of the protocol; now and then one as long as a time slice.
inline constexpr Perturbation usual_perturbation{
    .yields = 0.02,
    .pauses = 0.1,
    .sleeps = 0.005,
    .spurious = 0.1,
    .most_pauses = 200,
    .longest_sleep = std::chrono::microseconds(100),
};

/// While it lives, the thread that made it is perturbed; then as it was before. Used by that thread
/// alone.
class Perturbs {
 public:
  /// Threads of one run have seeds of their own: seed_of_thread(). Throws std::invalid_argument for
  /// what is no chance.
  Perturbs(const Perturbation& perturbation, std::uint64_t seed);
  ~Perturbs();
  Perturbs(const Perturbs&) = delete;
  Perturbs& operator=(const Perturbs&) = delete;

  /// One of the steps that a thread does: at most a delay.
  void delay();
  /// Whether what may happen for no reason happens.
  bool is_spurious() { return draw() < spurious_; }
  /// Heads or tails.
  bool toss() { return draw() % 2 == 0; }

 private:
  /// 32 random bits.
  std::uint64_t draw() { return random_(); }
  [[gnu::cold, gnu::noinline]] void hold_up(std::uint64_t drawn);

  // Chances in units of 2^-32, each added to those before it.
  std::uint64_t yields_;
  std::uint64_t pauses_;
  std::uint64_t sleeps_;
  std::uint64_t spurious_;
  Perturbation perturbation_;
  boost::random::taus88 random_;
  Perturbs* before_;
};

/// A seed for each thread of a run.
constexpr std::uint64_t seed_of_thread(std::uint64_t seed, std::uint64_t thread) noexcept {
  constexpr std::uint64_t golden_ratio = 0x9E37'79B9'7F4A'7C15;
  return seed + (thread + 1) * golden_ratio;
}

/// How many delays the calling thread had so far: windows that were opened.
std::uint64_t delays_of_this_thread() noexcept;

namespace detail {

extern constinit thread_local Perturbs* this_threads_perturbs;

/// Before and after a step. After it, the object may be gone, and is not touched.
class Window {
 public:
  Window() noexcept { open(); }
  ~Window() { open(); }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

 private:
  static void open() noexcept {
    if (this_threads_perturbs != nullptr) {
      this_threads_perturbs->delay();
    }
  }
};

inline bool happens_for_no_reason() noexcept {
  return this_threads_perturbs != nullptr && this_threads_perturbs->is_spurious();
}

}  // namespace detail

/// Perturbs what runs on `Base`. Threads without a Perturbs run on Base as it is.
template <sync::Sync Base>
struct PerturbedOver : Base {
  template <class Value>
  class Atomic {
   public:
    constexpr explicit Atomic(Value value) noexcept : value_(value) {}

    Value load(sync::Step step) const noexcept {
      const detail::Window window;
      return value_.load(step);
    }
    void store(Value value, sync::Step step) noexcept {
      const detail::Window window;
      value_.store(value, step);
    }
    Value fetch_add(Value value, sync::Step step) noexcept {
      const detail::Window window;
      return value_.fetch_add(value, step);
    }
    Value fetch_sub(Value value, sync::Step step) noexcept {
      const detail::Window window;
      return value_.fetch_sub(value, step);
    }
    bool compare_exchange_weak(Value& expected, Value desired, sync::Step step) noexcept {
      const detail::Window window;
      // A failure learns what is there, at the cost of a load.
      if (detail::happens_for_no_reason()) {
        expected = value_.load({step.site, std::memory_order::relaxed});
        return false;
      }
      return value_.compare_exchange_weak(expected, desired, step);
    }

   private:
    typename Base::template Atomic<Value> value_;
  };

  /// A program of these has one object of each type; the library has none of a Sync that it does not know.
  template <class Object>
  static Object& no_destructor() noexcept {
    return sync::no_destructor<Object>();
  }

  class SharedMutex {
   public:
    void lock(sync::Step step) {
      const detail::Window window;
      mutex_.lock(step);
    }
    void unlock(sync::Step step) {
      const detail::Window window;
      mutex_.unlock(step);
    }
    void lock_shared(sync::Step step) {
      const detail::Window window;
      mutex_.lock_shared(step);
    }
    void unlock_shared(sync::Step step) {
      const detail::Window window;
      mutex_.unlock_shared(step);
    }

   private:
    typename Base::SharedMutex mutex_;
  };

  template <class Value>
  class Plain {
   public:
    constexpr explicit Plain(Value value) noexcept : value_(value) {}
    Value get() const noexcept {
      const detail::Window window;
      return value_.get();
    }
    void set(Value value) noexcept {
      const detail::Window window;
      value_.set(value);
    }

   private:
    typename Base::template Plain<Value> value_;
  };

  /// Delayed between the look and the sleep too: what is woken then must not be lost.
  template <class KeepWaiting>
  static void park(const void* address, KeepWaiting&& keep_waiting, sync::Step step) noexcept {
    const detail::Window window;
    if (detail::happens_for_no_reason()) {
      return;
    }
    Base::park(
        address,
        [&]() noexcept {
          const detail::Window before_sleep;
          return keep_waiting();
        },
        step);
  }
  static void unpark_all(const void* address, sync::Step step) noexcept {
    const detail::Window window;
    Base::unpark_all(address, step);
  }

  /// Every other look is the last one: real waits are short, and would hardly ever park.
  struct Looks {
    operator unsigned() const noexcept {
      Perturbs* const perturbs = detail::this_threads_perturbs;
      return perturbs != nullptr && perturbs->toss() ? 0 : Base::spin_limit;
    }
  };
  static constexpr Looks spin_limit{};
};

using Perturbed = PerturbedOver<sync::Boost>;

static_assert(sync::Sync<Perturbed>);

}  // namespace byre::stress
