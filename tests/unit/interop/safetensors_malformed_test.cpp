// SPDX-License-Identifier: BSL-1.0
// Malformed models, among them models that made other readers fail. Each is rejected in memory and
// on disk, loaded and mapped, with an error that names the file and the defect.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "safetensors_files.hpp"

namespace byre::test {
namespace {

/// The text of the error about the file. Expects equal texts from all ways of reading.
std::string complaint_about_model(const std::string& file) {
  const std::string complaint = complaint_of<FileError>([&] { read_model(file); });
  const TemporaryFolder folder;
  const auto path = folder / "model.safetensors";
  write_file(path, file);
  const std::string named = "\"" + path.string() + "\"";
  for (const auto& read : {load_safetensors, map_safetensors}) {
    std::string on_disk = complaint_of<FileError>([&] { read(path); });
    if (const std::size_t at = on_disk.find(named); at != std::string::npos) {
      on_disk.replace(at, named.size(), "\"memory\"");
    }
    if (!file.empty()) {  // an empty file cannot be mapped
      EXPECT_EQ(on_disk, complaint);
    }
  }
  EXPECT_EQ(complaint.find("\"...\""), std::string::npos) << complaint;
  return complaint;
}

void expect_refused(const std::string& file, const std::string& said, const char* advice) {
  EXPECT_TRUE(says(complaint_about_model(file),
                   "cannot read \"memory\" as a .safetensors file: ", said, advice));
}

/// A JSON entry of dtype u8.
std::string bytes(const std::string& name, const std::string& shape, const std::string& offsets) {
  return entry_of(name, "U8", shape, offsets);
}

/// Headers or entries of models that are rejected with one error text.
struct MalformedModels {
  std::string said;
  const char* advice;
  std::vector<std::string> texts;
};

const char* const is_it_one = "Is it a .safetensors file?";
const char* const an_entry = "An entry is \"name\": {\"dtype\"";
const char* const wrong = "The header is wrong: save it again.";
const char* const cut_short = "Was it cut short?";
const char* const share = "Copy shared data before saving: tensor.clone().";
const std::string good_entry = bytes("a", "[2]", "[0,2]");
/// A good entry with an additional key.
std::string with_key(const std::string& key) {
  return good_entry.substr(0, good_entry.size() - 1) + "," + key + "}";
}

const std::string many_arrays(100'000, '[');
const std::string no_json = "its header is not JSON: ";

std::string many_objects() {
  std::string objects;
  for (int depth = 0; depth < 100'000; ++depth) {
    objects += R"({"a":)";
  }
  return objects;
}

// clang-format off
/// Each text is a header.
const MalformedModels malformed_headers[] = {
    {"its header does not begin with '{'", is_it_one,
     {"", " ", "\v{}", " []", "[]", "null", R"("{}")", "\xef\xbb\xbf{}", "}{"}},
    {"its header contains a zero byte", "padded with spaces",
     {std::string("{}\0", 3), std::string("{}\0PK and more of an archive", 28),
      std::string("{\"a\0\":1}", 8), std::string("{\0}", 3)}},
    {no_json, "Was it damaged?",
     {"{", R"({"a")", R"({"a":)", R"({"a":})", "{a:{}}", "{'a':{}}", "{}{}", "{}x", "{} []", "{,}",
      R"({"__metadata__":{},})", R"({"__metadata__":{"a":"b",}})", "{//\n}", R"({"a":NaN})",
      R"({"a":{"shape":[01]}})", R"({"a":+1})", R"({"__metadata__":1e999})", "{\"\x01\":{}}",
      R"({"\q":{}})", R"({"\ud800":{}})", "{\"a\":\xff}"}},
    {no_json + "parse error at line 1, column 6", "Was it damaged?", {R"({"a":})"}},
    {"xxx...", "Was it damaged?", {"{\"" + std::string(9000, 'x') + "\n"}},
    {R"(its entry "__metadata__" occurs twice)", an_entry,
     {R"({"__metadata__":{},"__metadata__":{}})"}},
    {R"(its entry "__metadata__" has the key 'b' twice)", R"(or "__metadata__": {"key": "value"}.)",
     {R"({"__metadata__":{"b":"1","a":"1","b":"2"}})"}},
    {"has an array, expected an object", an_entry, {R"({"a":)" + many_arrays}},
    {"has an array, expected a whole number below 2^63", an_entry,
     {R"({"a":{"shape":)" + many_arrays}},
    {"has the unknown or repeated key 'a'", an_entry, {many_objects()}},
    {R"("__metadata__" has an object, expected a string)", an_entry,
     {R"({"__metadata__":)" + many_objects()}},
    {R"(its tensor "a" is rejected: shape)", wrong,
     {"{" + bytes("a", "[0,4294967296,4294967297]", "[0,0]") + "}"}},
};

/// Each text is one or more entries of a model with two bytes of data.
const MalformedModels malformed_entries[] = {
    {R"(its entry "a" occurs twice)", "each key once",
     {bytes("a", "[1]", "[0,1]") + "," + bytes("b", "[0]", "[1,1]") + "," + bytes("a", "[1]",
      "[1,2]"),
      good_entry + "," + bytes(R"(\u0061)", "[2]", "[0,2]")}},
    {R"(its entry "a" has the unknown or repeated key 'dtype')", an_entry,
     {with_key(R"("dtype":"U8")")}},
    {R"(its entry "a" has the unknown or repeated key 'strides')", an_entry,
     {with_key(R"("strides":[1])")}},
    {"has the unknown or repeated key ''", an_entry, {R"("a":{"":"U8"})"}},
    {R"(its entry "a" lacks the key 'dtype')", an_entry,
     {R"("a":{"shape":[2],"data_offsets":[0,2]})"}},
    {"lacks the key 'data_offsets'", an_entry, {R"("a":{"dtype":"U8","shape":[2]})"}},
    // The keys of the previous entry do not count.
    {R"(its entry "b" lacks the key 'dtype')", an_entry, {good_entry + R"(,"b":{})"}},
    {"the number 9223372036854775808, expected a whole number below 2^63", an_entry,
     {bytes("a", "[9223372036854775808]", "[0,2]")}},
    {R"(tensor "a")", wrong, {bytes("a", "[9223372036854775807]", "[0,2]")}},
    {"the number 18446744073709551616, expected a whole number below 2^64", an_entry,
     {bytes("a", "[2]", "[0,18446744073709551616]")}},
    {R"(its entry "a" has fewer than two data_offsets)", an_entry,
     {bytes("a", "[2]", "[]"), bytes("a", "[2]", "[0]")}},
    {R"(its entry "a" has more than two data_offsets)", an_entry, {bytes("a", "[2]", "[0,2,2]")}},
    {R"(its entry "b" has fewer than two data_offsets)", an_entry,
     {good_entry + "," + bytes("b", "[2]", "[0]")}},
    {"UTF-8", "Was it damaged?",
     {bytes("\xff", "[2]", "[0,2]"), bytes("\xc3", "[2]", "[0,2]"),
      bytes("\xc0\xaf", "[2]", "[0,2]"),
      bytes("\xed\xa0\x80", "[2]", "[0,2]"), bytes("\xf4\x90\x80\x80", "[2]", "[0,2]"),
      "\"__metadata__\":{\"a\":\"\xff\"}", "\"__metadata__\":{\"a\":\"\xed\xa0\x80\"}"}},

    // ---- names with control characters, and long names
    {R"(its tensor "?[2J????" has)", wrong,
     {bytes("\\u001b[2J\\u0000\xc3\xa4\x7f", "[3]", "[0,2]")}},
    {R"(its tensor " !}~" has)", wrong, {bytes(" !}~", "[3]", "[0,2]")}},
    {"\"" + std::string(40, 'n') + "\" has", wrong, {bytes(std::string(40, 'n'), "[3]", "[0,2]")}},
    {"\"" + std::string(40, 'n') + "...\" has", wrong,
     {bytes(std::string(41, 'n'), "[3]", "[0,2]")}},

    // ---- sizes
    {R"(its tensor "a" is rejected: shape)", wrong,
     {bytes("a", "[4294967296,4294967296]", "[0,2]"),
      bytes("a", "[4294967296,4294967297]", "[0,2]"),
      bytes("a", "[4611686018427387904,2,2,2]", "[0,2]"),
      entry_of("a", "F64", "[2305843009213693952]", "[0,2]"),
      entry_of("a", "F64", "[1152921504606846977]", "[0,2]")}},
    {R"(its tensor "a" has sizes [3] of u8: 3 bytes expected, 2 found)", wrong,
     {bytes("a", "[3]", "[0,2]")}},
    {R"(its tensor "a" has sizes [0] of u8: 0 bytes expected, 2 found)", wrong,
     {bytes("a", "[0]", "[0,2]")}},
    {R"(its tensor "a" has sizes [2] of i16: 4 bytes expected, 2 found)", wrong,
     {entry_of("a", "I16", "[2]", "[0,2]")}},
    {sizeof(std::size_t) > 4 ? "8000000000000000 bytes expected, 2 found" : "rejected", wrong,
     {entry_of("a", "F64", "[1000000,1000000000]", "[0,2]")}},
    {sizeof(std::size_t) > 4 ? "4294967298 bytes expected, 2 found" : "rejected", wrong,
     {bytes("a", "[4294967298]", "[0,2]")}},  // 2 if truncated to 32 bits

    // ---- offsets of data
    {R"(its tensor "a" has data_offsets 0 to 3: the data have 2 bytes)", cut_short,
     {bytes("a", "[2]", "[0,3]")}},
    {"1 to 4294967297: the data have 2 bytes", cut_short, {bytes("a", "[2]", "[1,4294967297]")}},
    {"0 to 18446744073709551615: the data have 2 bytes", cut_short,
     {bytes("a", "[2]", "[0,18446744073709551615]")}},
    {"18446744073709551614 to 18446744073709551615: the data have 2 bytes", cut_short,
     {bytes("a", "[2]", "[18446744073709551614,18446744073709551615]")}},
    // Added to the header's end, these offsets would overflow to its beginning.
    {"18446744073709551608 to 18446744073709551610: the data have 2", cut_short,
     {bytes("a", "[2]", "[18446744073709551608,18446744073709551610]"),
      bytes("b", "[2]", "[0,2]") + "," + bytes("a", "[2]",
      "[18446744073709551608,18446744073709551610]")}},
    {"their end precedes their start", wrong,
     {bytes("a", "[2]", "[2,0]"), bytes("a", "[2]", "[1,0]"),
      bytes("a", "[2]", "[18446744073709551615,1]")}},
    {R"("b" has data_offsets 1 to 2: they overlap data that end at 2)", share,
     {good_entry + "," + bytes("b", "[1]", "[1,2]")}},
    {R"("a" has data_offsets 0 to 2: they overlap data that end at 1)", share,
     {good_entry + "," + bytes("b", "[1]", "[0,1]")}},
    {R"("a" has data_offsets 1 to 2: they overlap data that end at 2)", share,
     {bytes("a", "[1]", "[1,2]") + "," + bytes("b", "[2]", "[0,2]")}},
    {R"("tied" has data_offsets 0 to 2: they overlap data that end at 2)", share,
     {good_entry + "," + bytes("tied", "[2]", "[0,2]")}},
    {R"("none" has data_offsets 1 to 1: they overlap data that end at 2)", share,
     {good_entry + "," + bytes("none", "[0]", "[1,1]")}},
    {R"("a" has data_offsets 1 to 2: bytes from 0 on belong to no tensor)", "without gaps",
     {bytes("a", "[1]", "[1,2]")}},
    {R"("b" has data_offsets 2 to 2: bytes from 1 on belong to no tensor)", "without gaps",
     {bytes("a", "[1]", "[0,1]") + "," + bytes("b", "[0]", "[2,2]")}},
    {"1 bytes of data belong to no tensor", "nothing after the tensors",
     {bytes("a", "[1]", "[0,1]")}},
    {"2 bytes of data belong to no tensor", "nothing after the tensors",
     {"", R"("__metadata__":{})"}},
};
// clang-format on

TEST(MalformedModels, are_rejected_and_the_defect_is_named) {
  for (const MalformedModels& each : malformed_headers) {
    for (const std::string& header : each.texts) {
      SCOPED_TRACE(header.substr(0, 100));
      expect_refused(model_of(header), each.said, each.advice);
    }
  }
  for (const MalformedModels& each : malformed_entries) {
    for (const std::string& entries : each.texts) {
      SCOPED_TRACE(entries);
      expect_refused(model_of("{" + entries + "}", "\1\1"), each.said, each.advice);
    }
  }
}

TEST(MalformedModels, a_wrong_header_length_is_rejected) {
  for (std::size_t size = 0; size < 8; ++size) {
    expect_refused(std::string(size, '\1'),
                   "its " + std::to_string(size) + " bytes end within the 8", "complete");
  }
  expect_refused(little_endian(3, 8) + "{}", "its header has 3 bytes, but 2 are present",
                 cut_short);
  expect_refused(little_endian(100'000'000, 8) + "{}", "has 100000000 bytes, but 2 are present",
                 cut_short);
  for (const std::uint64_t length :
       {std::uint64_t{100'000'001}, std::uint64_t{1} << 32, std::uint64_t{1} << 63,
        ~std::uint64_t{0}, ~std::uint64_t{0} - 7}) {
    expect_refused(little_endian(length, 8) + "{}",
                   "its header has " + std::to_string(length) + " bytes, allowed are 100000000",
                   is_it_one);
  }
}

TEST(MalformedModels, values_of_unexpected_types_are_rejected) {
  const std::vector<std::pair<std::string, std::string>> values{
      {"null", "null"},
      {"true", "a boolean"},
      {"false", "a boolean"},
      {"-1", "a number with a minus sign"},
      {"-0", "a number with a minus sign"},
      {"7", "the number 7"},
      {"1.0", "the number 1.0"},
      {"1e3", "the number 1e3"},
      {"99999999999999999999", "the number 99999999999999999999"},
      {R"("2")", "a string"},
      {"[2]", "an array"},
      {"[]", "an array"},
      {"{}", "an object"}};
  struct Place {
    const char* front;
    const char* behind;
    std::string wanted;
    std::string said;
  };
  for (const Place& place : std::initializer_list<Place>{
           {R"("a":)", "", "an object", "an object of dtype, shape and data_offsets"},
           {R"("__metadata__":)", "", "an object", "an object of strings"},
           {R"("__metadata__":{"a":"b","c":)", "}", "a string", "a string"},
           {R"("a":{"dtype":)", "}", "a string", "a string"},
           {R"("a":{"shape":)", "}", "an array", "an array of sizes"},
           {R"("a":{"shape":[1,)", "]}", "the number 7", "a whole number below 2^63"},
           {R"("a":{"data_offsets":)", "}", "an array", "an array of two offsets"},
           {R"("a":{"data_offsets":[0,)", "]}", "the number 7", "a whole number below 2^64"}}) {
    const std::string front = place.front;
    for (const auto& [text, called] : values) {
      const bool is_no_metadata = called == "null" && front == R"("__metadata__":)";
      if (called != place.wanted && !is_no_metadata) {
        expect_refused(model_of("{" + front + text + place.behind + "}", "\1\1"),
                       "its entry " + front.substr(0, front.find(':')) + " has " + called +
                           ", expected " + place.said,
                       an_entry);
      }
    }
  }
}

TEST(MalformedModels, more_than_64_dimensions_are_rejected) {
  std::string shape = "[2";
  for (std::size_t axis = 1; axis < 64; ++axis) {
    shape += ",1";
  }
  const auto model = [](const std::string& sizes) {
    return model_of("{" + bytes("a", sizes + "]", "[0,2]") + "}", "\1\1");
  };
  EXPECT_EQ(complaint_about_model(model(shape)), "nothing was thrown");
  expect_refused(model(shape + ",1"), R"(its entry "a" has more than 64 dimensions)", an_entry);
}

TEST(MalformedModels, invalid_bools_are_rejected_and_their_tensor_is_named) {
  const std::string header =
      "{" + bytes("bytes", "[1]", "[0,1]") + "," + entry_of("mask", "BOOL", "[3]", "[1,4]") + "}";
  EXPECT_EQ(complaint_about_model(model_of(header, std::string("\2\0\1\1", 4))),
            "nothing was thrown");
  for (const char odd : {'\2', '\xff'}) {
    expect_refused(model_of(header, std::string("\1\0\1", 3) + odd),
                   R"(in its tensor "mask", its bool number 2 is the byte )" +
                       std::to_string(static_cast<unsigned char>(odd)),
                   "A bool is 0 or 1: save tensor != 0.");
  }
}

TEST(MalformedModels, truncated_models_and_extra_bytes_are_rejected) {
  const std::string whole =
      model_of("{" + entry_of("a", "I16", "[3]", "[0,6]") + "," + bytes("b", "[]", "[6,7]") + "}  ",
               std::string(7, '\1'));
  ASSERT_EQ(complaint_about_model(whole), "nothing was thrown");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    expect_refused(whole.substr(0, size), "", "");
  }
  expect_refused(whole + '\1', "", "");
}

}  // namespace
}  // namespace byre::test
