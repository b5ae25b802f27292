// SPDX-License-Identifier: BSL-1.0
#include <byre/system/detail/process.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <thread>

#include "support/environment.hpp"
#include "support/features.hpp"

namespace byre::test {
namespace {

TEST(SystemProcess, has_ids) {
  EXPECT_NE(system::process_id(), 0U);
  EXPECT_EQ(system::process_id(), system::process_id());
  std::uint64_t other = system::thread_id();
  std::thread([&] { other = system::thread_id(); }).join();
  EXPECT_EQ(other != system::thread_id(), uses("linux"));
}

TEST(SystemProcess, has_a_name_without_folders) {
  const std::string name = system::program_name();
  EXPECT_FALSE(name.empty());
  EXPECT_EQ(name.find('/'), name.npos);
  EXPECT_EQ(name == "program", !uses("linux"));
}

TEST(SystemProcess, seconds_do_not_decrease) {
  const std::uint64_t before = system::seconds();
  EXPECT_GE(system::seconds(), before);
}

TEST(SystemProcess, a_trusted_variable_has_the_value_of_the_environment) {
  set_variable("BYRE_OF_THIS_TEST", "value");
  EXPECT_STREQ(system::trusted_variable("BYRE_OF_THIS_TEST"), "value");
  set_variable("BYRE_OF_THIS_TEST", "");
  EXPECT_EQ(system::trusted_variable("BYRE_OF_THIS_TEST"), nullptr);
}

TEST(SystemProcess, the_name_of_a_thread_ends_within_its_buffer) {
  std::array<char, 16> name;
  name.fill('x');
  system::write_thread_name(name.data(), name.size());
  EXPECT_NE(std::string_view(name.data(), name.size()).find('\0'), std::string_view::npos);
}

TEST(SystemProcess, text_is_written_to_the_standard_error_stream) {
#if defined(__wasm__)
  GTEST_SKIP() << "GoogleTest cannot redirect the streams of node";
#endif
  testing::internal::CaptureStderr();
  system::write_to_stderr("text and more", 4);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "text");
}

class ThreadVariableTest : public testing::Test {
 protected:
  ~ThreadVariableTest() override { variable_.destroy(); }

  system::ThreadVariable variable_{[](void* value) { ++*static_cast<int*>(value); }};
};

TEST_F(ThreadVariableTest, has_a_value_for_each_thread) {
  ASSERT_TRUE(variable_.has_key());
  EXPECT_EQ(variable_.get(), nullptr);
  int here = 0;
  int there = 0;
  EXPECT_TRUE(variable_.set(&here));
  std::thread([&] {
    EXPECT_EQ(variable_.get(), nullptr);
    EXPECT_TRUE(variable_.set(&there));
    EXPECT_EQ(variable_.get(), &there);
  }).join();
  EXPECT_EQ(variable_.get(), &here);
  EXPECT_EQ(here, 0);
  EXPECT_EQ(there, 1) << "the function must be called at the end of the thread";
  variable_.set(nullptr);
}

TEST_F(ThreadVariableTest, the_end_of_a_thread_without_a_value_calls_nothing) {
  int value = 0;
  std::thread([&] {
    variable_.set(&value);
    variable_.set(nullptr);
  }).join();
  EXPECT_EQ(value, 0);
}

TEST(ThreadVariable, a_destroyed_variable_has_no_key_and_no_values) {
  int value = 0;
  system::ThreadVariable variable([](void* of) { ++*static_cast<int*>(of); });
  std::thread([&] {
    variable.set(&value);
    variable.destroy();
  }).join();
#if defined(_WIN32)
  EXPECT_EQ(value, 1) << "the function must be called for the value";
#else
  EXPECT_EQ(value, 0);
#endif
  EXPECT_FALSE(variable.has_key());
}

}  // namespace
}  // namespace byre::test
