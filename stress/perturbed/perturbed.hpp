// SPDX-License-Identifier: BSL-1.0
/// Perturbed: sync::Default, which provides the library's atomic operations, with random delays
/// before and after every step. The delays let other threads act between two steps that are only a
/// few instructions apart. The delays of a thread depend only on its seed.
#pragma once

#include <byre/storage/detail/buffer_impl.hpp>
#include <byre/storage/storage.hpp>
#include <byre/sync/default.hpp>

#include <cstdint>
#include <string_view>

#include "../sync_hooks.hpp"
#include "perturbation.hpp"
#include "support/random.hpp"

namespace byre::stress {

/// Perturbs the thread that constructs this object, until the object is destroyed. Scopes nest.
/// Only that thread may use the object.
class ScopedPerturbation {
 public:
  /// Each thread of a run has its own seed: see seed_of_thread(). Throws std::invalid_argument if a
  /// chance is out of range.
  ScopedPerturbation(const Perturbation& perturbation, std::uint64_t seed);
  ~ScopedPerturbation();
  ScopedPerturbation(const ScopedPerturbation&) = delete;
  ScopedPerturbation& operator=(const ScopedPerturbation&) = delete;

  /// Delays the thread with the probabilities of the perturbation.
  void delay();
  /// Whether a step that may fail or end spuriously should do so now.
  bool is_spurious() { return draw() < spurious_; }
  /// True with a chance of 1/2.
  bool toss() { return draw() % 2 == 0; }

 private:
  /// 32 random bits.
  std::uint64_t draw() { return random_() >> 32; }
  [[gnu::cold, gnu::noinline]] void delay_as_drawn(std::uint64_t drawn);

  // Cumulative probabilities, in units of 2^-32: each includes the probabilities declared above it.
  std::uint64_t yields_;
  std::uint64_t pauses_;
  std::uint64_t sleeps_;
  std::uint64_t spurious_;
  Perturbation perturbation_;
  test::RandomEngine random_;
  ScopedPerturbation* outer_;
};

/// The number of delays of the calling thread so far.
std::uint64_t delays_of_this_thread() noexcept;

namespace detail {

extern constinit thread_local ScopedPerturbation* current_perturbation;

/// Delays the thread at random before and after a step.
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
    Scope(const WindowHook&, std::string_view) noexcept {}
  };
};

inline bool fails_spuriously() noexcept {
  return current_perturbation != nullptr && current_perturbation->is_spurious();
}

}  // namespace detail

/// Perturbs a Sync. A thread without a ScopedPerturbation uses `Base` unchanged.
template <sync::Sync Base>
struct PerturbedOver : Hooked<Base, detail::WindowHook> {
  template <class Value>
  class Atomic : public Hooked<Base, detail::WindowHook>::template Atomic<Value> {
    using Whole = typename Hooked<Base, detail::WindowHook>::template Atomic<Value>;

   public:
    using Whole::Whole;

    bool compare_exchange_weak(Value& expected, Value desired, sync::Step step) noexcept {
      // Like a real failure, load the current value.
      if (detail::fails_spuriously()) {
        expected = Whole::load({step.site, std::memory_order::relaxed});
        return false;
      }
      return Whole::compare_exchange_weak(expected, desired, step);
    }
  };

  /// Also delays the thread between the last check and the sleep, to test that no wake in between
  /// is lost.
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

  /// Makes about half of the waits park at once. Without this, real waits are so short that they
  /// rarely park.
  struct SpinLimit {
    operator unsigned() const noexcept {
      ScopedPerturbation* const perturbation = detail::current_perturbation;
      return perturbation != nullptr && perturbation->toss() ? 0 : Base::spin_limit;
    }
  };
  static constexpr SpinLimit spin_limit{};
};

using Perturbed = PerturbedOver<sync::Default>;

static_assert(sync::Sync<Perturbed>);

}  // namespace byre::stress
