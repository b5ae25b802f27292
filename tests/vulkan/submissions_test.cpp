// SPDX-License-Identifier: BSL-1.0
/// When what is recorded is submitted, and who waits for it.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "device.hpp"
#include "shaders.hpp"

namespace examples::vulkan::test {
namespace {

std::uint64_t submissions() {
  return gpu().queue().stats().submissions;
}

class VulkanSubmissionsOfMappedMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (!gpu().driver().maps_blocks()) {
      GTEST_SKIP() << "the host cannot address the device's memory";
    }
  }
};

TEST(VulkanSubmissions, collect_so_many_commands) {
  const Add add;
  byre::Buffer buffer = to_device(counting(count));
  gpu().queue().submit();
  const std::uint64_t before = submissions();
  for (unsigned i = 0; i != Queue::commands_per_submission - 1; ++i) {
    add(buffer, 1);
  }
  EXPECT_EQ(submissions(), before);
  add(buffer, 1);
  EXPECT_EQ(submissions(), before + 1);
  EXPECT_EQ(to_host(buffer), counting(count, Queue::commands_per_submission));
}

TEST(VulkanSubmissions, are_not_made_of_nothing) {
  gpu().queue().wait_idle();
  const std::uint64_t before = submissions();
  const std::uint64_t value = gpu().queue().submit();
  EXPECT_TRUE(gpu().queue().has_passed(value));
  gpu().queue().wait_idle();
  EXPECT_EQ(submissions(), before);
}

TEST(VulkanSubmissions, are_one_while_there_is_to_be_one) {
  const Add add;
  byre::Buffer buffer = to_device(counting(count));
  byre::Buffer clone = buffer.lazy_clone();
  gpu().queue().submit();
  const std::uint64_t before = submissions();
  Queue::OneSubmission one(gpu().queue());
  for (int i = 0; i != 200; ++i) {
    add(buffer, 1);  // the first copies
  }
  add(clone, 1000);
  EXPECT_EQ(submissions(), before);
  const std::uint64_t value = one.submit();
  EXPECT_EQ(submissions(), before + 1);
  gpu().queue().wait(value);
  EXPECT_TRUE(gpu().queue().has_passed(value));
  EXPECT_EQ(to_host(buffer), counting(count, 200));
  EXPECT_EQ(to_host(clone), counting(count, 1000));
}

