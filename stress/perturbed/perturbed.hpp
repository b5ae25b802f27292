// SPDX-License-Identifier: BSL-1.0
/// Perturbed: the Sync that ships, with a chance of a delay before and after every step. Windows of a
/// few instructions stay open until another thread steps into them. A thread's delays follow from its
/// own seed alone.
#pragma once

#include <byre/sync/boost.hpp>

#include <boost/random/taus88.hpp>

#include <chrono>
#include <cstdint>
#include <utility>

namespace byre::stress {

/// How often a thread is delayed, and for how long. The chances are per window, in [0, 1], and exclude
/// each other: their sum is at most 1.
struct Perturbation {
  double yields = 0;                          ///< of the time slice
  double pauses = 0;                          ///< of the processor, from 1 to most_pauses of them
  double sleeps = 0;                          ///< for up to longest_sleep
  double spurious = 0;                        ///< failures of a compare-exchange, and wakes of a
                                              ///< sleeper
  std::uint32_t most_pauses = 0;              ///< some 10 to 50 ns each
  std::chrono::microseconds longest_sleep{};  ///< the system adds some 50 us

  friend bool operator==(const Perturbation&, const Perturbation&) = default;
};

inline constexpr Perturbation no_perturbation{};

/// Most delays are as long as the protocol's windows; a few are as long as a time slice.
inline constexpr Perturbation usual_perturbation{
    .yields = 0.02,
    .pauses = 0.1,
    .sleeps = 0.005,
    .spurious = 0.1,
    .most_pauses = 200,
    .longest_sleep = std::chrono::microseconds(100),
};

/// Perturbs the thread that constructed it, until it is destroyed. Scopes nest. Only that thread uses it.
class ScopedPerturbation {
 public:
  /// Each thread of a run has its own seed: seed_of_thread(). Throws std::invalid_argument for a number
  /// that is no chance.
  ScopedPerturbation(const Perturbation& perturbation, std::uint64_t seed);
  ~ScopedPerturbation();
  ScopedPerturbation(const ScopedPerturbation&) = delete;
  ScopedPerturbation& operator=(const ScopedPerturbation&) = delete;

  /// Delays the thread, or does nothing, by chance.
  void delay();
  /// Whether a step that may fail or end spuriously does.
  bool is_spurious() { return draw() < spurious_; }
  /// Heads or tails.
  bool toss() { return draw() % 2 == 0; }

 private:
  /// 32 random bits.
  std::uint64_t draw() { return random_(); }
  [[gnu::cold, gnu::noinline]] void delay_as_drawn(std::uint64_t drawn);

  // Chances in units of 2^-32, each added to those before it.
  std::uint64_t yields_;
  std::uint64_t pauses_;
  std::uint64_t sleeps_;
  std::uint64_t spurious_;
  Perturbation perturbation_;
  boost::random::taus88 random_;
  ScopedPerturbation* outer_;
};

/// A seed for each thread of a run.
constexpr std::uint64_t seed_of_thread(std::uint64_t seed, std::uint64_t thread) noexcept {
  constexpr std::uint64_t golden_ratio = 0x9E37'79B9'7F4A'7C15;
  return seed + (thread + 1) * golden_ratio;
}

/// How many delays the calling thread has had so far.
std::uint64_t delays_of_this_thread() noexcept;

namespace detail {

extern constinit thread_local ScopedPerturbation* current_perturbation;

/// A chance of a delay before and after a step.
class Window {
 public:
  Window() noexcept { open(); }
  ~Window() { open(); }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

 private:
  static void open() noexcept {
    if (current_perturbation != nullptr) {
      current_perturbation->delay();
    }
  }
};

struct WindowHook {
  struct Scope : Window {
    Scope(const WindowHook&, const char*) noexcept {}
  };
};

inline bool fails_spuriously() noexcept {
  return current_perturbation != nullptr && current_perturbation->is_spurious();
}

}  // namespace detail

/// Perturbs what runs on `Base`. A thread without a ScopedPerturbation runs on Base as it is.
template <sync::Sync Base>
struct PerturbedOver : Hooked<Base, detail::WindowHook> {
  template <class Value>
  class Atomic : public Hooked<Base, detail::WindowHook>::template Atomic<Value> {
    using Whole = typename Hooked<Base, detail::WindowHook>::template Atomic<Value>;

   public:
    using Whole::Whole;

    bool compare_exchange_weak(Value& expected, Value desired, sync::Step step) noexcept {
      // A failure loads the current value, as a real one does.
      if (detail::fails_spuriously()) {
        expected = Whole::load({step.site, std::memory_order::relaxed});
        return false;
      }
      return Whole::compare_exchange_weak(expected, desired, step);
    }
  };

  /// There is a delay between the last check and the sleep too: a wake in between must not be lost.
  template <class KeepWaiting>
  static void park(const void* address, KeepWaiting&& keep_waiting, sync::Step step) noexcept {
    const detail::Window window;
    if (detail::fails_spuriously()) {
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

  /// Every other wait parks at once: real waits are short, and would hardly ever park.
  struct SpinLimit {
    operator unsigned() const noexcept {
      ScopedPerturbation* const perturbation = detail::current_perturbation;
      return perturbation != nullptr && perturbation->toss() ? 0 : Base::spin_limit;
    }
  };
  static constexpr SpinLimit spin_limit{};
};

using Perturbed = PerturbedOver<sync::Boost>;

static_assert(sync::Sync<Perturbed>);

}  // namespace byre::stress
