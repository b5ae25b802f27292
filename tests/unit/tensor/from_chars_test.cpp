// SPDX-License-Identifier: BSL-1.0
// Numbers are read as std::from_chars reads them, and read and printed in no locale.
#include <byre/tensor/detail/from_chars.hpp>
#include <byre/tensor/print.hpp>
#include <byre/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <tuple>

#include "support/random.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace {

using byre::detail::double_from_chars;

#if defined(__cpp_lib_to_chars)
/// As much as is a number, what it is, and what is wrong.
void expect_as_by_the_standard_library(const std::string& text) {
  double wanted = 42;
  double read = 42;
  const auto expected = std::from_chars(text.data(), text.data() + text.size(), wanted);
  const auto result = double_from_chars(text, read);
  EXPECT_EQ(result.ptr - text.data(), expected.ptr - text.data()) << text;
  EXPECT_EQ(result.ec, expected.ec) << text;
  if (!std::isnan(wanted)) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(read), std::bit_cast<std::uint64_t>(wanted)) << text;
  }
}

TEST(DoubleFromChars, reads_what_the_standard_library_reads) {
  for (const char* const text : {"1.5,2",
                                 "-.5",
                                 "1.e5",
                                 "1e+",
                                 "00012.5e+0003",
                                 "-0x1p3",
                                 "-infinity",
                                 "INFinit",
                                 "4.9e-324",
                                 "1e-310",
                                 "1e400",
                                 "-1e-400)",
                                 "1e99999999999999999999",
                                 "",
                                 "-",
                                 ".",
                                 "+1",
                                 "-+1",
                                 " 1",
                                 "e5"}) {
    expect_as_by_the_standard_library(text);
  }
  constexpr std::string_view letters = "0123456789019.+-eExXinfatyINFATY()_ ";
  Random random(seed());
  for (int round = 0; round < 50'000; ++round) {
    std::string text;
    for (int left = random.number(0, 12); left > 0; --left) {
      text += letters[random.below(letters.size())];
    }
    expect_as_by_the_standard_library(text);
    const auto bits = random.number<std::uint64_t>(0, ~std::uint64_t{0});
    std::array<char, 64> chars{};
    std::to_chars(chars.begin(), chars.end(), std::bit_cast<double>(bits));
    expect_as_by_the_standard_library(chars.data());
  }
}
#endif

/// Where each looks at all that follows it, this takes minutes.
TEST(DoubleFromChars, reads_a_sum_of_a_million_numbers_one_after_the_other) {
  constexpr std::size_t count = 1'000'000;
  constexpr std::string_view summand = "-1.5";
  std::string sum;
  for (std::size_t number = 0; number < count; ++number) {
    sum += summand;
  }
  for (std::size_t at = 0; at < sum.size(); at += summand.size()) {
    double read = 0;
    const auto [end, error] = double_from_chars(std::string_view(sum).substr(at), read);
    ASSERT_EQ(end, sum.data() + at + summand.size());
    ASSERT_EQ(read, -1.5);
  }
}

/// A locale whose numbers have a comma for the point, made here as no machine is sure to have one.
class LocaleWithCommas : public testing::Test {
 protected:
  void SetUp() override {
    write_file(folder_ / "source",
               "comment_char %\nescape_char /\nLC_NUMERIC\ndecimal_point \",\"\n"
               "thousands_sep \".\"\ngrouping 3;3\nEND LC_NUMERIC\n");
    const std::string where = folder_.path().string();
    const std::string command =
        "localedef -c -i " + where + "/source " + where + "/xx_XX >" + where + "/log 2>&1";
    std::ignore = std::system(command.c_str());
    ::setenv("LOCPATH", where.c_str(), 1);
    if (std::setlocale(LC_ALL, "xx_XX") == nullptr) {
      GTEST_SKIP() << "localedef makes no locale here: " << read_file(folder_ / "log");
    }
  }
  void TearDown() override {
    std::setlocale(LC_ALL, "C");
    ::unsetenv("LOCPATH");
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(LocaleWithCommas, changes_nothing_of_what_is_read_and_printed) {
  ASSERT_EQ(std::strtod("1,5", nullptr), 1.5) << "the test sees nothing";
  double read = 0;
  EXPECT_EQ(double_from_chars("1.5", read).ec, std::errc());
  EXPECT_EQ(read, 1.5);
  EXPECT_EQ(to_string(Tensor::of<double>({2}, {1234567.5, -0.25})),
            "[ 1.2345675e+06 -2.5000000e-01]");
  EXPECT_EQ(to_string(Tensor::of<Float16>({2}, {0.1F, 1.5F})), "[0.1 1.5]");
}

}  // namespace
}  // namespace byre::test
