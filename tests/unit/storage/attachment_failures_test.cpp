// SPDX-License-Identifier: BSL-1.0
/// Attachments and the heap: what is said when there is none left, and that numbers are used again.
#include <byre/error/error.hpp>
#include <byre/storage/storage.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "support/failing_new.hpp"
#include "support/sanitized.hpp"

namespace byre::test {
namespace {

class CountedAttachment final : public detail::Attachment {
 public:
  CountedAttachment() { ++live; }
  ~CountedAttachment() override { --live; }

  inline static int live = 0;
};

/// Attaches where there is no heap; answers whether that was refused.
bool is_refused_without_heap(const Storage& storage) {
  auto attachment = std::make_unique<CountedAttachment>();
  try {
    const FailingNew failing;
    storage.slot()->attach(std::move(attachment));
  } catch (const std::bad_alloc&) {
    return true;
  }
  return false;
}

TEST(AttachmentFailures, leave_the_storage_without_one_and_the_next_try_works) {
  std::vector<Storage> storages;  // until one more number needs more room
  bool is_refused = false;
  do {
    storages.push_back(Storage::allocate(8));
    is_refused = is_refused_without_heap(storages.back());
  } while (storages.back().slot()->attachment() != nullptr);
  EXPECT_TRUE(is_refused);
  EXPECT_EQ(CountedAttachment::live, static_cast<int>(storages.size()) - 1);

  storages.back().slot()->attach(std::make_unique<CountedAttachment>());
  EXPECT_NE(storages.back().slot()->attachment(), nullptr);
  storages.clear();
  EXPECT_EQ(CountedAttachment::live, 0);
}

TEST(AttachmentFailures, do_not_come_of_many_storages_one_after_another) {
  Storage::allocate(8).slot()->attach(std::make_unique<CountedAttachment>());
  for (std::size_t round = 0; round < fewer_if_sanitized(1'000'000); ++round) {
    const Storage storage = Storage::allocate(8);
    ASSERT_FALSE(is_refused_without_heap(storage)) << "in round " << round;
  }
  EXPECT_EQ(CountedAttachment::live, 0);
}

}  // namespace
}  // namespace byre::test
