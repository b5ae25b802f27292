// SPDX-License-Identifier: BSL-1.0
// The parsing of numbers, compared with std::from_chars, and the text of tensors in cases that
// NumPy lacks (tests/numpy compares all other cases). Neither may depend on the locale.
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
#include <limits>
#include <numeric>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>

#include "support/environment.hpp"
#include "support/random.hpp"
#include "support/temporary_folder.hpp"
#include "support/tensor/fake_device.hpp"

namespace byre::test {
namespace {

using byre::detail::double_from_chars;

#if defined(__cpp_lib_to_chars)
/// Expects that double_from_chars() returns the same end, number and error as std::from_chars.
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

TEST(DoubleFromChars, reads_numbers_like_std_from_chars) {
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

/// If each call scanned the whole rest of the text, this test would take minutes.
TEST(DoubleFromChars, reads_a_million_adjacent_numbers_in_linear_time) {
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

/// Tests in a locale with a decimal comma. The fixture compiles this locale, because not every
/// machine has such a locale.
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
    set_variable("LOCPATH", where.c_str());
    if (std::setlocale(LC_ALL, "xx_XX") == nullptr) {
      GTEST_SKIP() << "localedef cannot compile a locale here: " << read_file(folder_ / "log");
    }
    if (*std::localeconv()->decimal_point == '.') {
      GTEST_SKIP() << "this C library has one locale";
    }
  }
  void TearDown() override {
    std::setlocale(LC_ALL, "C");
    set_variable("LOCPATH", "");
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(LocaleWithCommas, does_not_affect_parsing_and_printing) {
  ASSERT_EQ(std::strtod("1,5", nullptr), 1.5) << "the locale is not in effect";
  double read = 0;
  EXPECT_EQ(double_from_chars("1.5", read).ec, std::errc());
  EXPECT_EQ(read, 1.5);
  EXPECT_EQ(to_string(Tensor::of<double>({2}, {1234567.5, -0.25})),
            "[ 1.2345675e+06 -2.5000000e-01]");
  EXPECT_EQ(to_string(Tensor::of<Float16>({2}, {0.1F, 1.5F})), "[0.1 1.5]");
}

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

template <class T>
Tensor range(const Dims& sizes) {
  Tensor tensor = Tensor::empty(sizes, dtype_of<T>);
  T* const first = tensor.mutable_data<T>();
  std::iota(first, first + tensor.numel(), T{0});
  return tensor;
}

TEST(Printing, prints_bf16) {
  EXPECT_EQ(to_string(Tensor::of<BFloat16>({3}, {0.1F, 3.140625F, 1.0F})), "[0.1  3.14 1.  ]");
  EXPECT_EQ(to_string(Tensor::of<BFloat16>({2}, {nan, -inf})), "[ nan -inf]");
}

TEST(Printing, prints_the_elements_of_a_view) {
  const Tensor whole = range<std::int64_t>({4, 5});
  EXPECT_EQ(to_string(whole.slice(1, 1, 5, 2).select(0, 2)), "[11 13]");
  EXPECT_EQ(to_string(whole.select(0, 3).select(0, 4).expand({2, 2})), "[[19 19]\n [19 19]]");
  EXPECT_EQ(to_string(range<float>({3, 2}).t()), "[[0. 2. 4.]\n [1. 3. 5.]]");
}

TEST(Printing, accepts_options_that_numpy_rejects) {
  const Tensor five = range<std::int32_t>({5});
  EXPECT_EQ(to_string(five, {.threshold = 0, .edge_items = 0}), "[0 ... 4]");
  EXPECT_EQ(to_string(five.slice(0, 0, 2), {.line_width = 0}), "[0\n 1]");
  EXPECT_EQ(to_string(Tensor::of<double>({1}, {2.0 / 3}), {.precision = -1}), "[1.]");
  EXPECT_EQ(to_string(Tensor::of<double>({1}, {0.1}), {.precision = 60}), "[0.1]");
  EXPECT_EQ(to_string(five, {.threshold = 4, .edge_items = 1}), "[0 ... 4]");
}

TEST(Printing, appends_dtype_sizes_and_device_on_request) {
  EXPECT_EQ(to_string(range<std::int32_t>({2}), {.type = true}), "[0 1], i32 [2]");
  EXPECT_EQ(to_string(Tensor::empty({2, 0, 3}, DType::f32), {.type = true}), "[], f32 [2, 0, 3]");
}

TEST(Printing, names_the_state_of_an_uninitialized_tensor) {
  EXPECT_EQ(to_string(Tensor()), "no tensor");
  Tensor tensor(Device::cpu());
  EXPECT_EQ(to_string(tensor), "[0], dtype-uninitialized");
  tensor.resize({4});
  EXPECT_EQ(to_string(tensor), "[4], storage- and dtype-uninitialized");
  tensor.realize<float>().free_memory();
  EXPECT_EQ(to_string(tensor), "f32 [4], storage-uninitialized");
}

TEST(Printing, prints_tensors_on_other_devices) {
  const Tensor there = range<float>({3}).to(FakeDevice::first().device());
  EXPECT_EQ(to_string(there), "[0. 1. 2.]");
  EXPECT_EQ(to_string(there, {.type = true}), "[0. 1. 2.], f32 [3] on device 1:1 (fake)");
  Tensor uninitialized(FakeDevice::first().device());
  EXPECT_EQ(to_string(uninitialized), "[0] on device 1:1 (fake), dtype-uninitialized");
}

TEST(Printing, writes_to_a_stream) {
  std::ostringstream stream;
  stream << range<std::int32_t>({2});
  EXPECT_EQ(stream.str(), "[0 1]");
}

}  // namespace
}  // namespace byre::test
