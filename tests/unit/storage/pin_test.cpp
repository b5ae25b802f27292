// SPDX-License-Identifier: BSL-1.0
// Pins: bytes of a storage for somebody who keeps a pointer to them.
#include <byre/observe/counters.hpp>
#include <byre/observe/events.hpp>
#include <byre/storage/explain.hpp>
#include <byre/storage/pin.hpp>

#include <gtest/gtest.h>
#include <boost/thread/thread.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "storage/text.hpp"
#include "support/complaint.hpp"
#include "support/failing_allocator.hpp"

namespace byre::test {
namespace {

Storage storage_of(const char* text, Allocator& allocator = default_allocator()) {
  Storage storage = Storage::allocate(std::strlen(text), allocator);
  std::memcpy(storage.mutable_data(), text, std::strlen(text));
  return storage;
}

std::string text_in(const Pin& pin) {
  return {reinterpret_cast<const char*>(pin.data()), pin.nbytes()};
}

void write_first(std::byte* data, char letter) {
  data[0] = static_cast<std::byte>(letter);
}

TEST(Pin, of_shared_data_copies_and_is_seen_by_its_storage_alone) {
  FailingAllocator allocator;
  Storage storage = storage_of("cow", allocator);
  const Storage clone = storage.lazy_clone();
  const Pin pin = storage.pin();
  EXPECT_EQ(allocator.copies(), 1);
  EXPECT_TRUE(pin.is_writable());
  EXPECT_EQ(pin.mutable_data(), std::as_const(storage).data());
  EXPECT_EQ(pin.nbytes(), 3U);
  write_first(pin.mutable_data(), 'n');
  EXPECT_EQ(text_of(storage), "now");
  EXPECT_EQ(text_of(clone), "cow");
}

TEST(Pin, makes_lazy_clones_copy_until_it_is_released) {
  FailingAllocator allocator;
  Storage storage = storage_of("cow", allocator);
  const std::byte* const before = std::as_const(storage).data();
  EXPECT_FALSE(storage.is_pinned());
  Pin pin = storage.pin();
  EXPECT_EQ(pin.data(), before);
  EXPECT_EQ(allocator.copies(), 0) << "the data had one owner";
  EXPECT_EQ(storage.pin().data(), before) << "a second one, which ends";
  EXPECT_TRUE(storage.is_pinned());
  const Storage clone = storage.lazy_clone();
  EXPECT_FALSE(clone.shares_data_with(storage));
  EXPECT_EQ(allocator.copies(), 1);
  write_first(pin.mutable_data(), 'n');
  EXPECT_EQ(text_of(clone), "cow");
  pin = Pin();
  EXPECT_FALSE(storage.is_pinned());
  EXPECT_TRUE(storage.lazy_clone().shares_data_with(storage));
  EXPECT_EQ(allocator.copies(), 1);
}

TEST(Pin, of_a_clone_is_no_pin_of_the_source) {
  Storage storage = storage_of("cow");
  Storage clone = storage.lazy_clone();
  const Pin pin = clone.pin();
  EXPECT_FALSE(storage.is_pinned());
  EXPECT_TRUE(storage.lazy_clone().shares_data_with(storage));
}

TEST(Pin, that_is_moved_is_released_once) {
  Storage storage = storage_of("cow");
  Pin first = storage.pin();
  Pin second = std::move(first);
  EXPECT_EQ(first.data(), nullptr);
  EXPECT_EQ(first.nbytes(), 0U);
  EXPECT_FALSE(first.is_writable());
  EXPECT_TRUE(second.is_writable());
  first = Pin();
  EXPECT_TRUE(storage.is_pinned());
  Storage other = storage_of("sheep");
  Pin third = other.pin();
  third.swap(second);
  EXPECT_EQ(text_in(second), "sheep");
  EXPECT_EQ(text_in(third), "cow");
  third = std::move(second);
  EXPECT_FALSE(storage.is_pinned());
  EXPECT_TRUE(other.is_pinned());
}

TEST(Pin, keeps_the_bytes_of_a_storage_whose_handles_are_gone) {
  FailingAllocator allocator;
  Storage storage = storage_of("cow", allocator);
  Pin pin = storage.pin();
  storage = Storage();
  EXPECT_EQ(text_in(pin), "cow");
  EXPECT_EQ(allocator.blocks_out(), 1U);
  pin = Pin();
  EXPECT_EQ(allocator.blocks_out(), 0U);
}

TEST(Pin, of_no_storage_has_no_bytes) {
  Storage storage;
  EXPECT_EQ(storage.pin().data(), nullptr);
  EXPECT_EQ(storage.pin_to_read().nbytes(), 0U);
  EXPECT_FALSE(storage.is_pinned());
  EXPECT_EQ(Pin().mutable_data(), nullptr);
}

TEST(Pin, that_finds_no_memory_changes_nothing) {
  FailingAllocator allocator;
  Storage storage = storage_of("cow", allocator);
  const Storage clone = storage.lazy_clone();
  allocator.fail_allocation(0);
  EXPECT_THROW(static_cast<void>(storage.pin()), OutOfMemory);
  EXPECT_FALSE(storage.is_pinned());
  EXPECT_TRUE(storage.shares_data_with(clone));
}

TEST(Pin, refuses_what_would_move_the_bytes) {
  Storage storage = storage_of("cow");
  {
    const Pin pin = storage.pin();
    const std::string complaint = complaint_of<NotUnique>([&] { storage.resize(1000); });
    EXPECT_TRUE(says(complaint, "resize to 1000 bytes of a storage of 3 that is pinned"))
        << complaint;
    EXPECT_TRUE(says(complaint, "Release what holds it first")) << complaint;
    EXPECT_THROW(storage.resize(1), NotUnique);
  }
  storage.resize(1000);
  EXPECT_EQ(storage.nbytes(), 1000U);
}

TEST(Pin, is_explained) {
  Storage storage = storage_of("cow");
  EXPECT_FALSE(says(explain(storage), "pinned"));
  const Pin pin = storage.pin();
  EXPECT_TRUE(says(explain(storage),
                   "a write goes to them directly. A lazy clone copies them, as they are pinned"));
}

TEST(PinToRead, shares_the_data_and_sees_no_later_write) {
  FailingAllocator allocator;
  Storage storage = storage_of("cow", allocator);
  Pin pin = storage.pin_to_read();
  EXPECT_EQ(pin.data(), std::as_const(storage).data());
  EXPECT_FALSE(pin.is_writable());
  EXPECT_EQ(pin.mutable_data(), nullptr);
  EXPECT_EQ(allocator.copies(), 0);
  EXPECT_FALSE(storage.is_pinned());
  EXPECT_TRUE(storage.lazy_clone().shares_data_with(storage));
  write_first(storage.mutable_data(), 'n');
  EXPECT_EQ(text_in(pin), "cow");
  EXPECT_EQ(text_of(storage), "now");
  pin = Pin();
  EXPECT_EQ(allocator.blocks_out(), 1U);
}

TEST(PinToRead, of_a_pinned_storage_is_one_more_alias_and_pins_it) {
  FailingAllocator allocator;
  Storage storage = storage_of("cow", allocator);
  Pin writer = storage.pin();
  const Pin reader = storage.pin_to_read();
  EXPECT_EQ(allocator.copies(), 0);
  EXPECT_FALSE(reader.is_writable());
  write_first(writer.mutable_data(), 'n');
  EXPECT_EQ(text_in(reader), "now");
  writer = Pin();
  EXPECT_TRUE(storage.is_pinned());
  const Storage clone = storage.lazy_clone();
  EXPECT_FALSE(clone.shares_data_with(storage));
  write_first(storage.mutable_data(), 'h');
  EXPECT_EQ(text_in(reader), "how");
  EXPECT_EQ(text_of(clone), "now");
}

TEST(PinToRead, of_borrowed_memory_is_one_more_alias) {
  char memory[] = "cow";
  FailingAllocator allocator;
  Storage storage = Storage(Buffer::borrow(memory, 3, allocator));
  const Pin pin = storage.pin_to_read();
  EXPECT_EQ(pin.data(), reinterpret_cast<std::byte*>(memory));
  EXPECT_FALSE(pin.is_writable());
  EXPECT_EQ(allocator.copies(), 0);
  write_first(storage.mutable_data(), 'n');
  EXPECT_EQ(text_in(pin), "now");
  EXPECT_THROW(storage.resize(100), NotUnique);
}

TEST(PinToRead, of_memory_borrowed_to_read_is_a_copy_which_may_outlive_it) {
  auto memory = std::make_unique<std::string>("cow");
  Storage storage = Storage(Buffer::borrow(static_cast<const void*>(memory->data()), 3));
  const Pin pin = storage.pin_to_read();
  EXPECT_NE(pin.data(), std::as_const(storage).data());
  storage = Storage();
  memory.reset();
  EXPECT_EQ(text_in(pin), "cow");
}

TEST(PinToRead, of_aliased_memory_is_one_more_alias_which_keeps_it) {
  int deleted = 0;
  char memory[] = "cow";
  Storage storage = Storage(Buffer::adopt_aliased(memory, 3, [&](void*) { ++deleted; }));
  Pin pin = storage.pin_to_read();
  EXPECT_EQ(pin.data(), reinterpret_cast<std::byte*>(memory));
  write_first(storage.mutable_data(), 'n');
  EXPECT_STREQ(memory, "now");
  EXPECT_EQ(text_in(pin), "now");
  storage = Storage();
  EXPECT_EQ(deleted, 0);
  pin = Pin();
  EXPECT_EQ(deleted, 1);
}

TEST(PinToRead, of_memory_aliased_to_read_keeps_it_when_a_write_leaves_it) {
  int deleted = 0;
  const char memory[] = "cow";
  Storage storage = Storage(
      Buffer::adopt_aliased(static_cast<const void*>(memory), 3, [&](void*) { ++deleted; }));
  Pin pin = storage.pin_to_read();
  EXPECT_EQ(pin.data(), reinterpret_cast<const std::byte*>(memory));
  write_first(storage.mutable_data(), 'n');
  EXPECT_EQ(text_of(storage), "now");
  EXPECT_EQ(text_in(pin), "cow");
  EXPECT_EQ(deleted, 0);
  pin = Pin();
  EXPECT_EQ(deleted, 1);
}

TEST(Pin, that_may_not_wait_copies_beside_a_pending_copy) {
  FailingAllocator allocator;
  Storage storage = storage_of("cow", allocator);
  Storage clone = storage.lazy_clone();
  Halt copy;
  allocator.halt_copy(copy);
  boost::thread copier([&] { clone.mutable_data(); });
  copy.await_entry();
  const Pin pin = storage.pin(Wait::never);
  EXPECT_EQ(allocator.copies(), 2);
  copy.let_go();
  copier.join();
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
  Storage storage = storage_of("cow");
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
