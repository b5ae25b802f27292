// SPDX-License-Identifier: BSL-1.0
/// Commands: their order, arguments, barriers and submissions, and which calls wait for them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>

#include "device.hpp"
#include "support/complaint.hpp"

namespace examples::vulkan::test {
namespace {

class VulkanQueue : public OnIdleDevice {
 protected:
  VulkanQueue() {
    add_(a_, 0);
    add_(a_, 0);  // records a barrier, so that no test needs one at its beginning
  }
  void record(byre::Buffer& to, const byre::Buffer& from, std::uint32_t addend) {
    add_(to.mutable_data(), from.data(), count, {addend});
  }
  void copy(byre::Buffer& to, const byre::Buffer& from) {
    queue().copy(to.mutable_data(), from.data(), count * 4UL);
  }
  static std::uint64_t submissions() { return queue().stats().submissions; }

  byre::Buffer a_ = to_device(counting(count, 10));
  byre::Buffer b_ = to_device(counting(count, 20));
  byre::Buffer c_ = to_device(counting(count, 30));
  byre::Buffer d_ = to_device(counting(count, 40));
};

TEST_F(VulkanQueue, records_barriers_before_dependent_commands_only) {
  struct Case {
    const char* what;
    std::function<void()> record;
    unsigned barriers;
    std::uint32_t b, c, d;  // the first words afterwards
  };
  const Case cases[] = {
      {"independent", [&] { record(b_, c_, 1), record(d_, c_, 2); }, 0, 31, 30, 32},
      {"read after write", [&] { record(b_, c_, 1), record(d_, b_, 2); }, 1, 31, 30, 33},
      {"write after read", [&] { record(b_, c_, 1), record(c_, d_, 2); }, 1, 31, 42, 40},
      {"write after write", [&] { record(b_, c_, 1), record(b_, d_, 2); }, 1, 42, 30, 40},
      {"one barrier for all earlier commands",
       [&] { record(b_, d_, 1), record(c_, d_, 2), add_(b_, 3), add_(c_, 4); }, 1, 44, 46, 40},
      {"copies and dispatches", [&] { copy(b_, c_), add_(b_, 1), copy(c_, b_), add_(c_, 1); }, 3,
       31, 32, 40},
      {"across submissions", [&] { add_(b_, 1), queue().submit(), add_(b_, 1); }, 1, 22, 30, 40},
  };
  for (const Case& each : cases) {
    upload(b_, counting(count, 20));
    upload(c_, counting(count, 30));
    upload(d_, counting(count, 40));
    add_(a_, 0);
    add_(a_, 0);
    queue().wait_idle();
    const std::uint64_t before = queue().stats().barriers;
    each.record();
    EXPECT_EQ(queue().stats().barriers - before, each.barriers) << each.what;
    EXPECT_EQ(to_host(b_), counting(count, each.b)) << each.what;
    EXPECT_EQ(to_host(c_), counting(count, each.c)) << each.what;
    EXPECT_EQ(to_host(d_), counting(count, each.d)) << each.what;
  }
}

TEST_F(VulkanQueue, passes_parameters_of_any_size_and_recycles_their_memory) {
  std::uint32_t expected = 10;
  const auto record = [&] {
    for (const std::size_t addends : {1UL, 33UL, 5000UL, 9000UL, Commands::most_put / 4 - 1, 7UL}) {
      for (int i = 0; i != 3; ++i) {
        add_(a_.mutable_data(), a_.data(), count, Words(addends, 1));
        expected += static_cast<std::uint32_t>(addends);
      }
    }
    EXPECT_EQ(to_host(a_), counting(count, expected));
    queue().wait_idle();
    return queue().stats().allocations;
  };
  queue().wait_idle();
  const std::uint64_t once = record();
  for (int again = 0; again != 3; ++again) {
    EXPECT_EQ(record(), once);
  }
  const Queue::Hold hold(queue());  // prevents the recycling of command buffers
  for (std::uint32_t i = 0; i != 10 * Commands::most; ++i) {
    add_(a_, 1);
  }
  EXPECT_LE(queue().stats().allocations, once + 2U * 11)
      << "expected few allocations for many dispatches";
}

TEST_F(VulkanQueue, rejects_dispatches_that_exceed_device_limits) {
  const Driver& driver = Gpu::get().driver();
  const Use use{a_.mutable_data(), a_.nbytes(), Use::write};
  const Words few{count, 1};
  struct Case {
    std::vector<Use> uses;
    Words parameters;
    const char* reason;
  };
  const char* const fits = "nothing was thrown";
  std::vector<Case> cases{
      {std::vector(Pipelines::most_buffers, use), few, "cannot dispatch 5 buffers"},
      {{use, use}, {}, "0 bytes of parameters"},
      {{use, use}, Words(Commands::most_put / 4 + 1), "65540 bytes of parameters"},
      {{{&few, 4, Use::read}, use}, few, "cannot find a block"},
      {{{a_.data(), std::size_t{1} << 20, Use::read}, use}, few, "cannot find a block"},
  };
  if (driver.limits.minStorageBufferOffsetAlignment > 4) {
    cases.push_back({{{a_.data() + 4, 4, Use::read}, use}, few, "multiple of"});
  }
  byre::Buffer large;
  const std::size_t most = driver.limits.maxStorageBufferRange;
  if (most < driver.max_nbytes / 2 && most <= std::size_t{1} << 30) {
    large = byre::Buffer::allocate(most + 4, memory());
    for (const std::size_t nbytes : {most, most + 4}) {
      const Use all{large.mutable_data(), nbytes, Use::write};
      cases.push_back({{all, all}, {0, 1}, nbytes == most ? fits : "maxStorageBufferRange"});
    }
  }
  for (const auto& [uses, parameters, reason] : cases) {
    const std::uint64_t before = queue().stats().dispatches;
    const std::string refusal = byre::test::complaint_of([&] {
      queue().dispatch({add_spirv}, uses, std::as_bytes(std::span(parameters)), {1, 1, 1});
    });
    EXPECT_TRUE(byre::test::says(refusal, reason));
    EXPECT_EQ(queue().stats().dispatches - before, reason == fits ? 1U : 0U) << reason;
  }
  EXPECT_EQ(to_host(a_), counting(count, 10));
}

TEST_F(VulkanQueue, rounds_bound_sizes_up_to_words_and_to_at_least_one_word) {
  void* const data = a_.mutable_data();
  for (const std::size_t nbytes : {count * 4UL - 3, 0UL}) {
    const std::array uses{Use{data, nbytes, Use::read}, Use{data, nbytes, Use::write}};
    const Words parameters{nbytes == 0 ? 1 : count, 1};
    queue().dispatch({add_spirv}, uses, std::as_bytes(std::span(parameters)),
                     {count / 64 + 1, 1, 1});
  }
  Words expected = counting(count, 11);
  ++expected.front();
  EXPECT_EQ(to_host(a_), expected);
}

TEST_F(VulkanQueue, copies_parts_of_buffers_and_records_no_copy_of_zero_bytes) {
  const QueueStats before = queue().stats();
  queue().copy(nullptr, nullptr, 0);
  queue().upload(nullptr, nullptr, 0);
  queue().download(nullptr, nullptr, 0);
  queue().copy(b_.mutable_data() + 8, a_.data() + 4, 12);
  upload(b_, counting(4), 5);
  EXPECT_EQ(queue().stats().copies, before.copies + 1);
  EXPECT_EQ(queue().stats().bytes_copied, before.bytes_copied + 12);
  EXPECT_EQ(queue().stats().uploads, before.uploads + 1);
  Words read(9);
  queue().download(read.data(), b_.data(), 36);
  EXPECT_EQ(queue().stats().downloads, before.downloads + 1);
  EXPECT_EQ(read, (Words{20, 21, 11, 12, 13, 0, 1, 2, 3}));
}

TEST_F(VulkanQueue, submits_full_command_buffers_and_no_empty_ones) {
  queue().wait_idle();
  const std::uint64_t before = submissions();
  const std::uint64_t passed = queue().submit();
  EXPECT_TRUE(queue().has_passed(passed));
  EXPECT_FALSE(queue().has_passed(passed + 1));
  EXPECT_EQ(submissions(), before);
  for (unsigned i = 0; i != Commands::most; ++i) {
    EXPECT_EQ(submissions(), before);
    add_(a_, 1);
  }
  EXPECT_EQ(submissions(), before + 1);
  EXPECT_EQ(to_host(a_), counting(count, 10 + Commands::most));
}

TEST_F(VulkanQueue, uploads_to_memory_in_use_without_waiting) {
  for (const std::size_t words : {std::size_t{100}, many}) {
    byre::Buffer used = to_device(counting(many));
    Queue::Hold hold(queue());
    add_(used, 1);
    const byre::Buffer fresh = to_device(counting(words, 5));
    upload(used, counting(words, 9));
    add_(used, 1);
    hold.release();
    EXPECT_EQ(to_host(fresh), counting(words, 5));
    Words expected = counting(many, 2);
    std::ranges::copy(counting(words, 10), expected.begin());
    EXPECT_EQ(to_host(used), expected);
  }
}

}  // namespace
}  // namespace examples::vulkan::test
