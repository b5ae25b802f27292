// SPDX-License-Identifier: BSL-1.0
/// Dispatches: their order, their arguments, and the barriers between them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "add_spirv.hpp"
#include "device.hpp"
#include "shaders.hpp"

namespace examples::vulkan::test {
namespace {

/// Barriers that `record` has recorded.
template <class Record>
std::uint64_t barriers_of(Record record) {
  gpu().queue().wait_idle();
  const std::uint64_t before = gpu().queue().stats().barriers;
  record();
  return gpu().queue().stats().barriers - before;
}

struct Four {
  byre::Buffer a = to_device(counting(count, 10));
  byre::Buffer b = to_device(counting(count, 20));
  byre::Buffer c = to_device(counting(count, 30));
  byre::Buffer d = to_device(counting(count, 40));
  Add add;

  Four() {
    // Behind one barrier, so that each test begins with none needed.
    add(a, 0);
    add(a, 0);
  }
  void record(byre::Buffer& to, const byre::Buffer& from, std::uint32_t addend) const {
    add(to.mutable_data(), from.data(), count, addend);
  }
};

TEST(VulkanQueue, puts_no_barrier_between_independent_dispatches) {
  Four of;
  EXPECT_EQ(barriers_of([&] {
              of.record(of.b, of.c, 1);
              of.record(of.d, of.c, 2);
            }),
            0U);
  EXPECT_EQ(to_host(of.b), counting(count, 31));
  EXPECT_EQ(to_host(of.d), counting(count, 32));
}

TEST(VulkanQueue, puts_a_barrier_between_a_write_and_a_read_of_it) {
  Four of;
  EXPECT_EQ(barriers_of([&] {
              of.record(of.b, of.c, 1);
              of.record(of.d, of.b, 2);
            }),
            1U);
  EXPECT_EQ(to_host(of.d), counting(count, 33));
}

TEST(VulkanQueue, puts_a_barrier_between_a_read_and_a_write_after_it) {
  Four of;
  EXPECT_EQ(barriers_of([&] {
              of.record(of.b, of.c, 1);
              of.record(of.c, of.d, 2);
            }),
            1U);
  EXPECT_EQ(to_host(of.b), counting(count, 31));
  EXPECT_EQ(to_host(of.c), counting(count, 42));
}

TEST(VulkanQueue, puts_a_barrier_between_two_writes) {
  Four of;
  EXPECT_EQ(barriers_of([&] {
              of.record(of.b, of.c, 1);
              of.record(of.b, of.d, 2);
            }),
            1U);
  EXPECT_EQ(to_host(of.b), counting(count, 42));
}

TEST(VulkanQueue, has_one_barrier_serve_all_that_depends_on_what_was_before_it) {
  Four of;
  EXPECT_EQ(barriers_of([&] {
              of.record(of.b, of.d, 1);
              of.record(of.c, of.d, 2);
              of.add(of.b, 3);
              of.add(of.c, 4);
            }),
            1U);
  EXPECT_EQ(to_host(of.b), counting(count, 44));
  EXPECT_EQ(to_host(of.c), counting(count, 46));
}

TEST(VulkanQueue, puts_barriers_between_copies_fills_and_dispatches) {
  Four of;
  EXPECT_EQ(barriers_of([&] {
              gpu().queue().fill(of.b.mutable_data(), 5, std::size_t{count} * 4);
              of.add(of.b, 1);
              gpu().queue().copy(of.c.mutable_data(), of.b.data(), std::size_t{count} * 4);
              of.add(of.c, 1);
            }),
            3U);
  EXPECT_EQ(to_host(of.c), Words(count, 7));
}

TEST(VulkanQueue, knows_a_hazard_across_submissions) {
  Four of;
  EXPECT_EQ(barriers_of([&] {
              of.add(of.b, 1);
              gpu().queue().submit();
              of.add(of.b, 1);
            }),
            1U);
  EXPECT_EQ(to_host(of.b), counting(count, 22));
}

TEST(VulkanQueue, passes_parameters_that_are_more_than_push_constants_hold) {
  const Sum sum;
  Words expected(count, 0);
  byre::Buffer to = to_device(expected);
  Queue::OneSubmission one(gpu().queue());
  for (const std::size_t parameters : {1U, 33U, 5000U, 16000U, 16000U, 40000U, 7U}) {
    const Words ones(parameters, 1);
    sum(to, ones);
    for (std::uint32_t& word : expected) {
      word += static_cast<std::uint32_t>(parameters);
    }
  }
  one.submit();
  EXPECT_EQ(to_host(to), expected);
}

TEST(VulkanQueue, records_no_dispatch_of_no_groups) {
  Four of;
  const Use use{of.a.mutable_data(), of.a.nbytes(), Use::write};
  const std::array<std::byte, 8> constants{};
  const QueueStats before = gpu().queue().stats();
  for (const auto& [x, y, z] : {std::array{0U, 1U, 1U}, {1U, 0U, 1U}, {1U, 1U, 0U}}) {
    gpu().queue().dispatch(of.add.pipeline(), std::array{use, use}, constants, x, y, z);
  }
  EXPECT_EQ(gpu().queue().stats().dispatches, before.dispatches);
}

TEST(VulkanQueue, fills_words) {
  byre::Buffer buffer = to_device(counting(count));
  Queue& queue = gpu().queue();
  EXPECT_THROW(queue.fill(buffer.mutable_data(), 5, 6), byre::InvalidArgument);
  EXPECT_THROW(queue.fill(buffer.mutable_data() + 2, 5, 4), byre::InvalidArgument);
  EXPECT_EQ(to_host(buffer), counting(count)) << "nothing was filled";
  queue.fill(buffer.mutable_data() + 8, 5, 12);
  Words expected = counting(count);
  std::fill_n(expected.begin() + 2, 3, 5);
  EXPECT_EQ(to_host(buffer), expected);
}

TEST(VulkanQueue, recycles_what_command_buffers_need) {
  const Sum sum;
  const Add add(3);
  byre::Buffer to = to_device(Words(count, 0));
  std::uint32_t expected = 0;
  const auto record_many = [&] {
    for (std::uint32_t i = 0; i != 1000; ++i) {
      sum(to, std::array{i, i});
      add(to, 1);
      expected = (expected + 2 * i) * 3 + 1;
    }
  };
  record_many();
  EXPECT_EQ(to_host(to), Words(count, expected));
  const Words large(40000, 1);  // more than what was for small ones
  sum(to, large);
  expected += 40000;
  EXPECT_EQ(to_host(to), Words(count, expected));
}

TEST(VulkanQueue, needs_nothing_new_for_what_it_records_again) {
  const Sum sum;
  byre::Buffer to = to_device(Words(count, 0));
  const auto record = [&] {
    for (std::uint32_t i = 0; i != Queue::commands_per_submission - 4; ++i) {
      sum(to, std::array{i, i});
    }
    for (int i = 0; i != 3; ++i) {
      sum(to, Words(16000, 1));  // each in memory of its own
    }
    gpu().queue().wait_idle();
    return gpu().queue().stats().recording_allocations;
  };
  gpu().queue().wait_idle();
  const std::uint64_t once = record();
  EXPECT_GT(once, 0U);
  for (int again = 0; again != 3; ++again) {
    EXPECT_EQ(record(), once);
  }
}

TEST(VulkanQueue, puts_the_arguments_of_many_dispatches_into_few_allocations) {
  const Sum sum;
  byre::Buffer to = to_device(Words(count, 0));
  gpu().queue().wait_idle();
  const std::uint64_t before = gpu().queue().stats().recording_allocations;
  const Queue::Hold hold(gpu().queue());  // so that none is used again
  for (std::uint32_t i = 0; i != 10 * Queue::commands_per_submission; ++i) {
    sum(to, std::array{i, i});
  }
  EXPECT_LE(gpu().queue().stats().recording_allocations, before + 4U * 11);
}

TEST(VulkanQueue, refuses_dispatches_that_do_not_fit_their_pipeline_or_the_device) {
  Queue& queue = gpu().queue();
  const Add add;
  const Pipeline& pipeline = add.pipeline();
  byre::Buffer buffer = to_device(counting(count));
  const Use use{buffer.mutable_data(), buffer.nbytes(), Use::write};
  const std::array<std::byte, 8> constants{};
  const QueueStats before = queue.stats();
  EXPECT_THROW(queue.dispatch(pipeline, std::array{use}, constants, 1), byre::InvalidArgument);
  EXPECT_THROW(queue.dispatch(pipeline, std::array{use, use, use}, constants, 1),
               byre::InvalidArgument);
  EXPECT_THROW(queue.dispatch(pipeline, std::array{use, use}, {}, 1), byre::InvalidArgument);
  EXPECT_THROW(queue.dispatch(pipeline, std::array{use, use}, constants, constants, 1, 1, 1),
               byre::InvalidArgument);
  const std::array unaligned{Use{buffer.data() + 4, 4, Use::read}, use};
  const VkPhysicalDeviceLimits& limits = gpu().limits();
  if (limits.minStorageBufferOffsetAlignment > 4) {
    EXPECT_THROW(queue.dispatch(pipeline, unaligned, constants, 1), byre::InvalidArgument);
  }
  const std::array outside{Use{buffer.data(), std::size_t{1} << 20, Use::read}, use};
  EXPECT_THROW(queue.dispatch(pipeline, outside, constants, 1), byre::InvalidArgument);
  for (const std::size_t axis : {0U, 1U, 2U}) {
    std::array<std::uint32_t, 3> groups{1, 1, 1};
    groups.at(axis) = limits.maxComputeWorkGroupCount[axis];
    if (++groups.at(axis) != 0) {
      EXPECT_THROW(queue.dispatch(pipeline, std::array{use, use}, constants, groups[0], groups[1],
                                  groups[2]),
                   byre::InvalidArgument);
    }
  }
  EXPECT_THROW(Sum()(buffer, {}), byre::InvalidArgument);
  EXPECT_EQ(queue.stats().dispatches, before.dispatches);
}

TEST(VulkanQueue, dispatches_as_many_groups_as_the_device_has) {
  const Add add;
  byre::Buffer buffer = to_device(counting(count));
  const Use use{buffer.mutable_data(), buffer.nbytes(), Use::write};
  const std::array<std::byte, 8> of_no_words{};
  gpu().queue().dispatch(add.pipeline(), std::array{use, use}, of_no_words, 1,
                         gpu().limits().maxComputeWorkGroupCount[1]);
  EXPECT_EQ(to_host(buffer), counting(count));
}

TEST(VulkanQueue, binds_whole_words_and_at_least_one) {
  const Add add;
  byre::Buffer buffer = to_device(counting(count));
  void* const data = buffer.mutable_data();
  for (const std::size_t nbytes : {count * 4UL - 3, 0UL}) {
    const std::uint32_t words = nbytes == 0 ? 1 : count;
    const std::array uses{Use{data, nbytes, Use::read}, Use{data, nbytes, Use::write}};
    const std::array constants{words, std::uint32_t{1}};
    gpu().queue().dispatch(add.pipeline(), uses, std::as_bytes(std::span(constants)),
                           count / 64 + 1);
  }
  Words expected = counting(count, 1);
  ++expected.front();
  EXPECT_EQ(to_host(buffer), expected);
}

TEST(VulkanQueue, does_nothing_with_no_bytes_wherever_they_are) {
  Queue& queue = gpu().queue();
  const QueueStats before = queue.stats();
  queue.copy(nullptr, nullptr, 0);
  queue.fill(nullptr, 7, 0);
  queue.upload(nullptr, nullptr, 0);
  queue.download(nullptr, nullptr, 0);
  const QueueStats after = queue.stats();
  EXPECT_EQ(after.copies, before.copies);
  EXPECT_EQ(after.fills, before.fills);
  EXPECT_EQ(after.uploads, before.uploads);
  EXPECT_EQ(after.downloads, before.downloads);
}

TEST(VulkanQueue, counts_what_it_does) {
  Queue& queue = gpu().queue();
  byre::Buffer buffer = to_device(counting(count));
  byre::Buffer other = to_device(counting(count));
  const Add add;
  queue.wait_idle();
  const QueueStats before = queue.stats();
  add(buffer, 1);
  queue.fill(other.mutable_data(), 7, 8);
  queue.copy(other.mutable_data() + 8, buffer.data(), 12);
  queue.upload(other.mutable_data() + 20, counting(4).data(), 16);
  Words read(5);
  queue.download(read.data(), other.data(), 20);
  const QueueStats after = queue.stats();
  EXPECT_EQ(after.dispatches, before.dispatches + 1);
  EXPECT_EQ(after.fills, before.fills + 1);
  EXPECT_EQ(after.copies, before.copies + 1);
  EXPECT_EQ(after.bytes_copied, before.bytes_copied + 12);
  EXPECT_EQ(after.uploads, before.uploads + 1);
  EXPECT_EQ(after.bytes_uploaded, before.bytes_uploaded + 16);
  EXPECT_EQ(after.downloads, before.downloads + 1);
  EXPECT_EQ(after.bytes_downloaded, before.bytes_downloaded + 20);
  EXPECT_EQ(read, (Words{7, 7, 1, 2, 3}));
}

std::string refusal_of_a_pipeline(const PipelineLayout& layout) {
  try {
    const Pipeline pipeline(gpu(), add_spirv, layout);
    return "none";
  } catch (const VulkanError& error) {
    return error.what();
  }
}

TEST(VulkanQueue, takes_the_pipelines_that_the_limits_of_the_device_admit) {
  const std::uint32_t most = gpu().limits().maxPushConstantsSize;
  EXPECT_EQ(refusal_of_a_pipeline({.buffers = 2, .push_constants_nbytes = most}), "none");
  for (const std::uint32_t nbytes : {most + 4, 10U}) {
    EXPECT_NE(refusal_of_a_pipeline({.buffers = 2, .push_constants_nbytes = nbytes})
                  .find("maxPushConstantsSize"),
              std::string::npos);
  }
  const std::uint32_t buffers = gpu().limits().maxPerStageDescriptorStorageBuffers;
  if (buffers <= 1024) {
    EXPECT_EQ(refusal_of_a_pipeline({.buffers = buffers, .push_constants_nbytes = 8}), "none");
  }
  for (const bool has_parameters : {false, true}) {
    EXPECT_NE(refusal_of_a_pipeline({.buffers = buffers + (has_parameters ? 0 : 1),
                                     .push_constants_nbytes = 8,
                                     .has_parameters = has_parameters})
                  .find("maxPerStageDescriptorStorageBuffers"),
              std::string::npos);
  }
}

TEST(VulkanQueue, refuses_more_than_a_shader_can_be_given_and_names_the_limit) {
  const std::size_t most = gpu().limits().maxStorageBufferRange;
  if (most >= gpu().driver().max_nbytes() / 2 || most > (std::size_t{1} << 30)) {
    GTEST_SKIP() << "a shader can be given " << most << " bytes";
  }
  const Add add;
  auto buffer = byre::Buffer::allocate(most + 4, gpu().memory());
  const Use all_but_a_word{buffer.mutable_data(), most, Use::write};
  EXPECT_NO_THROW(gpu().queue().dispatch(add.pipeline(), std::array{all_but_a_word, all_but_a_word},
                                         std::array<std::byte, 8>{}, 1));
  const Use use{buffer.mutable_data(), buffer.nbytes(), Use::write};
  try {
    gpu().queue().dispatch(add.pipeline(), std::array{use, use}, std::array<std::byte, 8>{}, 1);
    FAIL();
  } catch (const VulkanError& error) {
    EXPECT_NE(std::string(error.what()).find("maxStorageBufferRange"), std::string::npos);
  }
}

}  // namespace
}  // namespace examples::vulkan::test
