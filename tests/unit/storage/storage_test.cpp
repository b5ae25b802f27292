// SPDX-License-Identifier: BSL-1.0
// Single guarantees of Storage and attachments. random_programs_test.cpp compares all other
// behavior with the model of stress/programs.
#include <byre/storage/storage.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/at_once.hpp"
#include "support/failing_allocator.hpp"

namespace byre::test {
namespace {

static_assert(sizeof(Storage) == sizeof(void*));
static_assert(std::is_nothrow_copy_constructible_v<Storage>);
static_assert(std::is_nothrow_move_constructible_v<Storage>);

TEST(Storage, a_lazy_clone_is_a_distinct_storage_that_shares_the_data) {
  Storage storage = Storage::allocate(8);
  storage.mutable_data()[0] = std::byte{1};
  Storage clone = storage.lazy_clone();
  EXPECT_TRUE(clone);
  EXPECT_FALSE(Storage().lazy_clone());
  EXPECT_FALSE(Storage().writable_clone());
  EXPECT_NE(storage, clone);
  EXPECT_TRUE(clone.shares_data_with(storage));
  EXPECT_EQ(clone.data(), storage.data());
  EXPECT_EQ(storage.use_count(), 2U);

  storage.mutable_data()[0] = std::byte{2};
  EXPECT_EQ(clone.data()[0], std::byte{1});
  EXPECT_FALSE(clone.shares_data_with(storage));
}

TEST(Storage, a_writable_clone_that_never_waits_copies_pending_data) {
  FailingAllocator allocator;
  Storage slow = Storage::allocate(100, allocator);
  Storage hasty = slow.lazy_clone();
  std::size_t nbytes = 0;
  allocator.during_copy([&] {
    allocator.during_copy(nullptr);
    nbytes = hasty.writable_clone(Wait::never).nbytes();  // waiting would hang
  });
  slow.mutable_data();
  EXPECT_EQ(nbytes, 100U);
}

TEST(Storage, many_threads_may_make_the_first_clone_concurrently) {
  Storage source;
  std::vector<Storage> clones(4);
  run_rounds(
      4, 3000,
      [&](std::size_t round) {
        clones.assign(4, Storage());
        source = Storage::allocate(32);
        std::memset(source.mutable_data(), static_cast<int>(round % 256), 32);
      },
      [&](std::size_t thread) {
        clones[thread] = source.lazy_clone();
        clones[thread].mutable_data()[0] = static_cast<std::byte>(thread);
      },
      [&](std::size_t round) {
        EXPECT_TRUE(source.is_unique());
        EXPECT_EQ(source.data()[0], static_cast<std::byte>(round % 256));
        for (std::size_t thread = 0; thread < 4; ++thread) {
          EXPECT_EQ(clones[thread].data()[0], static_cast<std::byte>(thread));
          EXPECT_EQ(clones[thread].data()[31], static_cast<std::byte>(round % 256));
        }
      });
}

/// Counts its live instances.
class CountedAttachment final : public detail::Attachment {
 public:
  explicit CountedAttachment(int wanted = 0) : value(wanted) { ++live; }
  ~CountedAttachment() override { --live; }

  inline static int live = 0;
  const int value;
};

int value_of(const detail::Attachment& attachment) {
  return static_cast<const CountedAttachment&>(attachment).value;
}

TEST(Attachment, the_slot_has_the_size_of_one_pointer) {
  EXPECT_EQ(sizeof(detail::basic_attachment_slot<sync::Default>), sizeof(void*));
}

TEST(Attachment, a_second_attachment_is_destroyed_and_the_first_returned) {
  const Storage storage = Storage::allocate(8);
  EXPECT_EQ(storage.slot()->attachment(), nullptr);
  EXPECT_EQ(Storage().slot(), nullptr);
  detail::Attachment& first = storage.slot()->attach(std::make_unique<CountedAttachment>(1));
  EXPECT_EQ(value_of(first), 1);
  EXPECT_EQ(&storage.slot()->attach(std::make_unique<CountedAttachment>(2)), &first);
  EXPECT_EQ(storage.slot()->attachment(), &first);
  EXPECT_EQ(CountedAttachment::live, 1);
}

TEST(Attachment, replaces_a_tag_but_a_tag_never_replaces_an_attachment) {
  const Storage storage = Storage::allocate(8);
  EXPECT_EQ(storage.slot()->tag(), std::nullopt);
  storage.slot()->set_tag(0);
  storage.slot()->set_tag(5);
  EXPECT_EQ(storage.slot()->tag(), 0U) << "the first tag must remain";
  EXPECT_FALSE(storage.slot()->has_attachment());
  detail::Attachment& attached = storage.slot()->attach(std::make_unique<CountedAttachment>(7));
  EXPECT_EQ(storage.slot()->attachment(), &attached);
  storage.slot()->set_tag(5);
  EXPECT_EQ(storage.slot()->tag(), std::nullopt);
  EXPECT_EQ(storage.slot()->attachment(), &attached);
}

TEST(Attachment, is_shared_by_all_handles_and_survives_writes) {
  Storage storage = Storage::allocate(8);
  detail::Attachment& attached = storage.slot()->attach(std::make_unique<CountedAttachment>());
  const Storage clone = storage.lazy_clone();
  storage.mutable_data()[0] = std::byte{1};
  Storage alias = storage;
  Storage moved = std::move(storage);
  EXPECT_EQ(alias.slot()->attachment(), &attached);
  EXPECT_EQ(moved.slot()->attachment(), &attached);
  moved = Storage();
  EXPECT_EQ(CountedAttachment::live, 1);
  on_another_thread([&] { alias = Storage(); });
  EXPECT_EQ(CountedAttachment::live, 0);
}

TEST(Attachment, is_not_shared_with_lazy_clones) {
  const Storage storage = Storage::allocate(8);
  storage.slot()->attach(std::make_unique<CountedAttachment>(1));
  {
    const Storage clone = storage.lazy_clone();
    EXPECT_EQ(clone.slot()->attachment(), nullptr);
    EXPECT_EQ(value_of(clone.slot()->attach(std::make_unique<CountedAttachment>(2))), 2);
    EXPECT_EQ(value_of(*storage.slot()->attachment()), 1);
    EXPECT_EQ(CountedAttachment::live, 2);
  }
  EXPECT_EQ(CountedAttachment::live, 1);
}

TEST(Attachment, may_hold_a_storage_with_an_attachment) {
  struct Holder final : detail::Attachment {
    explicit Holder(Storage wanted) : held(std::move(wanted)) {}
    Storage held;
  };
  Storage storage = Storage::allocate(8);
  storage.slot()->attach(std::make_unique<CountedAttachment>());
  for (int depth = 0; depth < 10; ++depth) {
    Storage next = Storage::allocate(8);
    next.slot()->attach(std::make_unique<Holder>(std::move(storage)));
    storage = std::move(next);
  }
  EXPECT_EQ(CountedAttachment::live, 1);
  storage = Storage();
  EXPECT_EQ(CountedAttachment::live, 0);
}

}  // namespace
}  // namespace byre::test
