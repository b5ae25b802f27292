// SPDX-License-Identifier: BSL-1.0
#include <byre/storage/storage.hpp>

#include <gtest/gtest.h>
#include <boost/atomic/atomic.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include "support/at_once.hpp"

namespace byre::test {
namespace {

/// Counts how many of them there are.
class CountedAttachment final : public detail::Attachment {
 public:
  explicit CountedAttachment(int wanted = 0) : value(wanted) { ++live; }
  ~CountedAttachment() override { --live; }

  inline static boost::atomic<int> live{0};
  const int value;
};

int value_of(const detail::Attachment& attachment) {
  return static_cast<const CountedAttachment&>(attachment).value;
}

TEST(Attachment, slot_costs_a_storage_one_pointer) {
  EXPECT_EQ(sizeof(detail::basic_attachment_slot<sync::Boost>), sizeof(void*));
}

TEST(Attachment, is_the_first_one_and_a_second_is_destroyed) {
  const Storage storage = Storage::allocate(8);
  EXPECT_EQ(storage.slot()->attachment(), nullptr);
  EXPECT_EQ(Storage().slot(), nullptr);
  detail::Attachment& first = storage.slot()->attach(std::make_unique<CountedAttachment>(1));
  EXPECT_EQ(value_of(first), 1);
  EXPECT_EQ(&storage.slot()->attach(std::make_unique<CountedAttachment>(2)), &first);
  EXPECT_EQ(storage.slot()->attachment(), &first);
  EXPECT_EQ(CountedAttachment::live, 1);
}

TEST(Attachment, takes_the_place_of_a_tag) {
  const Storage storage = Storage::allocate(8);
  EXPECT_EQ(storage.slot()->tag(), std::nullopt);
  storage.slot()->set_tag(0);
  storage.slot()->set_tag(5);
  EXPECT_EQ(storage.slot()->tag(), 0U) << "the first stays";
  EXPECT_FALSE(storage.slot()->has_attachment());
  detail::Attachment& attached = storage.slot()->attach(std::make_unique<CountedAttachment>(7));
  EXPECT_EQ(storage.slot()->attachment(), &attached);
  storage.slot()->set_tag(5);
  EXPECT_EQ(storage.slot()->tag(), std::nullopt);
  EXPECT_EQ(storage.slot()->attachment(), &attached);
}

TEST(Attachment, is_shared_by_all_handles_survives_writes_and_ends_with_the_last) {
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
  elsewhere([&] { alias = Storage(); });
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

TEST(Attachment, may_hold_a_storage_that_has_one) {
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

TEST(Attachment, is_one_for_all_threads_that_attach_at_once) {
  constexpr std::size_t threads = 4;
  for (int round = 0; round < 200; ++round) {
    const Storage storage = Storage::allocate(8);
    std::array<detail::Attachment*, threads> attached{};
    at_once(threads, [&](std::size_t thread) {
      attached[thread] =
          &storage.slot()->attach(std::make_unique<CountedAttachment>(static_cast<int>(thread)));
      EXPECT_EQ(storage.slot()->attachment(), attached[thread]);
    });
    for (detail::Attachment* const each : attached) {
      EXPECT_EQ(each, attached[0]);
    }
    EXPECT_EQ(CountedAttachment::live, 1);
  }
  EXPECT_EQ(CountedAttachment::live, 0);
}

}  // namespace
}  // namespace byre::test
