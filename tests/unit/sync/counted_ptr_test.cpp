// SPDX-License-Identifier: BSL-1.0
#include <byre/sync/counted_ptr.hpp>

#include <gtest/gtest.h>

#include <utility>

namespace byre::test {
namespace {

struct Counted {
  int handles = 0;
  int releases = 0;
  CountedPtr<Counted>* read_at_release = nullptr;
  const Counted* read = nullptr;
};

void intrusive_ptr_add_ref(Counted* object) noexcept {
  ++object->handles;
}
void intrusive_ptr_release(Counted* object) noexcept {
  --object->handles;
  ++object->releases;
  if (object->read_at_release != nullptr) {
    object->read = object->read_at_release->get();
  }
}

struct Derived : Counted {};

TEST(CountedPtr, counts_one_handle_for_each_copy) {
  Counted object;
  {
    const CountedPtr<Counted> first(&object);
    EXPECT_EQ(object.handles, 1);
    CountedPtr<Counted> copy = first;
    EXPECT_EQ(object.handles, 2);
    const CountedPtr<Counted> moved = std::move(copy);
    EXPECT_EQ(object.handles, 2);
    EXPECT_EQ(copy, nullptr);  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(moved.get(), &object);
    EXPECT_EQ(&*moved, moved.operator->());
    EXPECT_TRUE(static_cast<bool>(moved));
  }
  EXPECT_EQ(object.handles, 0);
  EXPECT_EQ(object.releases, 2);
}

TEST(CountedPtr, null_counts_nothing) {
  const CountedPtr<Counted> null;
  const CountedPtr<Counted> copy = null;
  EXPECT_EQ(copy, CountedPtr<Counted>(nullptr));
  EXPECT_FALSE(static_cast<bool>(copy));
}

TEST(CountedPtr, takes_over_and_returns_a_counted_handle) {
  Counted object;
  object.handles = 1;
  CountedPtr<Counted> taken(&object, false);
  EXPECT_EQ(object.handles, 1);
  EXPECT_EQ(taken.detach(), &object);
  EXPECT_EQ(taken.get(), nullptr);
  EXPECT_EQ(object.handles, 1);
  EXPECT_EQ(object.releases, 0);
}

TEST(CountedPtr, handles_of_a_derived_class_convert) {
  Derived object;
  CountedPtr<Derived> derived(&object);
  const CountedPtr<Counted> base = derived;
  EXPECT_EQ(object.handles, 2);
  const CountedPtr<Counted> moved = std::move(derived);
  EXPECT_EQ(object.handles, 2);
  EXPECT_EQ(base, moved);
}

TEST(CountedPtr, different_objects_are_unequal) {
  Counted left;
  Counted right;
  EXPECT_NE(CountedPtr<Counted>(&left), CountedPtr<Counted>(&right));
  EXPECT_NE(CountedPtr<Counted>(&left), &right);
  EXPECT_EQ(CountedPtr<Counted>(&left), &left);
}

TEST(CountedPtr, assignment_releases_the_old_object_last) {
  Counted old;
  Counted next;
  CountedPtr<Counted> pointer(&old);
  old.read_at_release = &pointer;
  pointer = CountedPtr<Counted>(&next);
  EXPECT_EQ(old.read, &next);
  EXPECT_EQ(next.handles, 1);
  pointer = pointer;  // NOLINT(clang-diagnostic-self-assign-overloaded)
  EXPECT_EQ(next.handles, 1);
}

}  // namespace
}  // namespace byre::test
