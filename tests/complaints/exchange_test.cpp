// SPDX-License-Identifier: BSL-1.0
// Complaints of exchange with other array libraries, and of reshape, and what byre does. docs/answers.md says
// where each was made.
#include <byre/tensor.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "costs.hpp"
#include "support/caught_warnings.hpp"
#include "support/complaint.hpp"

namespace byre::test {
namespace {

TEST(Complaints, reads_through_an_exchange_copy_nothing_and_see_no_later_write) {
  Tensor x = Tensor::of<float>({3}, {1, 2, 3});
  const Tensor clone = x.lazy_clone();
  const Costs costs;
  auto* const seen = to_dlpack(x);
  EXPECT_EQ(seen->dl_tensor.data, clone.data<float>());
  EXPECT_EQ(seen->flags, dlpack::DLPACK_FLAG_BITMASK_READ_ONLY);
  EXPECT_TRUE(x.storage().shares_data_with(clone.storage()));
  EXPECT_TRUE(costs.copied(0));

  fill_(x, 9);
  EXPECT_EQ(static_cast<const float*>(seen->dl_tensor.data)[0], 1.0F);
  EXPECT_TRUE(costs.copied(x.nbytes()));
  seen->deleter(seen);
}

TEST(Complaints, an_exchange_that_cannot_say_read_only_is_refused_to_who_only_reads) {
  const Tensor x = Tensor::of<float>({3}, {1, 2, 3});
  EXPECT_TRUE(says(complaint_of<InvalidArgument>(
                       [&] { static_cast<void>(to_older_dlpack(x, DLPackAccess::read)); }),
                   "cannot say that a tensor is to be read only"));
}

/// An array of another library, which goes on writing it.
struct Array {
  dlpack::DLManagedTensorVersioned* exported(std::uint64_t flags = 0) {
    managed = {.version = dlpack::version,
               .manager_ctx = nullptr,
               .deleter = [](dlpack::DLManagedTensorVersioned*) {},
               .flags = flags,
               .dl_tensor = {
                   values, {dlpack::kDLCPU, 0}, 1, {dlpack::kDLFloat, 32, 1}, &size, nullptr, 0}};
    return &managed;
  }

  float values[2] = {1, 2};
  std::int64_t size = 2;
  dlpack::DLManagedTensorVersioned managed{};
};

TEST(Complaints, an_imported_writable_array_is_aliased_and_says_so_and_its_clone_is_not) {
  Array theirs;
  Tensor x = from_dlpack(theirs.exported());
  EXPECT_EQ(x.storage().origin(), Origin::aliased);
  const Costs costs;
  const Tensor clone = x.lazy_clone();  // copies now: they may write at any time
  EXPECT_TRUE(costs.copied(x.nbytes()));

  theirs.values[0] = 9;
  EXPECT_EQ(to_string(x), "[9. 2.]");
  EXPECT_EQ(to_string(clone), "[1. 2.]");
}

TEST(Complaints, an_imported_array_that_may_only_be_read_is_never_written) {
  Array theirs;
  Tensor x = from_dlpack(theirs.exported(dlpack::DLPACK_FLAG_BITMASK_READ_ONLY));
  const Costs costs;
  add_(x, 10);
  EXPECT_TRUE(costs.copied(x.nbytes()));
  EXPECT_EQ(to_string(x), "[11. 12.]");
  EXPECT_EQ(theirs.values[0], 1.0F);
}

TEST(Complaints, a_reshape_is_never_an_alias_and_copies_when_it_is_written) {
  Tensor x = Tensor::of<float>({2, 2}, {1, 2, 3, 4});
  const Tensor turned = x.t();
  const Costs costs;
  Tensor flat = x.reshape({4});
  EXPECT_EQ(flat.data<float>(), x.data<float>());
  EXPECT_TRUE(costs.copied(0));

  fill_(flat, 0);
  EXPECT_EQ(to_string(x), "[[1. 2.]\n [3. 4.]]");
  EXPECT_TRUE(costs.copied(x.nbytes()));

  Tensor of_turned = turned.reshape({4});  // which strides cannot say
  fill_(of_turned, 0);
  EXPECT_EQ(to_string(x), "[[1. 2.]\n [3. 4.]]");
}

TEST(Complaints, a_program_that_relies_on_the_alias_of_a_reshape_is_told_of_three_lines) {
  const CaughtWarnings warnings;
  {
    const shadow::ReshapeModeScope scope(shadow::ReshapeMode::warn);
    const Tensor x = Tensor::of<float>({2, 2}, {1, 2, 3, 4});
    const auto here = [](std::uint32_t line) { return CallSite{"model.cpp", line}; };
    Tensor flat = x.reshape({4}, here(10));
    fill_(flat, 0, here(11));
    EXPECT_EQ(x.at<float>({0, 0}, here(12)), 0.0F);  // still an alias, as it was
  }
  ASSERT_EQ(warnings.texts().size(), 1U);
  EXPECT_TRUE(says(warnings.texts()[0], "model.cpp:10", "model.cpp:11", "model.cpp:12", "view"));
}

}  // namespace
}  // namespace byre::test
