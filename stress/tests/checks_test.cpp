// SPDX-License-Identifier: BSL-1.0
/// Each check of programs, of memory and of a run must detect its kind of error, and abort the
/// process.
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "../programs/program.hpp"
#include "../soak/soak.hpp"
#include "../supervisor.hpp"
#include "../thread_group.hpp"

namespace byre::stress {
namespace {

using namespace programs;

using T = Types<sync::Default, 2>;

/// One buffer of 100 bytes, known to the model.
struct ChecksDeathTest : testing::Test {
  Memory memory;
  Shared<T> shared{1};
  Program<T> program{Choices(1), memory, shared, 0, Limits{}};
  State<T>& state = program.state();
  BufferSlot<T>& slot = state.buffers[0];

  ChecksDeathTest() {
    testing::FLAGS_gtest_death_test_style = "fast";
    slot.real = T::Buffer::allocate(100, memory.host);
    DataOwner data = state.allocated(slot.real, memory.host);
    fill(slot.real.mutable_data(), 100, 0, 5);
    slot.expected = {content_of(Bytes(slot.real.data(), slot.real.data() + 100)), std::move(data)};
    check(state, slot);
  }
};

TEST_F(ChecksDeathTest, a_wrong_byte_is_reported_with_the_write_of_its_word) {
  fill(slot.real.mutable_data() + 48, 8, 48, (std::uint64_t{3} << 40) + 7);
  EXPECT_DEATH(check(state, slot),
               "byte 48 of 100 is .* its word was written by write 7 of program 3");
  slot.real.mutable_data()[99] ^= std::byte{1};
  EXPECT_DEATH(check(state, slot), "byte 48 of 100");
}

TEST_F(ChecksDeathTest, different_writes_store_different_bytes) {
  for (const std::size_t at : {0U, 1U, 7U, 8U, 63U}) {
    int same = 0;
    std::byte one{};
    fill(&one, 1, at, 1000);
    for (std::uint64_t stamp = 1001; stamp < 1257; ++stamp) {
      std::byte other{};
      fill(&other, 1, at, stamp);
      same += one == other ? 1 : 0;
    }
    EXPECT_LE(same, 8) << at;
  }
}

TEST_F(ChecksDeathTest, a_surplus_or_missing_owner_is_found) {
  {
    const T::Buffer unseen = slot.real;
    EXPECT_DEATH(check(state, slot), "is_unique: 0, expected 1");
  }
  const DataOwner forgotten = slot.expected.data;
  EXPECT_DEATH(check(state, slot), "is_unique: 1, expected 0");
}

TEST_F(ChecksDeathTest, a_wrong_size_or_allocator_or_handle_count_is_found) {
  EXPECT_DEATH((slot.real.resize(99), check(state, slot)), "nbytes: 99, expected 100");
  EXPECT_DEATH((slot.real = T::Buffer::allocate(100), check(state, slot)), "the allocator is|byte");
  StorageSlot<T>& storage = state.storages[0];
  storage.put(T::Storage(std::move(slot.real)), std::move(slot.expected));
  check(state, storage);
  const T::Storage unseen = storage.real;
  EXPECT_DEATH(check(state, storage), "handle_count: 2, expected 1");
}

TEST_F(ChecksDeathTest, a_double_or_wrongly_sized_release_is_found) {
  const Block block = memory.host.allocate({100});
  memory.host.deallocate(block);
  EXPECT_DEATH(memory.host.deallocate(block), "was released but is not allocated");
  const Block other = memory.host.allocate({100});
  EXPECT_DEATH(memory.host.deallocate({other.data, other.capacity + 1, other.base}),
               "of 100 bytes was released with a size of 101");
  EXPECT_DEATH(memory.check(), "2 live blocks, expected 1");
  memory.host.deallocate(other);
  memory.check();
}

TEST_F(ChecksDeathTest, a_wrong_count_of_copies_or_clones_is_found) {
  Predictions predicted;
  stats::Counters counted{
      .lazy_clones = 1, .copies = 1, .bytes_copied = 100, .bytes_not_copied = -0};
  predicted.clone(100);
  predicted.copy(100, stats::CopyCause::shared);
  check_counters(counted, predicted);
  counted.bytes_copied = 99;
  EXPECT_DEATH(check_counters(counted, predicted), "bytes copied: 99 counted, expected 100");
  counted = {.lazy_clones = 1, .copies = 2, .bytes_copied = 100};
  EXPECT_DEATH(check_counters(counted, predicted), "copies: 2 counted");
  counted = {.lazy_clones = 1, .copies = 1, .steals = 1, .bytes_copied = 100};
  EXPECT_DEATH(check_counters(counted, predicted), "steals: 1 counted");
  state.predictions.copies.push_back({100, stats::CopyCause::shared});
  if (BYRE_STATS != 0) {
    EXPECT_DEATH(check_predictions(state), "sinks were called for 0 copies");
  }
}

TEST_F(ChecksDeathTest, a_call_may_throw_only_the_error_of_its_injected_fault) {
  EXPECT_DEATH(state.faults.during([] { throw OutOfMemory(10, "test"); }), "fault 0 was injected");
  EXPECT_DEATH(state.faults.during([] { throw std::runtime_error("no reason"); }),
               "a call threw an error that no fault causes: no reason");
  state.faults.arm(Fault::allocation, 0);
  EXPECT_DEATH(state.faults.during([&] {
    try {
      memory.host.allocate({1});
    } catch (const std::bad_alloc&) {
    }
  }),
               "fault 1 was injected, but the call threw the error of fault 0");
  state.faults.arm(Fault::copy, 0);
  EXPECT_DEATH(state.faults.during([&] {
    char from[2]{};
    char to[2];
    try {
      memory.host.copy(to, from, 2);
    } catch (const CopyFailed&) {
      throw OutOfMemory(10, "test");
    }
  }),
               "fault 2 was injected, but the call threw the error of fault 1");
}

TEST(Choices, of_a_step_depend_only_on_the_seed_and_the_step_number) {
  Choices one(1);
  Choices same(1);
  Choices other(2);
  int different = 0;
  for (int step = 0; step < 100; ++step) {
    for (Choices* choices : {&one, &same, &other}) {
      choices->begin_step();
    }
    const std::uint64_t number = one.number(4);
    EXPECT_EQ(number, same.number(4));
    different += number == other.number(4) ? 0 : 1;
    one.byte();  // the number of bytes a step takes does not affect the next step
  }
  EXPECT_EQ(different, 100);
}

TEST(Mixes, are_unchanged_by_conversion_to_text_and_back) {
  EXPECT_EQ(programs::text_of(parse_mix("write=2,clone=3")), "clone=3,write=2");
  EXPECT_EQ(parse_mix(programs::text_of(usual_mix())), usual_mix());
  EXPECT_THROW(parse_mix("write"), std::invalid_argument);
}

TEST(SupervisorDeathTest, ending_a_hanging_run_prints_a_command_that_repeats_the_run) {
  EXPECT_EXIT(
      {
        Supervisor supervisor(
            "mixed", {.seed = 7}, [] { return std::uint64_t{5}; },
            [] { return std::vector<std::string>{"thread 0: write"}; }, std::chrono::seconds(0));
        for (;;) {
          supervisor.wait();
        }
      },
      testing::ExitedWithCode(1),
      "no operation has ended for 0 seconds: a thread hangs\n"
      "repeat: byre-stress --workload mixed --seed 7 --threads 8 --duration 10\n  thread 0: write");
}

TEST(Growth, lists_each_resource_that_grew_by_more_than_its_limit) {
  const Resources before{
      .resident_nbytes = 1 << 20, .heap_nbytes = 1000, .mappings = 50, .files = 5, .threads = 1};
  EXPECT_TRUE(growth(before, before).empty());
  Resources after = before;
  after.heap_nbytes += (1 << 20) + 1;
  after.resident_nbytes += (16 << 20) + 1;
  after.mappings += 257;
  ++after.files;
  ++after.threads;
  EXPECT_EQ(growth(before, after).size(), 5u);
}

TEST(ThreadGroup, an_exception_that_leaves_the_scope_ends_all_threads) {
  std::atomic<bool> stopped{false};
  std::atomic<int> ended{0};
  const auto go_wrong = [&] {
    ThreadGroup group([&] { stopped = true; });
    for (int count = 0; count < 3; ++count) {
      group.start([&] {
        while (!stopped) {
          std::this_thread::yield();
        }
        ++ended;
      });
    }
    throw std::runtime_error("no more threads");
  };
  EXPECT_THROW(go_wrong(), std::runtime_error);
  EXPECT_EQ(ended, 3);
}

}  // namespace
}  // namespace byre::stress
