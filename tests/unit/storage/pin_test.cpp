// SPDX-License-Identifier: BSL-1.0
// Pins: bytes of a storage for a user that keeps a pointer to them. stress/programs compares pins with a model.
#include <byre/observe/counters.hpp>
#include <byre/observe/events.hpp>
#include <byre/storage/explain.hpp>
#include <byre/storage/pin.hpp>

#include <gtest/gtest.h>
#include <boost/thread/thread.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "storage/text.hpp"
#include "support/complaint.hpp"
#include "support/failing_allocator.hpp"

namespace byre::test {
namespace {

void write_first(std::byte* data, char letter) {
  data[0] = static_cast<std::byte>(letter);
}

TEST(Pin, makes_lazy_clones_copy_until_it_is_released) {
  FailingAllocator allocator;
  Storage storage = of_text<Storage>("cow", allocator);
  const std::byte* const before = std::as_const(storage).data();
  EXPECT_FALSE(says(explain(storage), "pinned"));
  Pin pin = storage.pin();
  EXPECT_EQ(pin.data(), before);
  EXPECT_EQ(allocator.copies(), 0) << "the data had one owner";
  EXPECT_EQ(storage.pin().data(), before) << "a second one, which ends";
  EXPECT_TRUE(storage.is_pinned());
  EXPECT_TRUE(says(explain(storage),
                   "a write goes to them directly. A lazy clone copies them, as they are pinned"));
  Storage clone = storage.lazy_clone();
  EXPECT_FALSE(clone.shares_data_with(storage));
  EXPECT_FALSE(clone.is_pinned());
  EXPECT_EQ(allocator.copies(), 1);
  write_first(pin.mutable_data(), 'n');
  EXPECT_EQ(text_of(clone), "cow");
  pin = Pin();
  EXPECT_FALSE(storage.is_pinned());
  EXPECT_TRUE(storage.lazy_clone().shares_data_with(storage));
  EXPECT_EQ(allocator.copies(), 1);
}

TEST(Pin, that_is_moved_is_released_once) {
  Storage storage = of_text<Storage>("cow");
  Pin first = storage.pin();
  Pin second = std::move(first);
  EXPECT_EQ(first.data(), nullptr);
  EXPECT_FALSE(first.is_writable());
  EXPECT_TRUE(second.is_writable());
  first = Pin();
  EXPECT_TRUE(storage.is_pinned());
  Storage other = of_text<Storage>("sheep");
  Pin third = other.pin();
  third.swap(second);
  EXPECT_EQ(text_of(second), "sheep");
  third = std::move(second);
  EXPECT_FALSE(storage.is_pinned());
  EXPECT_TRUE(other.is_pinned());
}

TEST(Pin, refuses_what_would_move_the_bytes) {
  Storage storage = of_text<Storage>("cow");
  {
    const Pin pin = storage.pin();
    EXPECT_TRUE(says(complaint_of<NotUnique>([&] { storage.resize(1000); }),
                     "resize to 1000 bytes of a storage of 3 that is pinned",
                     "Release what holds it first"));
    EXPECT_THROW(storage.resize(1), NotUnique);
    EXPECT_TRUE(says(complaint_of<NotUnique>([&] { storage.shrink_to_fit(); }), "pinned"));
    EXPECT_EQ(pin.data(), std::as_const(storage).data());
  }
  storage.resize(1000);
  EXPECT_EQ(storage.nbytes(), 1000U);
}

TEST(PinToRead, shares_the_data_and_sees_no_later_write) {
  FailingAllocator allocator;
  Storage storage = of_text<Storage>("cow", allocator);
  Pin pin = storage.pin_to_read();
  EXPECT_EQ(pin.data(), std::as_const(storage).data());
  EXPECT_EQ(pin.mutable_data(), nullptr);
  EXPECT_EQ(allocator.copies(), 0);
  EXPECT_FALSE(storage.is_pinned());
  EXPECT_TRUE(storage.lazy_clone().shares_data_with(storage));
  write_first(storage.mutable_data(), 'n');
  EXPECT_EQ(text_of(pin), "cow");
  EXPECT_EQ(text_of(storage), "now");
  pin = Pin();
  EXPECT_EQ(allocator.blocks_out(), 1U);
}

/// Memory that others write is not copied: the pin is one more alias, and so are later writes of the storage seen.
/// A copy is made of memory that is borrowed to be read, which ends with the storage.
TEST(PinToRead, of_foreign_memory_is_an_alias_or_outlives_it) {
  char memory[] = "cow";
  const void* const constant = memory;
  const auto keep = [](void*) {};
  const struct {
    std::function<Buffer()> make;
    bool is_alias, sees_writes;
  } origins[] = {
      {[&] { return Buffer::borrow(memory, 3); }, true, true},
      {[&] { return Buffer::adopt_aliased(memory, 3, keep); }, true, true},
      {[&] { return Buffer::adopt_aliased(constant, 3, keep); }, true, false},
      {[&] { return Buffer::borrow(constant, 3); }, false, false},
  };
  for (const auto& origin : origins) {
    SCOPED_TRACE(&origin - origins);
    memory[0] = 'c';
    Storage storage = Storage(origin.make());
    const Pin pin = storage.pin_to_read();
    EXPECT_EQ(pin.data() == std::as_const(storage).data(), origin.is_alias);
    EXPECT_FALSE(pin.is_writable());
    write_first(storage.mutable_data(), 'n');
    EXPECT_EQ(text_of(pin), origin.sees_writes ? "now" : "cow");
    storage = Storage();
    EXPECT_EQ(text_of(pin), origin.sees_writes ? "now" : "cow");
  }
}

TEST(PinToRead, of_memory_aliased_to_read_is_no_lazy_clone) {
  if (!BYRE_STATS) {
    GTEST_SKIP() << "built without counters";
  }
  const char memory[] = "cow";
  Storage storage =
      Storage(Buffer::adopt_aliased(static_cast<const void*>(memory), 3, [](void*) {}));
  const Pin pin = storage.pin_to_read();
  std::vector<stats::CopyCause> causes;
  const stats::InstalledSink sink(
      [&](const stats::CopyEvent& event) { causes.push_back(event.cause); });
  const stats::Counters before = stats::snapshot();
  EXPECT_EQ(storage.materialize(), Materialized::copied);
  const stats::Counters counted = stats::snapshot() - before;
  EXPECT_EQ(causes, std::vector{stats::CopyCause::read_only});
  EXPECT_EQ(counted.bytes_copied, 3);
  EXPECT_EQ(counted.bytes_not_copied, 0);
}

TEST(Pins, are_released_on_other_threads_while_the_storage_is_cloned) {
  Storage storage = of_text<Storage>("cow");
  for (int round = 0; round < 200; ++round) {
    Pin writer = storage.pin();
    boost::thread consumer([held = std::move(writer), round]() mutable {
      write_first(held.mutable_data(), static_cast<char>('a' + round % 26));
      held = Pin();
    });
    while (storage.is_pinned()) {
      boost::this_thread::yield();
    }
    const Storage clone = storage.lazy_clone();
    EXPECT_TRUE(clone.shares_data_with(storage));
    EXPECT_EQ(clone.data()[0], static_cast<std::byte>('a' + round % 26));
    consumer.join();
  }
}

}  // namespace
}  // namespace byre::test
