// SPDX-License-Identifier: BSL-1.0
// Models whose data are not what the header claims: holes, overlaps, offsets and sizes that overflow.
#include <string>

#include "safetensors_malformed.hpp"

namespace byre::test {
namespace {

TEST(MalformedModels, whose_sizes_overflow_are_refused) {
  const char* const wrong = "The header is wrong: save it again.";
  const auto expect_overflow = [&](const char* dtype, const char* shape, const char* said) {
    expect_refused_entry(entry_of("a", dtype, shape, "[0,2]"), "its tensor \"a\" is refused: shape",
                         said, wrong);
  };
  expect_overflow("U8", "[4294967296,4294967296]", "elements");
  expect_overflow("U8", "[4294967296,4294967297]", "elements");
  expect_overflow("U8", "[4611686018427387904,2,2,2]", "elements");
  expect_overflow("F64", "[2305843009213693952]", "bytes");
  expect_overflow("F64", "[1152921504606846977]", "bytes");
  expect_refused_model(
      model_of("{" + entry_of("a", "U8", "[0,4294967296,4294967297]", "[0,0]") + "}"),
      "its tensor \"a\" is refused: shape");
}

TEST(MalformedModels, whose_sizes_take_other_bytes_than_there_are_are_refused) {
  const auto expect_unequal = [](const char* dtype, const char* shape, const char* said) {
    expect_refused_entry(entry_of("a", dtype, shape, "[0,2]"), "its tensor \"a\" has sizes", said,
                         "and 2 of data", "The header is wrong: save it again.");
  };
  expect_unequal("U8", "[3]", "[3] of u8, which take 3 bytes");
  expect_unequal("U8", "[1]", "[1] of u8, which take 1 bytes");
  expect_unequal("U8", "[]", "[] of u8, which take 1 bytes");
  expect_unequal("U8", "[0]", "[0] of u8, which take 0 bytes");
  expect_unequal("I16", "[2]", "[2] of i16, which take 4 bytes");
  expect_unequal("I32", "[]", "[] of i32, which take 4 bytes");
  if (sizeof(std::size_t) > 4) {
    expect_unequal("F64", "[1000000,1000000000]", "which take 8000000000000000 bytes");
    expect_unequal("U8", "[4294967298]", "which take 4294967298 bytes");  // 2 in 32 bits
  }
}

TEST(MalformedModels, with_offsets_beyond_the_end_are_refused) {
  for (const char* const offsets :
       {"[0,3]", "[2,3]", "[1,4294967297]", "[3,4]", "[0,18446744073709551615]",
        "[18446744073709551608,18446744073709551615]",
        "[18446744073709551614,18446744073709551615]"}) {
    std::string quoted = offsets;
    quoted = quoted.substr(1, quoted.size() - 2).replace(quoted.find(',') - 1, 1, " to ");
    expect_refused_entry(
        entry_of("a", "U8", "[2]", offsets),
        "its tensor \"a\" has the data_offsets " + quoted + ", and the data have 2 bytes",
        "Was it cut short?");
  }
}

TEST(MalformedModels, with_offsets_that_overflow_when_they_are_added_are_refused) {
  // Behind the header, these would be at its beginning once more.
  const std::string entry =
      entry_of("a", "U8", "[2]", "[18446744073709551608,18446744073709551610]");
  expect_refused_entry(entry, "18446744073709551608 to 18446744073709551610, and the data have 2");
  expect_refused_entry(entry_of("b", "U8", "[2]", "[0,2]") + "," + entry,
                       "18446744073709551608 to 18446744073709551610, and the data have 2");
}

TEST(MalformedModels, with_data_that_end_in_front_of_where_they_begin_are_refused) {
  for (const char* const offsets : {"[2,0]", "[1,0]", "[18446744073709551615,1]"}) {
    expect_refused_entry(
        entry_of("a", "U8", "[2]", offsets), "its tensor \"a\" has the data_offsets",
        "which end in front of where they begin", "The header is wrong: save it again.");
  }
}

TEST(MalformedModels, with_data_that_overlap_are_refused) {
  const auto expect_overlap = [](const std::string& first, const std::string& second,
                                 const char* said) {
    expect_refused_entry(first + "," + second, "its tensor \"", said,
                         "Save a copy of data that tensors share: tensor.clone().");
  };
  expect_overlap(entry_of("a", "U8", "[2]", "[0,2]"), entry_of("b", "U8", "[1]", "[1,2]"),
                 "b\" has the data_offsets 1 to 2, which overlap others, that end at 2");
  expect_overlap(entry_of("a", "U8", "[2]", "[0,2]"), entry_of("b", "U8", "[1]", "[0,1]"),
                 "a\" has the data_offsets 0 to 2, which overlap others, that end at 1");
  expect_overlap(entry_of("a", "U8", "[1]", "[1,2]"), entry_of("b", "U8", "[2]", "[0,2]"),
                 "a\" has the data_offsets 1 to 2, which overlap others, that end at 2");
}

TEST(MalformedModels, with_aliases_of_one_tensor_are_refused) {
  expect_refused_entry(
      entry_of("a", "U8", "[2]", "[0,2]") + "," + entry_of("tied", "U8", "[2]", "[0,2]"),
      "its tensor \"tied\" has the data_offsets 0 to 2, which overlap others, that "
      "end at 2",
      "tensor.clone()");
}

TEST(MalformedModels, without_elements_within_the_data_of_others_are_refused) {
  expect_refused_entry(
      entry_of("a", "U8", "[2]", "[0,2]") + "," + entry_of("none", "U8", "[0]", "[1,1]"),
      "its tensor \"none\" has the data_offsets 1 to 1, which overlap others, that "
      "end at 2");
}

TEST(MalformedModels, with_holes_are_refused) {
  expect_refused_entry(
      entry_of("a", "U8", "[1]", "[1,2]"),
      "its tensor \"a\" has the data_offsets 1 to 2, and nothing is said of the bytes "
      "from 0 on",
      "without a hole");
  expect_refused_model(
      model_of("{" + entry_of("a", "U8", "[1]", "[0,1]") + "," +
                   entry_of("b", "U8", "[1]", "[2,3]") + "}",
               "\1\1\1"),
      "its tensor \"b\" has the data_offsets 2 to 3, and nothing is said of the bytes "
      "from 1 on");
  expect_refused_entry(entry_of("none", "U8", "[0]", "[2,2]"), "\"none\"", "from 0 on");
}

TEST(MalformedModels, with_bytes_behind_the_last_tensor_are_refused) {
  expect_refused_entry(entry_of("a", "U8", "[1]", "[0,1]"), "1 bytes of data are no tensor's",
                       "nothing behind them");
  expect_refused_model(model_of("{}", "PK\3\4"), "4 bytes of data are no tensor's");
}

TEST(MalformedModels, that_are_cut_short_anywhere_or_have_a_byte_more_are_refused) {
  const std::string whole = model_of(
      "{" + entry_of("a", "I16", "[3]", "[0,6]") + "," + entry_of("b", "U8", "[]", "[6,7]") + "}  ",
      std::string(7, '\1'));
  ASSERT_EQ(complaint_about_model(whole), "nothing was thrown");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    expect_refused_model(whole.substr(0, size));
  }
  expect_refused_model(whole + '\1');
}

TEST(MalformedModels, with_bools_that_are_neither_0_nor_1_are_refused_by_name) {
  const std::string header = "{" + entry_of("bytes", "U8", "[1]", "[0,1]") + "," +
                             entry_of("mask", "BOOL", "[3]", "[1,4]") + "}";
  EXPECT_EQ(complaint_about_model(model_of(header, std::string("\2\0\1\1", 4))),
            "nothing was thrown");
  for (const char odd : {'\2', '\xff'}) {
    expect_refused_model(model_of(header, std::string("\1\0\1", 3) + odd),
                         "of its tensor \"mask\", its bool number 2 is the byte " +
                             std::to_string(static_cast<unsigned char>(odd)),
                         "A bool is 0 or 1: save tensor != 0.");
  }
}

}  // namespace
}  // namespace byre::test
