// SPDX-License-Identifier: BSL-1.0
/// Lazy clones of what is on the device: who copies, and that nobody waits for it. Where a test says that the host
/// does not wait, the device is held back: if it did, the test would not end.
#include <gtest/gtest.h>

#include <byre/tensor.hpp>

#include "device.hpp"
#include "shaders.hpp"
#include "support/at_once.hpp"

namespace examples::vulkan::test {
namespace {

constexpr std::size_t few_words = 100;        // words
constexpr std::size_t many_words = 1U << 18;  // words

class VulkanCopies : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    gpu().queue().wait_idle();
    live_before_ = gpu().memory().live_nbytes();
  }

  void TearDown() override {
    gpu().queue().wait_idle();
    EXPECT_EQ(gpu().memory().live_nbytes(), live_before_);
  }

  Words words_ = counting(GetParam());
  Add add_;

 private:
  std::size_t live_before_ = 0;
};

Words plus(Words words, std::uint32_t addend) {
  for (std::uint32_t& word : words) {
    word += addend;
  }
  return words;
}

TEST_P(VulkanCopies, a_clone_costs_no_copy_and_no_memory) {
  const byre::Buffer original = to_device(words_);
  const QueueStats before = gpu().queue().stats();
  const std::size_t live = gpu().memory().live_nbytes();
  const byre::Buffer clone = original.lazy_clone();
  EXPECT_EQ(clone.data(), original.data());
  EXPECT_EQ(gpu().memory().live_nbytes(), live);
  EXPECT_EQ(gpu().queue().stats().copies, before.copies);
}

TEST_P(VulkanCopies, a_writer_copies_on_the_device) {
  const byre::Buffer original = to_device(words_);
  byre::Buffer clone = original.lazy_clone();
  const QueueStats before = gpu().queue().stats();
  add_(clone, 5);
  const QueueStats after = gpu().queue().stats();
  EXPECT_EQ(after.copies, before.copies + 1);
  EXPECT_EQ(after.bytes_copied, before.bytes_copied + words_.size() * 4);
  EXPECT_EQ(after.uploads, before.uploads);
  EXPECT_EQ(after.downloads, before.downloads);
  EXPECT_EQ(to_host(original), words_);
  EXPECT_EQ(to_host(clone), plus(words_, 5));
}

TEST_P(VulkanCopies, neither_the_writer_nor_the_last_owner_waits_for_the_copy) {
  byre::Buffer original = to_device(words_);
  byre::Buffer clone = original.lazy_clone();
  const void* const address = original.data();
  const std::uint64_t copies = gpu().queue().stats().copies;
  Queue::Hold hold(gpu().queue());
  EXPECT_EQ(clone.materialize(), byre::Materialized::copied);
  EXPECT_EQ(original.materialize(), byre::Materialized::stole);
  EXPECT_EQ(original.data(), address);
  add_(original, 1);
  add_(clone, 2);
  const Words others = counting(words_.size(), 99);
  gpu().queue().upload(clone.mutable_data(), others.data(), 8);
  EXPECT_EQ(gpu().queue().stats().copies, copies + 1);
  hold.release();
  EXPECT_EQ(to_host(original), plus(words_, 1));
  Words expected = plus(words_, 2);
  std::copy_n(others.begin(), 2, expected.begin());
  EXPECT_EQ(to_host(clone), expected);
}

TEST_P(VulkanCopies, an_owner_who_leaves_while_it_is_copied_leaves_the_source_to_the_copy) {
  byre::Buffer original = to_device(words_);
  byre::Buffer clone = original.lazy_clone();
  const std::size_t live = gpu().memory().live_nbytes();
  Queue::Hold hold(gpu().queue());
  add_(clone, 3);
  original = {};
  EXPECT_GT(gpu().memory().live_nbytes(), live);
  // Would be in the source's memory if that was free.
  const byre::Buffer other = to_device(counting(words_.size(), 1000));
  hold.release();
  EXPECT_EQ(to_host(clone), plus(words_, 3));
  EXPECT_EQ(to_host(other), counting(words_.size(), 1000));
}

TEST_P(VulkanCopies, a_copy_that_nobody_wants_is_released_while_it_is_made) {
  const byre::Buffer original = to_device(words_);
  byre::Buffer clone = original.lazy_clone();
  Queue::Hold hold(gpu().queue());
  clone.mutable_data();
  clone = {};
  const byre::Buffer other = to_device(counting(words_.size(), 1000));
  hold.release();
  EXPECT_EQ(to_host(original), words_);
  EXPECT_EQ(to_host(other), counting(words_.size(), 1000));
}

