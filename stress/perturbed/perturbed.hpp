// SPDX-License-Identifier: BSL-1.0
/// Perturbed: the Sync that ships, with a chance of a delay before and after every step. Windows of a
/// few instructions stay open until another thread steps into them. A thread's delays follow from its
/// own seed alone.
#pragma once

#include <byre/storage/detail/buffer_impl.hpp>
#include <byre/storage/storage.hpp>
#include <byre/sync/boost.hpp>

#include <cstdint>
#include <string_view>

#include "../sync_hooks.hpp"
#include "perturbation.hpp"
#include "support/random.hpp"

namespace byre::stress {

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
  std::uint64_t draw() { return random_() >> 32; }
  [[gnu::cold, gnu::noinline]] void delay_as_drawn(std::uint64_t drawn);

  // Chances in units of 2^-32, each added to those before it.
  std::uint64_t yields_;
  std::uint64_t pauses_;
  std::uint64_t sleeps_;
  std::uint64_t spurious_;
  Perturbation perturbation_;
  test::RandomEngine random_;
  ScopedPerturbation* outer_;
};

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
    Scope(const WindowHook&, std::string_view) noexcept {}
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
