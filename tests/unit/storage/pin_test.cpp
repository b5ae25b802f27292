// SPDX-License-Identifier: BSL-1.0
// Pins, which keep the bytes of a storage in place for code that holds a pointer. stress/programs
// compares pins with a model; a race in stress/ releases pins while other threads clone the
// storage.
#include <byre/storage/explain.hpp>
#include <byre/storage/pin.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <utility>

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
  EXPECT_EQ(allocator.copies(), 0) << "data with one owner must not be copied";
  EXPECT_EQ(storage.pin().data(), before) << "a second pin must not move the bytes";
  EXPECT_TRUE(storage.is_pinned());
  EXPECT_TRUE(says(explain(storage),
                   "a write modifies them in place. A lazy clone copies them: they are pinned"));
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

TEST(Pin, makes_resize_and_shrink_to_fit_throw) {
  Storage storage = of_text<Storage>("cow");
  {
    const Pin pin = storage.pin();
    EXPECT_TRUE(says(complaint_of<NotUnique>([&] { storage.resize(1000); }),
                     "resize to 1000 bytes: the storage has 3 bytes and is pinned",
                     "Release all pins first"));
    EXPECT_THROW(storage.resize(1), NotUnique);
    EXPECT_TRUE(says(complaint_of<NotUnique>([&] { storage.shrink_to_fit(); }), "pinned"));
    EXPECT_EQ(pin.data(), std::as_const(storage).data());
  }
  storage.resize(1000);
  EXPECT_EQ(storage.nbytes(), 1000U);
}

}  // namespace
}  // namespace byre::test