TEST(VulkanSubmissions, are_made_of_what_was_recorded_before_an_exception) {
  const Add add;
  byre::Buffer buffer = to_device(counting(count));
  gpu().queue().submit();
  const std::uint64_t before = submissions();
  try {
    const Queue::OneSubmission one(gpu().queue());
    add(buffer, 1);
    throw std::runtime_error("in between");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(submissions(), before + 1);
  EXPECT_EQ(to_host(buffer), counting(count, 1));
}

TEST_F(VulkanSubmissionsOfMappedMemory, are_waited_for_by_who_downloads_what_they_wrote_alone) {
  const Add add;
  byre::Buffer early = to_device(counting(count));
  byre::Buffer late = to_device(counting(count));
  add(early, 1);
  gpu().queue().submit();
  const Queue::Hold hold(gpu().queue());
  add(late, 1);
  gpu().queue().submit();
  EXPECT_EQ(to_host(early), counting(count, 1)) << "while the device is held back";
}

TEST_F(VulkanSubmissionsOfMappedMemory, that_read_what_is_downloaded_are_not_waited_for) {
  const Add add;
  byre::Buffer read = to_device(counting(count));
  byre::Buffer written = to_device(counting(count));
  gpu().queue().wait_idle();
  const Queue::Hold hold(gpu().queue());
  add(written.mutable_data(), read.data(), count, 1);
  gpu().queue().submit();
  EXPECT_EQ(to_host(read), counting(count)) << "while the device is held back";
}

/// The host writes where the device is done, whether or not anybody has asked since.
TEST_F(VulkanSubmissionsOfMappedMemory, that_have_ended_are_not_in_an_uploads_way) {
  const Add add;
  byre::Buffer used = to_device(counting(count));
  Queue::Hold hold(gpu().queue());
  add(used, 1);
  gpu().queue().submit();
  hold.release();
  vkDeviceWaitIdle(gpu().driver().device());
  const std::uint64_t before = submissions();
  const Words words = counting(count, 9);
  gpu().queue().upload(used.mutable_data(), words.data(), words.size() * 4);
  gpu().queue().submit();
  EXPECT_EQ(submissions(), before) << "no command was needed";
  EXPECT_EQ(to_host(used), words);
}

TEST(VulkanSubmissions, carry_large_uploads_by_the_piece) {
  if (gpu().driver().maps_blocks()) {
    GTEST_SKIP() << "the host writes the device's memory itself";
  }
  gpu().queue().submit();
  const std::uint64_t before = submissions();
  const Words words = counting((9U << 20) + 5);
  const byre::Buffer buffer = to_device(words);
  EXPECT_EQ(submissions(), before + 2) << "of 16 MiB; the rest waits for company";
  EXPECT_EQ(to_host(buffer), words);
}

/// Who neither polls nor waits gets back what was copied, too.
TEST(VulkanSubmissions, end_the_copies_that_were_made) {
  byre::Buffer shared = to_device(counting(count));
  const std::vector<std::function<void()>> ways{
      [] { gpu().queue().submit(); },
      [] { Queue::OneSubmission(gpu().queue()).submit(); },
      [&shared] { shared.lazy_clone().mutable_data(); },
      [] { gpu().queue().poll(); },
      [&shared] {
        for (unsigned i = 0; i != Queue::commands_per_submission; ++i) {
          gpu().queue().fill(shared.mutable_data(), i, 4);
        }
      },
  };
  for (std::size_t way = 0; way != ways.size(); ++way) {
    byre::Buffer source = to_device(Words(1U << 18, 1));
    byre::Buffer copy = source.lazy_clone();
    Queue::Hold hold(gpu().queue());
    copy.mutable_data();
    const std::size_t live = gpu().memory().live_nbytes();
    source = byre::Buffer();
    EXPECT_EQ(gpu().memory().live_nbytes(), live) << "the copy is under way";
    hold.release();
    vkDeviceWaitIdle(gpu().driver().device());
    ways[way]();
    EXPECT_LT(gpu().memory().live_nbytes(), live) << way;
  }
}

TEST(VulkanSubmissions, do_not_hold_up_uploads) {
  const Add add;
  byre::Buffer used = to_device(counting(count));
  Queue::Hold hold(gpu().queue());
  add(used, 1);
  const byre::Buffer fresh = to_device(counting(count, 5));
  const Words words = counting(count, 9);
  gpu().queue().upload(used.mutable_data(), words.data(), 400);
  add(used, 1);
  hold.release();
  EXPECT_EQ(to_host(fresh), counting(count, 5));
  Words expected = counting(count, 2);
  for (std::uint32_t i = 0; i != 100; ++i) {
    expected[i] = 10 + i;
  }
  EXPECT_EQ(to_host(used), expected);
}

TEST_F(VulkanSubmissionsOfMappedMemory, are_not_made_for_who_downloads_what_was_submitted) {
  const Add add;
  byre::Buffer first = to_device(counting(count));
  byre::Buffer last = to_device(counting(count));
  byre::Buffer other = to_device(counting(count));
  Queue::Hold hold(gpu().queue());
  add(first, 1);
  gpu().queue().submit();
  add(last, 2);
  gpu().queue().submit();
  hold.release();
  vkDeviceWaitIdle(gpu().driver().device());
  add(other, 3);
  const std::uint64_t before = submissions();
  EXPECT_EQ(to_host(last), counting(count, 2));
  EXPECT_EQ(to_host(first), counting(count, 1));
  EXPECT_EQ(submissions(), before);
  EXPECT_EQ(to_host(other), counting(count, 3));
  EXPECT_EQ(submissions(), before + 1);
}

/// Uploads `words` where the device is not done, so that they are staged.
void upload_staged(byre::Buffer& buffer, const Words& words) {
  gpu().queue().fill(buffer.mutable_data(), 1, 4);
  gpu().queue().upload(buffer.mutable_data(), words.data(), words.size() * 4);
}

TEST(VulkanSubmissions, are_one_with_large_uploads_too) {
  const Words words = counting((9U << 20) + 5);
  auto buffer = byre::Buffer::allocate(words.size() * 4, gpu().memory());
  gpu().queue().wait_idle();
  const std::uint64_t before = submissions();
  Queue::OneSubmission one(gpu().queue());
  upload_staged(buffer, words);
  EXPECT_EQ(submissions(), before);
  one.submit();
  EXPECT_EQ(submissions(), before + 1);
  EXPECT_EQ(to_host(buffer), words);
}

TEST(VulkanSubmissions, of_a_large_upload_are_at_most_four_ahead_of_the_device) {
  constexpr unsigned pieces = 9;  // of 16 MiB
  const Words words = counting(pieces << 22);
  auto buffer = byre::Buffer::allocate(words.size() * 4, gpu().memory());
  gpu().queue().wait_idle();
  const std::uint64_t before = submissions();
  Queue::Hold hold(gpu().queue());
  std::thread uploads([&] { upload_staged(buffer, words); });
  constexpr unsigned ahead = 5;  // four, and the one that is waited for
  for (int i = 0; i != 1000 && submissions() < before + ahead; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(submissions(), before + ahead);
  hold.release();
  uploads.join();
  EXPECT_EQ(to_host(buffer), words);
}

TEST(VulkanSubmissions, use_staging_memory_again_and_keep_four_pieces_of_it) {
  const auto allocations_of_ten_uploads = [&](std::size_t words) {
    byre::Buffer buffer = to_device(counting(words));
    gpu().queue().wait_idle();
    const std::uint64_t before = gpu().queue().stats().staging_allocations;
    {
      const Queue::Hold hold(gpu().queue());
      for (std::uint32_t i = 0; i != 10; ++i) {
        upload_staged(buffer, counting(words, i));
      }
    }
    gpu().queue().wait_idle();
    EXPECT_EQ(to_host(buffer), counting(words, 9));
    return gpu().queue().stats().staging_allocations - before;
  };
  allocations_of_ten_uploads(1000);
  allocations_of_ten_uploads(100000);
  EXPECT_EQ(allocations_of_ten_uploads(101000), 6U) << "of a size that differs little";
}

TEST(VulkanSubmissions, that_download_use_staging_memory_again) {
  if (gpu().driver().maps_blocks()) {
    GTEST_SKIP() << "the host reads the device's memory itself";
  }
  const byre::Buffer buffer = to_device(counting(count));
  to_host(buffer);
  const std::uint64_t before = gpu().queue().stats().staging_allocations;
  for (int i = 0; i != 10; ++i) {
    EXPECT_EQ(to_host(buffer), counting(count));
  }
  EXPECT_EQ(gpu().queue().stats().staging_allocations, before);
}

TEST(VulkanSubmissions, pass_in_order) {
  Queue& queue = gpu().queue();
  const Add add;
  byre::Buffer buffer = to_device(counting(count));
  const std::uint64_t first = queue.submit();
  queue.wait(first);
  Queue::Hold hold(queue);
  add(buffer, 1);
  const std::uint64_t second = queue.submit();
  EXPECT_EQ(second, first + 1);
  queue.poll();
  EXPECT_TRUE(queue.has_passed(first));
  EXPECT_FALSE(queue.has_passed(second));
  hold.release();
  queue.wait(second);
  EXPECT_TRUE(queue.has_passed(second));
}

}  // namespace
}  // namespace examples::vulkan::test
