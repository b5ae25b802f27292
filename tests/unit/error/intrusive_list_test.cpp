// SPDX-License-Identifier: BSL-1.0
#include <byre/error/detail/intrusive_list.hpp>

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace byre::test {
namespace {

struct Item : detail::ListNode {
  int number = 0;
};

class IntrusiveListTest : public testing::Test {
 protected:
  IntrusiveListTest() {
    for (Item& item : items_) {
      item.number = static_cast<int>(&item - items_.data());
      list_.push_back(item);
    }
  }

  std::vector<int> numbers() const {
    std::vector<int> found;
    for (const Item& item : list_) {
      found.push_back(item.number);
    }
    return found;
  }

  std::array<Item, 3> items_;
  detail::IntrusiveList<Item> list_;
};

TEST(IntrusiveList, is_empty_at_first) {
  const detail::IntrusiveList<Item> list;
  EXPECT_TRUE(list.is_empty());
  EXPECT_FALSE(list.has_one());
  EXPECT_FALSE(Item().is_listed());
}

TEST_F(IntrusiveListTest, visits_objects_in_the_order_of_insertion) {
  EXPECT_EQ(numbers(), (std::vector{0, 1, 2}));
  EXPECT_EQ(list_.front().number, 0);
  for (Item& item : list_) {
    item.number += 10;
  }
  EXPECT_EQ(numbers(), (std::vector{10, 11, 12}));
}

TEST_F(IntrusiveListTest, objects_are_removed_from_either_end_or_the_middle) {
  list_.remove(items_[1]);
  EXPECT_EQ(numbers(), (std::vector{0, 2}));
  EXPECT_FALSE(items_[1].is_listed() || list_.is_empty() || list_.has_one());
  list_.remove(items_[0]);
  EXPECT_EQ(numbers(), (std::vector{2}));
  EXPECT_TRUE(items_[2].is_listed() && list_.has_one());
  list_.remove(items_[2]);
  EXPECT_TRUE(list_.is_empty());
}

TEST_F(IntrusiveListTest, a_removed_object_can_be_added_to_another_list) {
  detail::IntrusiveList<Item> other;
  list_.remove(items_[0]);
  other.push_back(items_[0]);
  EXPECT_EQ(other.front().number, 0);
  EXPECT_EQ(numbers(), (std::vector{1, 2}));
}

TEST_F(IntrusiveListTest, a_copy_of_an_object_is_in_no_list) {
  Item copy = items_[0];
  EXPECT_FALSE(copy.is_listed());
  copy = items_[1];
  EXPECT_FALSE(copy.is_listed());
  items_[1] = Item();
  EXPECT_EQ(numbers(), (std::vector{0, 0, 2}));
}

TEST(IntrusiveListDeathTest, adding_a_listed_object_again_ends_the_program) {
  EXPECT_DEATH(
      {
        detail::IntrusiveList<Item> list;
        Item item;
        list.push_back(item);
        list.push_back(item);
      },
      "in a list already");
}

}  // namespace
}  // namespace byre::test
