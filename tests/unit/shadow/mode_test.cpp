// SPDX-License-Identifier: BSL-1.0
/// Which mode of reshape is in force. The environment's part is in print_modes.cpp.
#include <byre/shadow/mode.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "support/at_once.hpp"

namespace byre::test {
namespace {

using shadow::mode_named;
using shadow::name_of;
using shadow::reshape_mode;
using shadow::ReshapeMode;
using shadow::ReshapeModeScope;
using shadow::set_default_reshape_mode;

constexpr ReshapeMode modes[] = {ReshapeMode::alias, ReshapeMode::warn, ReshapeMode::error,
                                 ReshapeMode::copy};

/// In an environment that says nothing, as it is when the mode is first asked for.
class Mode : public testing::Test {
 protected:
  static void SetUpTestSuite() { ::unsetenv("BYRE_RESHAPE"); }
  ~Mode() override { set_default_reshape_mode(std::nullopt); }
};

TEST_F(Mode, has_a_name_and_is_found_by_it) {
  for (const ReshapeMode mode : modes) {
    EXPECT_EQ(mode_named(name_of(mode)), mode);
  }
  EXPECT_EQ(name_of(ReshapeMode::warn), "warn");
  EXPECT_EQ(mode_named("Warn"), std::nullopt);
  EXPECT_EQ(mode_named("warn "), std::nullopt);
  EXPECT_EQ(mode_named(""), std::nullopt);
}

TEST_F(Mode, is_copy_where_nobody_says_otherwise) {
  EXPECT_EQ(reshape_mode(), ReshapeMode::copy);
}

TEST_F(Mode, of_the_process_is_in_force_on_all_threads_until_it_is_taken_back) {
  for (const ReshapeMode mode : modes) {
    set_default_reshape_mode(mode);
    EXPECT_EQ(reshape_mode(), mode);
    elsewhere([&] { EXPECT_EQ(reshape_mode(), mode); });
  }
  set_default_reshape_mode(std::nullopt);
  EXPECT_EQ(reshape_mode(), ReshapeMode::copy);
}

TEST_F(Mode, of_a_scope_comes_before_the_process_s_and_ends_with_it) {
  set_default_reshape_mode(ReshapeMode::error);
  {
    const ReshapeModeScope scope(ReshapeMode::alias);
    EXPECT_EQ(reshape_mode(), ReshapeMode::alias);
    set_default_reshape_mode(ReshapeMode::warn);
    EXPECT_EQ(reshape_mode(), ReshapeMode::alias);
  }
  EXPECT_EQ(reshape_mode(), ReshapeMode::warn);
}

TEST_F(Mode, of_the_innermost_scope_is_in_force) {
  const ReshapeModeScope outer(ReshapeMode::warn);
  {
    const ReshapeModeScope middle(ReshapeMode::error);
    {
      const ReshapeModeScope inner(ReshapeMode::copy);
      EXPECT_EQ(reshape_mode(), ReshapeMode::copy);
    }
    EXPECT_EQ(reshape_mode(), ReshapeMode::error);
  }
  EXPECT_EQ(reshape_mode(), ReshapeMode::warn);
}

TEST_F(Mode, of_a_scope_is_its_thread_s_alone) {
  const ReshapeModeScope scope(ReshapeMode::alias);
  elsewhere([] {
    EXPECT_EQ(reshape_mode(), ReshapeMode::copy);
    const ReshapeModeScope another(ReshapeMode::error);
    EXPECT_EQ(reshape_mode(), ReshapeMode::error);
  });
  EXPECT_EQ(reshape_mode(), ReshapeMode::alias);
}

TEST_F(Mode, of_the_process_may_be_set_by_many_threads_at_once) {
  at_once(4, [](std::size_t thread) {
    for (int round = 0; round < 1000; ++round) {
      set_default_reshape_mode(modes[thread]);
      const ReshapeModeScope scope(modes[3 - thread]);
      EXPECT_EQ(reshape_mode(), modes[3 - thread]);
    }
  });
  const ReshapeMode last = reshape_mode();
  elsewhere([&] { EXPECT_EQ(reshape_mode(), last); });
}

}  // namespace
}  // namespace byre::test
