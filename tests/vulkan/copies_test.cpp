// SPDX-License-Identifier: BSL-1.0
/// Lazy clones of buffers on the device: which owner copies, and that no owner waits. To test that
/// a call does not wait, a test stops the device first: if the call waited, the test would never
/// end.
#include <gtest/gtest.h>

#include <functional>

#include "device.hpp"
#include "support/at_once.hpp"

namespace examples::vulkan::test {
namespace {

/// Parameter: the number of words of a buffer, in a slab or in a large block.
class VulkanCopies : public OnIdleDevice, public testing::WithParamInterface<std::size_t> {
 protected:
  Words plus(std::uint32_t addend) const { return counting(GetParam(), addend); }

  Words words_ = counting(GetParam());
};

TEST_P(VulkanCopies, a_clone_takes_no_memory_and_a_write_copies_on_the_device) {
  const byre::Buffer original = to_device(words_);
  const QueueStats before = queue().stats();
  const std::size_t live = memory().stats().live_nbytes;
  byre::Buffer clone = original.lazy_clone();
  EXPECT_EQ(std::as_const(clone).data(), original.data());
  EXPECT_EQ(memory().stats().live_nbytes, live);
  EXPECT_EQ(queue().stats().copies, before.copies);
  add_(clone, 5);
  const QueueStats after = queue().stats();
  EXPECT_EQ(after.copies, before.copies + 1);
  EXPECT_EQ(after.bytes_copied, before.bytes_copied + words_.size() * 4);
  EXPECT_EQ(after.uploads + after.downloads, before.uploads + before.downloads);
  EXPECT_EQ(to_host(original), words_);
  EXPECT_EQ(to_host(clone), plus(5));
}

TEST_P(VulkanCopies, neither_the_writer_nor_the_last_owner_waits_for_the_copy) {
  byre::Buffer original = to_device(words_);
  byre::Buffer clone = original.lazy_clone();
  const void* const address = original.data();
  const std::uint64_t copies = queue().stats().copies;
  Queue::Hold hold(queue());
  EXPECT_EQ(clone.materialize(), byre::Materialized::copied);
  EXPECT_EQ(original.materialize(), byre::Materialized::stole);
  EXPECT_EQ(original.data(), address);
  add_(original, 1);
  add_(clone, 2);
  upload(clone, {99, 100});
  EXPECT_EQ(queue().stats().copies, copies + 1);
  hold.release();
  EXPECT_EQ(to_host(original), plus(1));
  Words expected = plus(2);
  expected[0] = 99;
  expected[1] = 100;
  EXPECT_EQ(to_host(clone), expected);
}

TEST_P(VulkanCopies, dropping_an_owner_does_not_wait_for_the_pending_copy) {
  for (const bool source_leaves : {true, false}) {
    byre::Buffer original = to_device(words_);
    byre::Buffer clone = original.lazy_clone();
    const std::size_t live = memory().stats().live_nbytes;
    Queue::Hold hold(queue());
    add_(clone, 3);
    (source_leaves ? original : clone) = {};
    EXPECT_EQ(memory().stats().live_nbytes > live, source_leaves)
        << "expected the pending copy to keep the source alive";
    // Must not get the memory of the source, which the pending copy reads.
    const byre::Buffer other = to_device(counting(words_.size(), 1000));
    hold.release();
    EXPECT_EQ(to_host(source_leaves ? clone : original), plus(source_leaves ? 3 : 0));
    EXPECT_EQ(to_host(other), counting(words_.size(), 1000));
  }
}

TEST_P(VulkanCopies, a_copy_completes_while_a_later_copy_is_pending) {
  const byre::Buffer early = to_device(words_);
  const byre::Buffer late = to_device(words_);
  byre::Buffer early_clone = early.lazy_clone();
  byre::Buffer late_clone = late.lazy_clone();
  Queue::Hold first(queue());
  early_clone.mutable_data();
  const std::uint64_t value = queue().submit();
  Queue::Hold second(queue());
  late_clone.mutable_data();
  EXPECT_FALSE(early.is_unique());
  first.release();
  queue().wait(value);
  EXPECT_TRUE(early.is_unique());
  EXPECT_FALSE(late.is_unique());
  second.release();
  queue().wait_idle();
  EXPECT_TRUE(late.is_unique());
}

TEST_P(VulkanCopies, are_reported_complete_at_the_next_submission_or_poll) {
  byre::Buffer shared = to_device(counting(count));
  const std::vector<std::function<void()>> ways{
      [] { queue().submit(); },
      [&] { shared.lazy_clone().mutable_data(); },
      [] { queue().poll(); },
      [&] {
        for (unsigned i = 0; i != Commands::most; ++i) {
          add_(shared, 1);
        }
      },
  };
  for (std::size_t way = 0; way != ways.size(); ++way) {
    byre::Buffer source = to_device(words_);
    byre::Buffer copy = source.lazy_clone();
    Queue::Hold hold(queue());
    copy.mutable_data();
    const std::size_t live = memory().stats().live_nbytes;
    source = {};
    EXPECT_EQ(memory().stats().live_nbytes, live) << "expected the copy to be pending";
    hold.release();
    vkDeviceWaitIdle(Gpu::get().driver().device);
    ways[way]();
    EXPECT_LT(memory().stats().live_nbytes, live) << way;
  }
}

TEST_P(VulkanCopies, of_zero_bytes_are_complete_when_submit_copy_returns) {
  int ends = 0;
  byre::PendingCopy pending(&ends, [](void* counted) noexcept { ++*static_cast<int*>(counted); });
  const byre::Block block = memory().submit_copy({words_.size() * 4, 64}, nullptr, 0, pending);
  queue().wait_idle();
  EXPECT_TRUE(pending) << "expected `pending` to remain with the caller, which ends the copy";
  EXPECT_EQ(ends, 0);
  pending.forget();
  memory().deallocate(block);
}

TEST_P(VulkanCopies, n_concurrent_writers_make_n_minus_1_copies) {
  constexpr std::size_t threads = 8;
  for (int round = 0; round != 20; ++round) {
    std::vector<byre::Buffer> owners(threads, to_device(words_));
    const std::uint64_t copies = queue().stats().copies;
    byre::test::at_once(threads, [&](std::size_t thread) {
      add_(owners[thread], static_cast<std::uint32_t>(thread));
    });
    EXPECT_EQ(queue().stats().copies, copies + threads - 1);
    for (std::uint32_t thread = 0; thread != threads; ++thread) {
      EXPECT_EQ(to_host(owners[thread]), plus(thread));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, VulkanCopies, testing::Values(100, many), [](const auto& of) {
  return of.param == many ? "a_large_block" : "a_slab";
});

}  // namespace
}  // namespace examples::vulkan::test
