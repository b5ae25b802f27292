// SPDX-License-Identifier: BSL-1.0
// Complaints of lazy clones elsewhere, and what byre does. docs/answers.md says where each was made.
#include <byre/byre.hpp>
#include <byre/memory/host_allocators.hpp>
#include <byre/observe/recording.hpp>
#include <byre/tensor.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "costs.hpp"

namespace byre::test {
namespace {

constexpr std::size_t nbytes = 4096;

Buffer filled_with(int value) {
  Buffer buffer = Buffer::allocate(nbytes);
  std::memset(buffer.mutable_data(), value, nbytes);
  return buffer;
}

TEST(Complaints, a_lazy_clone_of_foreign_memory_shares_it_and_it_is_released_once) {
  std::vector<std::byte> theirs(nbytes, std::byte{1});
  int releases = 0;
  {
    Storage storage = Storage(Buffer::adopt(theirs.data(), nbytes, [&](void*) { ++releases; }));
    const Costs costs;
    const Storage clone = storage.lazy_clone();
    EXPECT_EQ(clone.data(), theirs.data());
    EXPECT_TRUE(costs.copied(0));

    storage.mutable_data()[0] = std::byte{2};
    EXPECT_TRUE(costs.copied(nbytes));
    EXPECT_EQ(clone.data(), theirs.data());
    EXPECT_EQ(theirs[0], std::byte{1});
    EXPECT_EQ(releases, 0);
  }
  EXPECT_EQ(releases, 1);
}

/// Stands for memory that a driver has locked: who copies it wants locked memory again.
class PageLocked final : public Allocator {
 public:
  Block allocate(const Request& request) override {
    ++blocks;
    return aligned_allocator().allocate(request);
  }
  void deallocate(const Block& block) noexcept override {
    --blocks;
    aligned_allocator().deallocate(block);
  }
  const char* name() const noexcept override { return "page-locked memory"; }

