// SPDX-License-Identifier: BSL-1.0
/// Models that the reference implementation accepts as well: with null metadata, white space, or
/// dtypes that byre lacks.
#include <gtest/gtest.h>

#include <string>

#include "safetensors_files.hpp"
#include "support/caught_warnings.hpp"
#include "support/complaint.hpp"

namespace byre::test {
namespace {

/// Calls `look` for each way of reading, with fresh memory each time.
template <class Look>
void for_each_reading(const std::string& file, const Look& look) {
  const TemporaryFolder folder;
  write_file(folder / "model.safetensors", file);
  look(read_model(file));
  look(load_safetensors(folder / "model.safetensors"));
  look(map_safetensors(folder / "model.safetensors"));
}

TEST(ForeignModels, null_metadata_and_leading_white_space_are_allowed) {
  for (const char* const begin : {"{\"__metadata__\":null,", " \t\r\n{"}) {
    const std::string file = model_of(begin + entry_of("a", "U8", "[2]", "[0,2]") + "}", "\1\2");
    for_each_reading(file, [](const SafetensorsFile& read) {
      EXPECT_TRUE(read.metadata.empty());
      expect_same_tensors(read.tensors, {{"a", Tensor::of<std::uint8_t>({2}, {1, 2})}});
    });
  }
}

TEST(ForeignModels, tensors_of_unsupported_dtypes_are_skipped) {
  for (const char* const dtype : {"U16", "U32", "U64", "F8_E4M3", "F8_E5M2", "F4", "later"}) {
    const std::string file = model_of("{" + entry_of("a", "U8", "[1]", "[0,1]") + "," +
                                          entry_of("scale", dtype, "[2,1]", "[1,3]") + "," +
                                          entry_of("b", "U8", "[1]", "[3,4]") + "}",
                                      "\1\2\3\4");
    for_each_reading(file, [&](const SafetensorsFile& read) {
      expect_same_tensors(read.tensors, {{"a", Tensor::of<std::uint8_t>({1}, {1})},
                                         {"b", Tensor::of<std::uint8_t>({1}, {4})}});
      ASSERT_EQ(read.skipped.size(), 1U);
      EXPECT_EQ(read.skipped[0].name, "scale");
      EXPECT_EQ(read.skipped[0].dtype, dtype);
      EXPECT_EQ(read.skipped[0].sizes, (Dims{2, 1}));
      EXPECT_EQ(read.skipped[0].offset, file.size() - 3);
      EXPECT_EQ(read.skipped[0].nbytes, 2U);
    });
  }
}

TEST(ForeignModels, several_skipped_tensors_cause_one_printable_warning) {
  const CaughtWarnings warnings;
  const SafetensorsFile read =
      read_model(model_of("{" + entry_of("b\\u001b[2J", "U\\u001b[2J", "[2,3]", "[0,2]") + "," +
                              entry_of("c", "U16", "[1]", "[2,4]") + "}",
                          "\1\2\3\4"));
  ASSERT_EQ(read.skipped.size(), 2U);
  EXPECT_EQ(read.skipped[0].name, "b\x1b[2J");
  EXPECT_EQ(read.skipped[0].dtype, "U\x1b[2J");
  ASSERT_EQ(warnings.texts().size(), 1U);
  EXPECT_TRUE(says(warnings.texts()[0],
                   "skipped 2 tensors of \"memory\", because byre lacks their dtypes: the first is "
                   "\"b?[2J\", 'U?[2J' of sizes [2, 3]. Convert",
                   "SafetensorsFile::skipped lists all"));
  read_model(model_of("{" + entry_of("a", "U8", "[2]", "[0,2]") + "}", "\1\2"));
  EXPECT_EQ(warnings.texts().size(), 1U);
}

TEST(ForeignModels, skipped_tensors_must_not_overlap_others) {
  EXPECT_TRUE(says(complaint_of<FileError>([] {
                     read_model(model_of("{" + entry_of("a", "U16", "[1]", "[0,2]") + "," +
                                             entry_of("b", "U8", "[1]", "[1,2]") + "}",
                                         "\1\2"));
                   }),
                   "they overlap data"));
}

}  // namespace
}  // namespace byre::test
