// SPDX-License-Identifier: BSL-1.0
// Models whose header is not what it claims, as those that made other readers fail: each is refused from memory
// and from disk, read and mapped, with a text that names it and says what is wrong.
#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <string>

#include "safetensors_malformed.hpp"
#include "support/random.hpp"

namespace byre::test {
namespace {

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
       {"", " ", "\v{}", " []", "[]", "null", "\"{}\"", "\xef\xbb\xbf{}", "}{"}) {
    expect_refused_model(model_of(header), "its header does not begin with '{'",
                         "Is it a .safetensors file?");
  }
  expect_refused_model(model_of("", "{}"), "its header does not begin with '{'");
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
  EXPECT_TRUE(says(complaint_about_model(model_of("{\"" + std::string(9000, 'x') + "\n")),
                   "xxx.... Was it damaged?"));
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
  for (const WrongValue& value : every_kind_of_value) {
    if (std::string(value.called) != "an object" && std::string(value.called) != "null") {
      expect_refused_entry(std::string("\"__metadata__\":") + value.text,
                           "where an object of strings should be", an_entry);
    }
  }
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

TEST(MalformedModels, with_names_that_a_terminal_obeys_are_quoted_without_that) {
  expect_refused_entry(entry_of("\\u001b[2J\\u0000\xc3\xa4\x7f", "U8", "[3]", "[0,2]"),
                       "its tensor \"?[2J????\" has");
  expect_refused_entry(entry_of(" !}~", "U8", "[3]", "[0,2]"), "its tensor \" !}~\" has");
  expect_refused_entry(entry_of(std::string(40, 'n'), "U8", "[3]", "[0,2]"),
                       "\"" + std::string(40, 'n') + "\" has");
  expect_refused_entry(entry_of(std::string(41, 'n'), "U8", "[3]", "[0,2]"),
                       "\"" + std::string(40, 'n') + "...\" has");
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