  int blocks = 0;
};

TEST(Complaints, a_lazy_clone_of_page_locked_memory_shares_it_and_a_copy_is_locked_too) {
  PageLocked locked;
  {
    Storage storage = Storage::allocate(nbytes, locked);
    storage.mutable_data()[0] = std::byte{1};
    const Storage clone = storage.lazy_clone();
    EXPECT_EQ(clone.data(), storage.data());
    EXPECT_EQ(locked.blocks, 1);

    storage.mutable_data()[0] = std::byte{2};
    EXPECT_EQ(clone.data()[0], std::byte{1});
    EXPECT_EQ(&storage.allocator(), &locked);
    EXPECT_EQ(locked.blocks, 2);
  }
  EXPECT_EQ(locked.blocks, 0);
}

TEST(Complaints, a_lazy_clone_leaves_its_source_as_it_was) {
  std::vector<std::byte> theirs(nbytes, std::byte{1});
  Storage source = Storage(Buffer::adopt(theirs.data(), nbytes, [](void*) {}));
  const Costs costs;
  {
    const Storage& only_read = source;
    const Storage clone = only_read.lazy_clone();
    EXPECT_EQ(source.data(), theirs.data());
    EXPECT_EQ(source.origin(), Origin::adopted);
  }
  EXPECT_TRUE(source.is_unique());
  EXPECT_EQ(source.materialize(), Materialized::already_unique);
  EXPECT_EQ(source.mutable_data(), theirs.data());
  EXPECT_TRUE(costs.copied(0));
}

TEST(Complaints, data_that_is_not_shared_is_read_and_written_without_a_copy) {
  Buffer buffer = filled_with(1);
  Buffer clone = buffer;
  const Costs costs;
  EXPECT_EQ(buffer.data(), clone.data());  // of a buffer that may be written: reads all the same
  clone = Buffer();
  const std::byte* const data = buffer.data();
  EXPECT_EQ(buffer.mutable_data(), data);

  std::vector<std::byte> theirs(nbytes);
  Buffer adopted = Buffer::adopt(theirs.data(), nbytes, [](void*) {});
  EXPECT_EQ(adopted.mutable_data(), theirs.data());
  EXPECT_TRUE(costs.copied(0));
}

/// A step that writes its result into the memory of its argument, where nobody else has that.
Buffer sum_into(Buffer donated, const Buffer& other) {
  std::byte* const sum = donated.mutable_data();
  for (std::size_t byte = 0; byte < donated.nbytes(); ++byte) {
    sum[byte] = static_cast<std::byte>(std::to_integer<int>(sum[byte]) +
                                       std::to_integer<int>(other.data()[byte]));
  }
  return donated;
}

TEST(Complaints, a_buffer_that_is_donated_and_used_again_is_copied_and_stays_what_it_was) {
  const Buffer x = filled_with(3);
  const Costs costs;
  const Buffer twice = sum_into(x, x);
  EXPECT_EQ(twice.data()[0], std::byte{6});
  EXPECT_EQ(x.data()[0], std::byte{3});
  EXPECT_TRUE(costs.copied(nbytes));
}

TEST(Complaints, a_buffer_that_is_moved_is_donated_without_a_copy_and_has_no_bytes_then) {
  Buffer x = filled_with(3);
  const Buffer y = filled_with(4);
  const std::byte* const memory = x.data();
  const Costs costs;
  const Buffer sum = sum_into(std::move(x), y);
  EXPECT_EQ(sum.data(), memory);
  EXPECT_EQ(sum.data()[0], std::byte{7});
  EXPECT_TRUE(costs.copied(0));
  EXPECT_EQ(x.nbytes(), 0U);  // NOLINT(bugprone-use-after-move): this is what is promised
  EXPECT_EQ(x.data(), nullptr);
  EXPECT_EQ(sum_into(std::move(x), y).nbytes(), 0U);
}

TEST(Complaints, a_recurrent_state_that_is_updated_in_place_leaves_its_snapshot_alone) {
  Tensor state = Tensor::of<float>({2}, {1, 2});
  const Tensor prefix = state.lazy_clone();
  const Costs costs;
  for (int token = 0; token < 3; ++token) {
    add_(state, 10);  // the first one copies, the others write in place
  }
  Tensor of_another_request = prefix.lazy_clone();
  add_(of_another_request, 100);
  EXPECT_EQ(to_string(prefix), "[1. 2.]");
  EXPECT_EQ(to_string(state), "[31. 32.]");
  EXPECT_EQ(to_string(of_another_request), "[101. 102.]");
  EXPECT_TRUE(costs.copied(2 * prefix.nbytes()));
}

#if BYRE_CHECKS

// What remains a contract: by a pointer from before a lazy clone nothing is written any more. A checked build finds
// who does: where the data has pages of its own at once, and else by a checksum, at the next write for example.

std::string at(int line) {
  return "at [^ ]*clones_test.cpp:" + std::to_string(line);
}

TEST(ComplaintsDeathTest, a_kernel_that_kept_its_pointer_to_a_state_is_reported) {
  Storage state = Storage::allocate(std::size_t{1} << 20);
  const int taken = __LINE__ + 1;
  std::byte* const kept = state.mutable_data();
  const Storage prefix = state.lazy_clone();
  EXPECT_DEATH(kept[5] = std::byte{1},
               "a write to shared data, .* byte 5 of the storage of 1048576 bytes .* taken " +
                   at(taken) + ", the clone made " + at(taken + 1));
}

TEST(ComplaintsDeathTest, a_donated_buffer_that_is_written_by_an_old_pointer_is_reported) {
  Buffer x = Buffer::allocate(1000);
  const int taken = __LINE__ + 1;
  std::byte* const old = x.mutable_data();
  Buffer given = x;
  EXPECT_DEATH((old[0] ^= std::byte{1}, given.mutable_data()),
               "the storage of 1000 bytes .* has changed since, .* taken " + at(taken) +
                   ", the clone made " + at(taken + 1));
}

TEST(ComplaintsDeathTest, a_kernel_that_casts_const_away_and_writes_shared_data_is_reported) {
  const Storage weights = Storage::allocate(std::size_t{1} << 20);
  const int cloned = __LINE__ + 1;
  const Storage clone = weights.lazy_clone();
  EXPECT_DEATH(const_cast<std::byte*>(clone.data())[5] = std::byte{1},
               "a write to shared data, .* byte 5 .* taken by no call of mutable_data\\(\\), "
               "the clone made " +
                   at(cloned));
}

#endif

TEST(Complaints, whether_a_copy_was_avoided_is_tested_and_why_one_was_made_is_seen) {
  if (!BYRE_STATS) {
    GTEST_SKIP() << "built without stats";
  }
  Buffer weights = filled_with(1);
  const trace::Recording recording;
  stats::expect_copies_at_most(0, [&] { weights.mutable_data()[0] = std::byte{2}; });

  const Buffer snapshot = weights.lazy_clone({"checkpoint.cpp", 12});
  weights.mutable_data(Wait::allowed, {"train.cpp", 34})[0] = std::byte{3};
  EXPECT_TRUE(
      recording.summary().ends_with("1. 1 copy of 4096 bytes (shared)\n"
                                    "  written at train.cpp:34\n"
                                    "  cloned at checkpoint.cpp:12\n"))
      << recording.summary();
}

}  // namespace
}  // namespace byre::test
