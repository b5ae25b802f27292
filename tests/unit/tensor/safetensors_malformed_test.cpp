// SPDX-License-Identifier: BSL-1.0
// Models that are not what they claim, as those that made other readers fail: each is refused from memory and
// from disk, read and mapped, with a text that names it and says what is wrong.
#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <string>

#include "safetensors_files.hpp"
#include "support/random.hpp"

namespace byre::test {
namespace {

/// What reading the file says, which is the same however it is read.
std::string complaint_about_model(const std::string& file) {
  const std::string complaint = complaint_of<FileError>([&] { read_model(file); });
  const TemporaryFolder folder;
  const auto path = folder / "model.safetensors";
  write_file(path, file);
  const std::string named = "\"" + path.string() + "\"";
  const std::string in_memory = "\"memory\"";
  for (const auto& read : {load_safetensors, map_safetensors}) {
    std::string on_disk = complaint_of<FileError>([&] { read(path); });
    if (const std::size_t at = on_disk.find(named); at != std::string::npos) {
      on_disk.replace(at, named.size(), in_memory);
    }
    if (!file.empty()) {  // which cannot be mapped
      EXPECT_EQ(on_disk, complaint);
    }
  }
  EXPECT_EQ(complaint.find("\"...\""), std::string::npos) << complaint;
  return complaint;
}

/// Each text has to be said of a file that is refused.
template <class... Said>
void expect_refused_model(const std::string& file, const Said&... said) {
  EXPECT_TRUE(says(complaint_about_model(file),
                   "cannot read \"memory\" as a .safetensors file: ", said...));
}

/// The header of one tensor, whose data are two bytes.
template <class... Said>
void expect_refused_entry(const std::string& entry, const Said&... said) {
  expect_refused_model(model_of("{" + entry + "}", "\1\1"), said...);
}

constexpr const char* an_entry = "An entry is \"name\": {\"dtype\"";

TEST(MalformedModels, that_end_within_their_length_are_refused) {
  for (std::size_t size = 0; size < 8; ++size) {
    expect_refused_model(std::string(size, '\1'),
                         "its " + std::to_string(size) + " bytes end within the 8", "all of it?");
  }
}

TEST(MalformedModels, with_a_header_beyond_their_end_are_refused) {
  expect_refused_model(length_of_header(3) + "{}", "its header has 3 bytes, and 2 are there",
                       "cut short");
  expect_refused_model(length_of_header(100'000'000) + "{}",
                       "has 100000000 bytes, and 2 are there");
}

TEST(MalformedModels, with_a_header_of_more_than_any_file_are_refused) {
  for (const std::uint64_t length :
       {std::uint64_t{100'000'001}, std::uint64_t{1} << 32, std::uint64_t{1} << 63,
        ~std::uint64_t{0}, ~std::uint64_t{0} - 7}) {
    expect_refused_model(length_of_header(length) + "{}",
                         "its header has " + std::to_string(length) + " bytes, more than the",
                         "100000000 that may be", "Is it a .safetensors file?");
  }
}

TEST(MalformedModels, whose_header_does_not_begin_with_a_brace_are_refused) {
  for (const char* const header :
       {"", " {}", "\n{}", "[]", "null", "\"{}\"", "\xef\xbb\xbf{}", "}{"}) {
    expect_refused_model(model_of(header), "its header does not begin with '{'",
                         "Is it a .safetensors file?");
  }
}

TEST(MalformedModels, with_a_zero_byte_in_the_header_are_refused) {
  for (const std::string& header :
       {std::string("{}\0", 3), std::string("{}\0PK and more of an archive", 28),
        std::string("{\"a\0\":1}", 8), std::string("{\0}", 3)}) {
    expect_refused_model(model_of(header), "its header has a zero byte", "spaces behind it");
  }
}

TEST(MalformedModels, whose_header_is_no_json_are_refused) {
  for (const char* const header : {"{",
                                   "{\"a\"",
                                   "{\"a\":",
                                   "{\"a\":}",
                                   "{a:{}}",
                                   "{'a':{}}",
                                   "{}{}",
                                   "{}x",
                                   "{} []",
                                   "{,}",
                                   "{\"__metadata__\":{},}",
                                   "{\"__metadata__\":{\"a\":\"b\",}}",
                                   "{//\n}",
                                   "{\"a\":NaN}",
                                   "{\"a\":{\"shape\":[01]}}",
                                   "{\"a\":+1}",
                                   "{\"__metadata__\":1e999}",
                                   "{\"\x01\":{}}",
                                   "{\"\\q\":{}}",
                                   "{\"\\ud800\":{}}",
                                   "{\"a\":\xff}"}) {
    expect_refused_model(model_of(header), "its header is no JSON: ", "Was it damaged?");
  }
  expect_refused_model(model_of("{\"a\":}"), "is no JSON: parse error at line 1, column 6");
}

TEST(MalformedModels, with_text_that_is_no_utf_8_are_refused) {
  for (const char* const text : {"\xff", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {
    expect_refused_entry(entry_of(text, "U8", "[2]", "[0,2]"), "no JSON", "UTF-8");
    expect_refused_model(model_of("{\"__metadata__\":{\"a\":\"" + std::string(text) + "\"}}"),
                         "no JSON", "UTF-8");
  }
}

TEST(MalformedModels, with_a_name_twice_are_refused) {
  expect_refused_entry(entry_of("a", "U8", "[1]", "[0,1]") + "," +
                           entry_of("b", "U8", "[0]", "[1,1]") + "," +
                           entry_of("a", "U8", "[1]", "[1,2]"),
                       "its entry \"a\" is there twice", an_entry, "each key once");
  expect_refused_entry(
      entry_of("a", "U8", "[2]", "[0,2]") + "," + entry_of("\\u0061", "U8", "[2]", "[0,2]"),
      "its entry \"a\" is there twice");
}

TEST(MalformedModels, with_metadata_twice_are_refused) {
  expect_refused_model(model_of("{\"__metadata__\":{\"a\":\"1\"},\"__metadata__\":{\"a\":\"2\"}}"),
                       "\"__metadata__\"", "twice");
  expect_refused_model(model_of("{\"__metadata__\":{},\"__metadata__\":{}}"),
                       "its entry \"__metadata__\" is there twice");
}

TEST(MalformedModels, with_a_key_of_the_metadata_twice_are_refused) {
  expect_refused_model(model_of("{\"__metadata__\":{\"b\":\"1\",\"a\":\"1\",\"b\":\"2\"}}"),
                       "its entry \"__metadata__\" has the key 'b' twice", an_entry,
                       "or \"__metadata__\": {\"key\": \"value\"}.");
}

TEST(MalformedModels, with_a_key_of_an_entry_twice_are_refused) {
  for (const char* const key : {"dtype", "shape", "data_offsets"}) {
    const std::string value = *key == 'd' && key[1] == 't' ? "\"U8\""
                              : *key == 's'                ? "[2]"
                                                           : "[0,2]";
    expect_refused_entry("\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2],\"" +
                             std::string(key) + "\":" + value + "}",
                         "its entry \"a\" has one key too many, '" + std::string(key) + "'",
                         an_entry);
  }
}

TEST(MalformedModels, with_a_key_that_is_not_the_formats_are_refused) {
  expect_refused_entry(
      "\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2],\"strides\":[1]}",
      "its entry \"a\" has one key too many, 'strides'", an_entry);
  expect_refused_entry("\"a\":{\"\":\"U8\"}", "has one key too many, ''");
}

TEST(MalformedModels, that_lack_a_key_are_refused) {
  expect_refused_entry("\"a\":{\"shape\":[2],\"data_offsets\":[0,2]}",
                       "its entry \"a\" lacks the key 'dtype'", an_entry);
  expect_refused_entry("\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,2]}", "lacks the key 'shape'");
  expect_refused_entry("\"a\":{\"dtype\":\"U8\",\"shape\":[2]}", "lacks the key 'data_offsets'");
  // What the entry before had is not this one's.
  expect_refused_entry(entry_of("a", "U8", "[2]", "[0,2]") + ",\"b\":{}",
                       "its entry \"b\" lacks the key 'dtype'");
}

/// What a value may not be, and how it is called.
struct WrongValue {
  const char* text;
  const char* called;
};

constexpr WrongValue every_kind_of_value[] = {
    {"null", "null"},
    {"true", "a boolean"},
    {"false", "a boolean"},
    {"-1", "a number with a minus sign"},
    {"-0", "a number with a minus sign"},
    {"7", "the number 7"},
    {"1.0", "the number 1.0"},
    {"1e3", "the number 1e3"},
    {"99999999999999999999", "the number 99999999999999999999"},
    {"\"2\"", "a string"},
    {"[2]", "an array"},
    {"[]", "an array"},
    {"{}", "an object"}};

/// Every kind of value but those called `wanted`, where `with` puts it.
void expect_no_other_value(const char* name, const char* wanted, const char* said,
                           const std::function<std::string(const std::string&)>& with) {
  for (const WrongValue& value : every_kind_of_value) {
    if (std::string(value.called) != wanted) {
      expect_refused_entry(with(value.text),
                           "its entry \"" + std::string(name) + "\" has " + value.called +
                               ", where " + said + " should be",
                           an_entry);
    }
  }
}

TEST(MalformedModels, with_values_of_other_types_are_refused) {
  expect_no_other_value("a", "an object", "an object of dtype, shape and data_offsets",
                        [](const std::string& value) { return "\"a\":" + value; });
  expect_no_other_value("__metadata__", "an object", "an object of strings",
                        [](const std::string& value) { return "\"__metadata__\":" + value; });
  expect_no_other_value("__metadata__", "a string", "a string", [](const std::string& value) {
    return "\"__metadata__\":{\"a\":\"b\",\"c\":" + value + "}";
  });
  expect_no_other_value("a", "a string", "a string",
                        [](const std::string& value) { return "\"a\":{\"dtype\":" + value + "}"; });
  expect_no_other_value("a", "an array", "an array of sizes",
                        [](const std::string& value) { return "\"a\":{\"shape\":" + value + "}"; });
  expect_no_other_value(
      "a", "the number 7", "a whole number below 2^63",
      [](const std::string& value) { return "\"a\":{\"shape\":[1," + value + "]}"; });
  expect_no_other_value("a", "an array", "an array of two offsets", [](const std::string& value) {
    return "\"a\":{\"data_offsets\":" + value + "}";
  });
  expect_no_other_value(
      "a", "the number 7", "a whole number below 2^64",
      [](const std::string& value) { return "\"a\":{\"data_offsets\":[0," + value + "]}"; });
}

TEST(MalformedModels, with_sizes_or_offsets_of_more_bits_than_there_are_are_refused) {
  expect_refused_entry(entry_of("a", "U8", "[9223372036854775808]", "[0,2]"),
                       "the number 9223372036854775808, where a whole number below 2^63");
  expect_refused_entry(entry_of("a", "U8", "[9223372036854775807]", "[0,2]"), "tensor \"a\"");
  expect_refused_entry(entry_of("a", "U8", "[2]", "[0,18446744073709551616]"),
                       "the number 18446744073709551616, where a whole number below 2^64");
}

TEST(MalformedModels, with_one_offset_or_three_are_refused) {
  expect_refused_entry(entry_of("a", "U8", "[2]", "[]"),
                       "its entry \"a\" has fewer than two data_offsets", an_entry);
  expect_refused_entry(entry_of("a", "U8", "[2]", "[0]"), "has fewer than two data_offsets");
  expect_refused_entry(entry_of("a", "U8", "[2]", "[0,2,2]"),
                       "its entry \"a\" has more than two data_offsets", an_entry);
  // Those of the entry before are not this one's.
  expect_refused_entry(
      entry_of("a", "U8", "[2]", "[0,2]") + "," + entry_of("b", "U8", "[2]", "[0]"),
      "its entry \"b\" has fewer than two data_offsets");
}

TEST(MalformedModels, that_are_deep_are_refused_at_the_first_level_too_many) {
  const std::string arrays(100'000, '[');
  expect_refused_model(model_of("{\"a\":" + arrays), "has an array, where an object");
  expect_refused_model(model_of("{\"a\":{\"shape\":" + arrays),
                       "has an array, where a whole number below 2^63");
  std::string objects;
  for (int depth = 0; depth < 100'000; ++depth) {
    objects += "{\"a\":";
  }
  expect_refused_model(model_of(objects), "has one key too many, 'a'");
  expect_refused_model(model_of("{\"__metadata__\":" + objects),
                       "\"__metadata__\" has an object, where a string should be");
}

TEST(MalformedModels, with_more_than_64_dimensions_are_refused) {
  const auto entry = [](std::size_t ndim) {
    std::string shape = "[2";
    for (std::size_t axis = 1; axis < ndim; ++axis) {
      shape += ",1";
    }
    return entry_of("a", "U8", shape + "]", "[0,2]");
  };
  EXPECT_EQ(complaint_about_model(model_of("{" + entry(64) + "}", "\1\1")), "nothing was thrown");
  expect_refused_entry(entry(65), "its entry \"a\" has more than 64 dimensions", an_entry);
}

TEST(MalformedModels, of_elements_that_no_dtype_stands_for_are_refused_by_name) {
  for (const char* const dtype : {"U16", "U32", "U64", "F8_E4M3", "F8_E5M2", "F8_E8M0", "F4",
                                  "F6_E2M3", "C128", "f32", "F32 ", "", "FLOAT"}) {
    expect_refused_entry(
        entry_of("a.weight", dtype, "[1]", "[0,2]"),
        "its tensor \"a.weight\" is of '" + std::string(dtype) + "', which no dtype stands for",
        "Save it as one of BOOL, U8, I8, I16, I32, I64, F16, BF16, F32, F64 or C64",
        "tensor.to(torch.float32).");
  }
}

TEST(MalformedModels, with_names_that_a_terminal_obeys_are_quoted_without_that) {
  expect_refused_entry(entry_of("\\u001b[2J\\u0000\xc3\xa4", "U\\u001b[2J", "[2]", "[0,2]"),
                       "its tensor \"?[2J???\" is of 'U?[2J'");
  expect_refused_entry(entry_of(std::string(40, 'n'), "U", "[2]", "[0,2]"),
                       "\"" + std::string(40, 'n') + "\" is");
  expect_refused_entry(entry_of(std::string(41, 'n'), "U", "[2]", "[0,2]"),
                       "\"" + std::string(40, 'n') + "...\" is");
}

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

TEST(MalformedModels, with_any_bytes_changed_are_read_or_refused) {
  Random choose(seed());
  const std::string valid =
      model_of("{\"__metadata__\":{\"k\":\"v\"}," + entry_of("a", "F32", "[2,3]", "[0,24]") + "," +
                   entry_of("b", "BOOL", "[1]", "[24,25]") + "}",
               std::string(25, '\1'));
  using namespace std::literals;
  const auto likely = "{}()[]'\",: \\0123456789-eu.FBUI\n\0\xff"sv;
  for (int round = 0; round < 10'000; ++round) {
    std::string file = valid;
    for (int changes = choose.number(1, 4); changes > 0; --changes) {
      choose.one_of(file) = choose.one_of(likely);
    }
    const std::string complaint = complaint_of<FileError>([&] { read_model(file); });
    EXPECT_TRUE(complaint == "nothing was thrown" ||
                complaint.starts_with("cannot read \"memory\" as a .safetensors file"))
        << complaint;
  }
}

TEST(MalformedModels, that_are_no_files_are_refused) {
  const TemporaryFolder folder;
  for (const auto& read : {load_safetensors, map_safetensors}) {
    const auto complaint = [&](const char* name) {
      return complaint_of<FileError>([&] { read(folder / name); });
    };
    EXPECT_TRUE(says(complaint("missing.safetensors"), "no such file"));
    EXPECT_TRUE(says(complaint(""), "not a regular file"));
  }
}

}  // namespace
}  // namespace byre::test
