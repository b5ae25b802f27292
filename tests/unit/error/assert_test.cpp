// SPDX-License-Identifier: BSL-1.0
#include <byre/error/detail/assert.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "support/emulated.hpp"

namespace byre::test {
namespace {

TEST(Assert, a_true_condition_is_evaluated_once) {
  int evaluations = 0;
  BYRE_ASSERT(++evaluations == 1, "it is 1");
  EXPECT_EQ(evaluations, 1);
}

TEST(Assert, accepts_any_expression_that_converts_to_bool) {
  const int* null = nullptr;
  const int value = 1;
  const bool chosen = null == nullptr;
  chosen ? BYRE_ASSERT(&value, "not null") : BYRE_ASSERT(null, "never evaluated");
}

class AssertDeathTest : public testing::Test {
 protected:
  void SetUp() override { testing::FLAGS_gtest_death_test_style = death_test_style(); }
};

constexpr unsigned line_of_the_assertion = __LINE__ + 2;
void break_arithmetic() {
  BYRE_ASSERT(1 + 1 == 3, "arithmetic is broken");
}

TEST_F(AssertDeathTest, a_failure_prints_file_line_and_text) {
  EXPECT_DEATH(break_arithmetic(),
               "byre: .*assert_test\\.cpp:" + std::to_string(line_of_the_assertion) +
                   ": arithmetic is broken\n");
}

TEST_F(AssertDeathTest, a_failure_aborts) {
  EXPECT_EXIT(BYRE_ASSERT(false, "no"), testing::KilledBySignal(SIGABRT), "no");
}

}  // namespace
}  // namespace byre::test
