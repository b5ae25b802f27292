// SPDX-License-Identifier: BSL-1.0
#include "perturbed.hpp"

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

namespace byre::stress {
namespace detail {

constinit thread_local ScopedPerturbation* current_perturbation = nullptr;

}  // namespace detail

namespace {

constinit thread_local std::uint64_t this_threads_delays = 0;

std::uint64_t to_units(double chance) {
  // The condition is negated so that not-a-number is rejected, too.
  if (!(chance >= 0 && chance <= 1)) {
    throw std::invalid_argument("invalid chance of a perturbation, or sum of chances: " +
                                std::to_string(chance) + ", allowed 0 to 1");
  }
  return static_cast<std::uint64_t>(chance * 0x1p32);
}

}  // namespace

ScopedPerturbation::ScopedPerturbation(const Perturbation& perturbation, std::uint64_t seed)
    : yields_(to_units(perturbation.yields)),
      pauses_(to_units(perturbation.yields + perturbation.pauses)),
      sleeps_(to_units(perturbation.yields + perturbation.pauses + perturbation.sleeps)),
      spurious_(to_units(perturbation.spurious)),
      perturbation_(perturbation),
      random_(seed),
      outer_(detail::current_perturbation) {
  const bool is_off = perturbation == no_perturbation;
  detail::current_perturbation = is_off ? nullptr : this;
}

ScopedPerturbation::~ScopedPerturbation() {
  detail::current_perturbation = outer_;
}

void ScopedPerturbation::delay() {
  const std::uint64_t drawn = draw();
  if (drawn < sleeps_) {
    delay_as_drawn(drawn);
  }
}

void ScopedPerturbation::delay_as_drawn(std::uint64_t drawn) {
  ++this_threads_delays;
  if (drawn < yields_) {
    std::this_thread::yield();
  } else if (drawn < pauses_) {
    for (auto left = draw() % (std::uint64_t{perturbation_.most_pauses} + 1); left != 0; --left) {
      sync::Default::pause();
    }
  } else {
    const auto longest = static_cast<std::uint64_t>(perturbation_.longest_sleep.count());
    std::this_thread::sleep_for(std::chrono::microseconds(draw() % (longest + 1)));
  }
}

std::uint64_t delays_of_this_thread() noexcept {
  return this_threads_delays;
}

}  // namespace byre::stress
