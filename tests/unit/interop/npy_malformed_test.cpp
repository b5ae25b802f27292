// SPDX-License-Identifier: BSL-1.0
// Malformed files. Each is rejected with a text that names the file, and never read beyond its end:
// the bytes are in memory of exactly their size, so AddressSanitizer would report such a read.
#include <string>

#include "stored_tensors.hpp"

namespace byre::test {
namespace {

const std::string magic("\x93NUMPY\1\0", 8);

std::string file_with(const std::string& header, const std::string& data) {
  return magic + little_endian(header.size(), 2) + header + data;
}

/// The text of the error that read_npy() throws for the file.
std::string complaint_about(const std::string& file) {
  return complaint_of<FileError>([&] { read_exact(read_npy, file); });
}

std::string described(const std::string& descr, const std::string& order,
                      const std::string& shape) {
  return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

std::string array(const std::string& descr, const std::string& order, const std::string& shape,
                  const std::string& data = "\1\1") {
  return file_with(described(descr, order, shape), data);
}

std::string bytes(const std::string& shape, const std::string& data = "\1\1") {
  return array("'|u1'", "False", shape, data);
}

struct Malformed {
  const char* name;
  std::string file;
  const char* said;
};

const Malformed all_malformed[] = {
    {"an_empty_file", "", "does not begin"},
    {"magic_cut_short", "\x93NUM", "does not begin"},
    {"magic_alone", "\x93NUMPY", "does not begin"},
    {"another_file", "PK\3\4 and more of an archive", "does not begin"},
    {"no_minor_version", "\x93NUMPY\1", "does not begin"},
    {"version_0", std::string("\x93NUMPY\0\0", 8) + "v\0{}", "version is 0.0"},
    {"version_4", std::string("\x93NUMPY\4\0", 8) + "v\0{}", "version is 4.0"},
    {"version_1_1", "\x93NUMPY\1\1v", "version is 1.1"},
    {"no_length", magic, "end within the header"},
    {"half_a_length", magic + "v", "end within the header"},
    {"a_header_beyond_the_end", magic + std::string("v\0{", 3), "end within the header"},
    {"a_header_of_gigabytes", std::string("\x93NUMPY\2\0", 8) + "\xff\xff\xff\xff{}",
     "more than a plain array"},
    {"an_empty_header", file_with("", ""), "expected '{'"},
    {"a_list", file_with("['descr']", ""), "expected '{'"},
    {"an_unclosed_dictionary", file_with("{'descr': '|u1'", ""), "expected '}'"},
    {"an_unclosed_string", file_with("{'descr", ""), "closing quote"},
    {"an_escape", file_with("{'de\\x73cr': '|u1'}", ""), "without escapes"},
    {"a_bare_key", file_with("{descr: '|u1'}", ""), "expected a string"},
    {"no_colon", file_with("{'descr' '|u1'}", ""), "expected ':'"},
    {"only_a_comma", file_with("{,}", ""), "expected a string"},
    {"no_keys", file_with("{}", ""), "lacks the key 'descr'"},
    {"no_descr", file_with("{'fortran_order': False, 'shape': (2,)}", "\1\1"),
     "lacks the key 'descr'"},
    {"no_order", file_with("{'descr': '|u1', 'shape': (2,)}", "\1\1"),
     "lacks the key 'fortran_order'"},
    {"no_shape", file_with("{'descr': '|u1', 'fortran_order': False}", "\1\1"),
     "lacks the key 'shape'"},
    {"a_key_twice", file_with("{'descr': '|u1', 'descr': '|u1'}", ""), "repeated key 'descr'"},
    {"an_unknown_key", file_with("{'descr': '|u1', 'align': True}", ""), "repeated key 'align'"},
    {"text_after_the_dictionary", file_with(described("'|u1'", "False", "(2,)") + "x", "\1\1"),
     "the end of the header"},
    {"an_order_of_1", array("'|u1'", "1", "(2,)"), "True or False"},
    {"an_order_in_quotes", array("'|u1'", "'False'", "(2,)"), "True or False"},
    {"a_longer_word_for_true", array("'|u1'", "Truely", "(2,)"), "expected '}'"},
    {"objects", array("'|O'", "False", "(2,)"), "its dtype is '|O'"},
    {"unsigned_words", array("'<u4'", "False", "(2,)"), "'<u4'"},
    {"long_doubles", array("'<f16'", "False", "(2,)"), "'<f16'"},
    {"complex_doubles", array("'<c16'", "False", "(2,)"), "'<c16'"},
    {"strings", array("'<U3'", "False", "(2,)"), "'<U3'"},
    {"bf16_of_other_programs", array("'<V2'", "False", "(2,)"), "'<V2'"},
    {"an_empty_dtype", array("''", "False", "(2,)"), "its dtype is ''"},
    {"a_dtype_of_control_characters", array("'\x1b[2J'", "False", "()", ""), "'?[2J'"},
    {"a_dtype_without_a_type", array("'<'", "False", "(2,)"), "'<'"},
    {"an_unknown_byte_order", array("'!u1'", "False", "(2,)"), "'!u1'"},
    {"a_structure", array("[('x', '<f4')]", "False", "(2,)"), "structured"},
    {"a_number_for_a_shape", bytes("2"), "'('"},
    {"a_shape_without_its_comma", bytes("(2)"), "','"},
    {"a_shape_with_two_commas", bytes("(2,,)"), "an integer"},
    {"a_list_for_a_shape", bytes("[2]"), "'('"},
    {"an_unclosed_shape", file_with("{'descr': '|u1', 'fortran_order': False, 'shape': (2,", ""),
     "an integer"},
    {"a_fraction", bytes("(2.0,)"), "')'"},
    {"a_size_that_is_not_a_number", bytes("(None,)"), "an integer"},
    {"a_size_with_a_leading_zero", bytes("(02,)"),
     "has \"02,), }?\" at character 51, expected an integer without leading zeros"},
    {"a_size_below_zero_with_a_leading_zero", bytes("(-01,)"), "without leading zeros"},
    {"a_negative_size", bytes("(-2,)"), "negative"},
    {"negative_sizes_whose_product_fits", bytes("(-1, -2)"), "negative"},
    {"a_size_of_more_than_64_bits", bytes("(99999999999999999999,)"), "below 2^63"},
    {"sizes_that_overflow", bytes("(4294967296, 4294967297)"),
     "more elements than an object can have bytes"},
    {"sizes_that_overflow_before_a_zero", bytes("(4294967296, 4294967297, 0)", ""),
     "more elements than an object can have bytes"},
    {"bytes_that_overflow", array("'<f8'", "False", "(2305843009213693952,)"), "bytes"},
    {"missing_elements", bytes("(3,)"), "take 3 bytes, but 2 follow"},
    {"additional_elements", bytes("(1,)"), "take 1 bytes, but 2 follow"},
    {"bytes_after_no_elements", bytes("(0,)"), "take 0 bytes, but 2 follow"},
    {"half_an_element", array("'<f4'", "False", "()"), "take 4 bytes"},
    {"sizes_of_petabytes", array("'<f8'", "False", "(1000000, 1000000000)"),
     sizeof(std::size_t) > 4 ? "but 2 follow" : "Was a size miscomputed?"},
    {"a_bool_of_2", array("'|b1'", "False", "(2,)", "\1\2"), "bool number 1 is the byte 2"},
};

TEST(MalformedNpy, is_rejected_in_memory_and_on_disk_and_the_defect_is_named) {
  const TemporaryFolder folder;
  const auto path = folder / "a.npy";
  for (const Malformed& each : all_malformed) {
    SCOPED_TRACE(each.name);
    EXPECT_TRUE(says(complaint_about(each.file), each.said, "cannot read \"memory\""));
    write_file(path, each.file);
    for (const auto& read : {load_npy, map_npy}) {
      const std::string complaint = complaint_of<FileError>([&] { read(path); });
      EXPECT_TRUE(says(complaint, path.string()));
      EXPECT_EQ(complaint.find("..."), std::string::npos) << complaint;
    }
  }
}

TEST(Npy, more_than_64_dimensions_are_rejected) {
  std::string shape = "(";
  for (int axis = 0; axis < 64; ++axis) {
    shape += "1, ";
  }
  EXPECT_EQ(complaint_about(bytes(shape + ")", "\1")), "nothing was thrown");
  EXPECT_TRUE(says(complaint_about(bytes(shape + "1)", "\1")), "more than 64 dimensions"));
}

TEST(Npy, truncated_files_and_extra_bytes_are_rejected) {
  for (const Dims& sizes : {Dims{}, Dims{3, 2}}) {
    const std::string whole =
        npy_header(DType::i16, sizes) + std::string(sizes.empty() ? 2 : 12, '\1');
    ASSERT_EQ(complaint_about(whole), "nothing was thrown");
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const std::string complaint = complaint_about(whole.substr(0, size));
      EXPECT_TRUE(complaint.starts_with("cannot read \"memory\"")) << size << ": " << complaint;
    }
    EXPECT_TRUE(complaint_about(whole + '\1').starts_with("cannot read \"memory\""));
  }
}

}  // namespace
}  // namespace byre::test
