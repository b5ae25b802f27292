// SPDX-License-Identifier: BSL-1.0
#include "../world/accounts.hpp"

#include <gtest/gtest.h>
#include <byre/memory/host_allocators.hpp>

namespace byre::stress {
namespace {

struct AccountsTest : testing::Test {
  Failures failures;
  Accounts accounts{aligned_allocator(), failures};

  std::string told() const {
    const auto texts = failures.texts();
    return texts.empty() ? "" : texts.front();
  }
};

TEST_F(AccountsTest, nothing_is_said_of_blocks_that_come_back_once) {
  const Block first = accounts.allocate({100});
  const Block second = accounts.allocate_copy({100}, first.data, 100);
  EXPECT_EQ(accounts.blocks_out(), 2u);
  accounts.deallocate(first);
  accounts.deallocate(second);
  accounts.check_that_all_came_back();
  EXPECT_EQ(told(), "");
  EXPECT_EQ(accounts.blocks_given(), 2u);
}

TEST_F(AccountsTest, a_block_that_comes_back_twice_is_a_failure) {
  const Block block = accounts.allocate({100});
  accounts.deallocate(block);
  accounts.deallocate(block);
  EXPECT_NE(told().find("though it is not out"), std::string::npos) << told();
}

TEST_F(AccountsTest, a_foreign_block_is_a_failure) {
  const Block foreign = aligned_allocator().allocate({100});
  accounts.deallocate(foreign);
  EXPECT_NE(told().find("though it is not out"), std::string::npos) << told();
  aligned_allocator().deallocate(foreign);
}

TEST_F(AccountsTest, a_block_that_comes_back_as_another_is_a_failure) {
  const Block block = accounts.allocate({100});
  accounts.deallocate({block.data, block.capacity + 1, block.base});
  EXPECT_NE(told().find("came back as one of 101"), std::string::npos) << told();
}

/// Gives the same block to everybody.
class Generous final : public Allocator {
 public:
  ~Generous() override { aligned_allocator().deallocate(block_); }
  Block allocate(const Request&) override { return block_; }
  void deallocate(const Block&) noexcept override {}
  const char* name() const noexcept override { return "generous"; }

 private:
  const Block block_ = aligned_allocator().allocate({100});
};

TEST(Accounts, a_block_that_is_given_out_twice_is_a_failure) {
  Failures failures;
  Generous generous;
  Accounts accounts(generous, failures);
  accounts.allocate({100});
  EXPECT_FALSE(failures.any());
  accounts.allocate({100});
  ASSERT_TRUE(failures.any());
  EXPECT_NE(failures.texts().front().find("was given out while it was out"), std::string::npos);
}

TEST_F(AccountsTest, a_block_that_never_comes_back_is_a_failure) {
  const Block block = accounts.allocate({100});
  accounts.check_that_all_came_back();
  EXPECT_EQ(told(), "1 blocks were never released");
  accounts.deallocate(block);
}

}  // namespace
}  // namespace byre::stress