TEST_P(VulkanCopies, a_copy_ends_while_a_later_one_does_not) {
  Queue& queue = gpu().queue();
  const byre::Buffer early = to_device(words_);
  const byre::Buffer late = to_device(words_);
  byre::Buffer early_clone = early.lazy_clone();
  byre::Buffer late_clone = late.lazy_clone();
  Queue::Hold first(queue);
  early_clone.mutable_data();
  const std::uint64_t value = queue.submit();
  Queue::Hold second(queue);
  late_clone.mutable_data();
  EXPECT_FALSE(early.is_unique());
  first.release();
  queue.wait(value);
  EXPECT_TRUE(early.is_unique());
  EXPECT_FALSE(late.is_unique());
  second.release();
  queue.wait_idle();
  EXPECT_TRUE(late.is_unique());
}

TEST_P(VulkanCopies, no_bytes_are_copied_at_once) {
  byre::Buffer source = to_device(words_);
  int ends = 0;
  byre::PendingCopy pending(&ends, [](void* counted) noexcept { ++*static_cast<int*>(counted); });
  const byre::Block block =
      gpu().memory().submit_copy({words_.size() * 4, 64}, nullptr, 0, pending);
  EXPECT_TRUE(pending) << "it is complete, and ended by who asked for it";
  gpu().queue().wait_idle();
  EXPECT_EQ(ends, 0);
  pending.end();
  EXPECT_EQ(ends, 1);
  gpu().memory().deallocate(block);
}

TEST_P(VulkanCopies, as_many_writers_on_as_many_threads_make_one_copy_fewer) {
  constexpr std::size_t threads = 8;
  for (int round = 0; round != 20; ++round) {
    std::vector<byre::Buffer> owners;
    owners.push_back(to_device(words_));
    while (owners.size() != threads) {
      owners.push_back(owners.front().lazy_clone());
    }
    const std::uint64_t copies = gpu().queue().stats().copies;
    byre::test::at_once(threads, [&](std::size_t thread) {
      add_(owners[thread], static_cast<std::uint32_t>(thread));
    });
    EXPECT_EQ(gpu().queue().stats().copies, copies + threads - 1);
    for (std::uint32_t thread = 0; thread != threads; ++thread) {
      EXPECT_EQ(to_host(owners[thread]), plus(words_, thread));
    }
  }
}

TEST_P(VulkanCopies, storages_share_and_part_as_buffers_do) {
  byre::Storage original = byre::Storage::allocate(words_.size() * 4, gpu().memory());
  gpu().queue().upload(original.mutable_data(), words_.data(), words_.size() * 4);
  byre::Storage clone = original.lazy_clone();
  EXPECT_EQ(clone.data(), original.data());
  gpu().queue().fill(clone.mutable_data(), 7, words_.size() * 4);
  Words read(words_.size());
  gpu().queue().download(read.data(), original.data(), read.size() * 4);
  EXPECT_EQ(read, words_);
  gpu().queue().download(read.data(), clone.data(), read.size() * 4);
  EXPECT_EQ(read, Words(words_.size(), 7));
}

TEST_P(VulkanCopies, tensors_go_there_and_back_and_share_there) {
  const auto count = static_cast<std::int64_t>(words_.size());
  const std::vector<std::int32_t> values(words_.begin(), words_.end());
  const byre::Tensor host = byre::Tensor::of<std::int32_t>({count}, std::span(values));
  byre::Tensor original = host.to(gpu().device());
  byre::Tensor clone = original.lazy_clone();
  EXPECT_EQ(clone.device(), gpu().device());
  EXPECT_EQ(clone.storage().data(), original.storage().data());
  gpu().queue().fill(clone.mutable_data<std::int32_t>(), 9, words_.size() * 4);
  const byre::Tensor back = original.to(byre::Device::cpu());
  const byre::Tensor changed = clone.to(byre::Device::cpu());
  for (const std::int64_t i : {std::int64_t{0}, count - 1}) {
    EXPECT_EQ(back.at<std::int32_t>({i}), static_cast<std::int32_t>(i));
    EXPECT_EQ(changed.at<std::int32_t>({i}), 9);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, VulkanCopies, testing::Values(few_words, many_words),
                         [](const auto& of) {
                           return of.param == few_words ? "a_slab" : "a_large_block";
                         });

}  // namespace
}  // namespace examples::vulkan::test
