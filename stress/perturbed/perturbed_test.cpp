// SPDX-License-Identifier: BSL-1.0
/// The delays of Perturbed depend only on the seed, change no result, and do not happen if
/// perturbation is off.
#include "perturbed.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

namespace byre::stress {
namespace {

using std::memory_order;

constexpr sync::Site somewhere{"test.somewhere", sync::Operation::load, memory_order::relaxed};
constexpr sync::Step relaxed{&somewhere, memory_order::relaxed};

/// Short delays, so that a test may take many steps.
constexpr Perturbation often{.yields = 0.1, .pauses = 0.2, .spurious = 0.2, .most_pauses = 3};

/// For each of 200 steps: the number of delays so far, and whether spurious events happened.
std::vector<std::uint64_t> decisions(const Perturbation& perturbation, std::uint64_t seed) {
  const ScopedPerturbation perturbs(perturbation, seed);
  const std::uint64_t before = delays_of_this_thread();
  Perturbed::Atomic<std::uint32_t> atomic(0);
  std::vector<std::uint64_t> made;
  for (int step = 0; step < 200; ++step) {
    std::uint32_t expected = atomic.fetch_add(1, relaxed) + 1;
    made.push_back(atomic.compare_exchange_weak(expected, expected, relaxed) ? 1 : 0);
    made.push_back(Perturbed::spin_limit);
    made.push_back(delays_of_this_thread() - before);
  }
  return made;
}

TEST(Perturbed, the_delays_depend_only_on_the_seed) {
  EXPECT_EQ(decisions(often, 5), decisions(often, 5));
  EXPECT_NE(decisions(often, 5), decisions(often, 6));
  EXPECT_NE(decisions(often, 5), decisions(often, 5 + (std::uint64_t{1} << 32)));
  EXPECT_NE(decisions(often, seed_of_thread(5, 0)), decisions(often, seed_of_thread(5, 1)));
  EXPECT_NE(seed_of_thread(5, 1), seed_of_thread(6, 0));
}

TEST(Perturbed, delays_about_as_many_windows_as_configured) {
  const std::vector<std::uint64_t> made = decisions(often, 1);
  constexpr double windows = 200 * 2 * 2;  // two steps, before and after each
  EXPECT_NEAR(static_cast<double>(made.back()), windows * (often.yields + often.pauses),
              windows * 0.1);
}

template <class Act>
std::uint64_t delays_of(Act act) {
  const std::uint64_t before = delays_of_this_thread();
  act();
  return delays_of_this_thread() - before;
}

TEST(Perturbed, delays_nothing_if_perturbation_is_off) {
  Perturbed::Atomic<std::uint32_t> atomic(0);
  const auto load = [&] {
    EXPECT_EQ(Perturbed::spin_limit, sync::Default::spin_limit);
    atomic.load(relaxed);
  };
  EXPECT_EQ(delays_of(load), 0U);
  const ScopedPerturbation outer({.pauses = 1}, 1);
  {
    const ScopedPerturbation inner(no_perturbation, 1);
    EXPECT_EQ(delays_of(load), 0U);
  }
  EXPECT_EQ(delays_of([&] { atomic.load(relaxed); }), 2U)
      << "expected a delay before and after the load";
}

TEST(Perturbed, accesses_to_plain_data_and_parking_are_delayed_too) {
  const ScopedPerturbation perturbs({.pauses = 1}, 1);
  Perturbed::Plain<void*> plain(nullptr);
  const auto park = [&] {
    Perturbed::park(
        &plain, [] { return false; }, relaxed);
  };
  EXPECT_EQ(delays_of([&] { plain.get(); }), 2U);
  EXPECT_EQ(delays_of([&] { plain.set(nullptr); }), 2U);
  EXPECT_EQ(delays_of(park), 4U);
  EXPECT_EQ(delays_of([&] { Perturbed::unpark_all(&plain, relaxed); }), 2U);
}

TEST(Perturbed, waits_and_weak_exchanges_may_end_spuriously) {
  const ScopedPerturbation perturbs({.spurious = 1}, 1);
  Perturbed::park(
      &perturbs, [] { return true; }, relaxed);  // only a spurious wake makes this return
  Perturbed::Atomic<std::uint32_t> atomic(7);
  std::uint32_t expected = 3;
  EXPECT_FALSE(atomic.compare_exchange_weak(expected, 9, relaxed));
  EXPECT_EQ(expected, 7U) << "a failure must load the current value";
  EXPECT_EQ(atomic.load(relaxed), 7U);
}

TEST(Perturbed, chances_out_of_range_throw) {
  const double not_a_number = std::numeric_limits<double>::quiet_NaN();
  for (const Perturbation& wrong :
       {Perturbation{.yields = -0.1}, Perturbation{.sleeps = 1.5}, Perturbation{.spurious = 2},
        Perturbation{.yields = 0.6, .pauses = 0.6}, Perturbation{.pauses = not_a_number}}) {
    EXPECT_THROW(ScopedPerturbation(wrong, 1), std::invalid_argument);
  }
}

}  // namespace
}  // namespace byre::stress
