// SPDX-License-Identifier: BSL-1.0
#include <byre/error/detail/assert.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "support/emulated.hpp"

namespace byre::test {
namespace {

TEST(Assert, passes_what_holds_and_looks_once) {
  int looks = 0;
  BYRE_ASSERT(++looks == 1, "it is 1");
  EXPECT_EQ(looks, 1);
}

TEST(Assert, is_an_expression_of_anything_that_converts_to_bool) {
  const int* nowhere = nullptr;
  const int something = 1;
  const bool chosen = nowhere == nullptr;
  chosen ? BYRE_ASSERT(&something, "there is something") : BYRE_ASSERT(nowhere, "never asked");
}

class AssertDeathTest : public testing::Test {
 protected:
  void SetUp() override { testing::FLAGS_gtest_death_test_style = death_test_style(); }
};

constexpr unsigned line_of_the_assertion = __LINE__ + 2;
void break_arithmetic() {
  BYRE_ASSERT(1 + 1 == 3, "arithmetic is broken");
}

TEST_F(AssertDeathTest, ends_the_program_with_file_line_and_text) {
  EXPECT_DEATH(break_arithmetic(),
               "byre: .*assert_test\\.cpp:" + std::to_string(line_of_the_assertion) +
                   ": arithmetic is broken\n");
}

TEST_F(AssertDeathTest, ends_the_program_by_an_abort) {
  EXPECT_EXIT(BYRE_ASSERT(false, "no"), testing::KilledBySignal(SIGABRT), "no");
}

}  // namespace
}  // namespace byre::test
