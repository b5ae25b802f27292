// SPDX-License-Identifier: BSL-1.0
/// Random programs over buffers, storages, pins, pages and tiled buffers, in the language of
/// stress/programs. They must behave as eager copies would, and all counters must match.
/// byre-stress runs such programs in several threads. A failure aborts the test; BYRE_STEPS=1
/// prints every step.
#include "../../../stress/programs/program.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <optional>

#include "support/random.hpp"
#include "support/sanitized.hpp"
#if !defined(_WIN32)
#include "support/child_process.hpp"
#include "support/watched_system.hpp"
#endif

namespace byre::programs {
namespace {

struct Subject {
  const char* name;
  Limits limits;
  std::size_t steps;
};

Limits of_pages() {
  return {.mix = mix_of_storages(), .least_nbytes = least_paged_nbytes, .only_pages = true};
}
const Subject subjects[] = {
    {"all", {}, 1500},
    {"storages", {.mix = mix_of_storages()}, 1500},
    {"pages", of_pages(), 300},
    {"tiles_of_1_byte", {.mix = mix_of_tiles(), .tile_nbytes = 1}, 1000},
    {"tiles_of_16_bytes", {.mix = mix_of_tiles()}, 1000},
    {"tiles_of_a_page", {.mix = mix_of_tiles(), .tile_nbytes = page_nbytes}, 200},
};

/// Programs that run one after another and use one Memory, with its allocators.
template <class T>
struct Programs {
  Program<T>& begin(std::uint64_t seed, const Limits& limits) {
    return program.emplace(Choices(seed), memory, shared, 0U, limits);
  }

  Memory memory;
  Shared<T> shared{1};
  const stats::InstalledSink sink{&Program<T>::on_copy};
  std::optional<Program<T>> program;
};

/// Runs with two kinds of tables of tiled buffers: two tiles or nodes per node, so that few tiles
/// make a high table, and 32, the default.
template <class T>
class RandomPrograms : public testing::Test {
 protected:
  RandomPrograms() {
    set_warning_handler([](const char*) noexcept {});  // warnings of sinks that throw
    default_pool().trim();
    Buffer::allocate(1);  // allocates the thread cache, before allocations are counted
  }
  ~RandomPrograms() override { set_warning_handler(nullptr); }

  test::Random random_{test::seed()};
};
using AllTypes = testing::Types<Types<sync::Default, 2>, Types<sync::Default, 32>>;
TYPED_TEST_SUITE(RandomPrograms, AllTypes);

TYPED_TEST(RandomPrograms, behave_like_eager_copies) {
  for (const Subject& subject : subjects) {
    SCOPED_TRACE(subject.name);
    Programs<TypeParam> programs;
    for (int number = 0; number < 10; ++number) {
      Program<TypeParam>& program = programs.begin(this->random_.engine()(), subject.limits);
      program.run(test::fewer_if_sanitized(subject.steps));
      program.end();
    }
  }
}

#if !defined(_WIN32)  // nothing replaces functions of Windows, which has no forks

TYPED_TEST(RandomPrograms, complete_or_reject_steps_if_the_system_lacks_pages) {
  Limits limits = of_pages();
  limits.mix.erase("fail_new");  // WatchedSystem needs the heap
  Programs<TypeParam> programs;
  for (std::size_t number = 0; number < test::fewer_if_sanitized(100); ++number) {
    Program<TypeParam>& program = programs.begin(this->random_.engine()(), limits);
    program.run(20);
    {
      test::WatchedSystem system;
      system.fail_after(this->random_.below(20U));
      program.state().faults.system_may_fail = true;
      program.run(30);
    }
    program.state().faults.system_may_fail = false;
    program.end();
  }
}

TYPED_TEST(RandomPrograms, steps_of_forked_children_do_not_affect_the_parent) {
  if (!test::heap_outlives_forks) {
    GTEST_SKIP() << "this sanitizer's malloc is not safe across forks";
  }
  Limits limits = of_pages();
  limits.mix["fork"] = 8;
  for (const Limits& each : {limits, Limits{.mix = limits.mix}}) {
    Programs<TypeParam> programs;
    Program<TypeParam>& program = programs.begin(this->random_.engine()(), each);
    State<TypeParam>& state = program.state();
    state.fork = [&] {
      const std::uint64_t seed = this->random_.engine()();
      const auto result = test::run_in_child(
          [&](int output) {
            test::redirect(STDERR_FILENO, output);
            state.fork = nullptr;
            state.share();  // so that the parent owns the data too
            state.choices = Choices(seed);
            program.run(10);
            check_slots(state);
            ::_exit(EXIT_SUCCESS);
          },
          std::chrono::seconds(60));
      EXPECT_TRUE(result.exit.is_success()) << result.exit.text() << result.output;
    };
    program.run(300);
    program.end();
  }
}

#endif

}  // namespace
}  // namespace byre::programs
