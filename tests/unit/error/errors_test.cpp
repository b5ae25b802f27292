// SPDX-License-Identifier: BSL-1.0
/// Errors: what they are, and what their texts say of what was asked and found.
#include <byre/error/call_site.hpp>
#include <byre/error/error.hpp>
#include <byre/memory/host_allocators.hpp>
#include <byre/observe/expect.hpp>
#include <byre/storage/storage.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <type_traits>

#include "support/complaint.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace {

constexpr std::size_t most_chars = sizeof(Text) - 1;

std::string of(const Text& text) {
  return text.chars.data();
}

TEST(Text, is_what_printf_would_write) {
  EXPECT_EQ(of(format_text("%d of %s", 3, "four")), "3 of four");
  EXPECT_EQ(of(format_text("%s", "")), "");
}

TEST(Text, ends_in_three_dots_if_it_does_not_fit) {
  const std::string fits(most_chars, 'x');
  EXPECT_EQ(of(format_text("%s", fits.c_str())), fits);
  for (const std::size_t too_many : {1U, 2U, 10000U}) {
    const std::string too_long(most_chars + too_many, 'x');
    EXPECT_EQ(of(format_text("%s", too_long.c_str())), std::string(most_chars - 3, 'x') + "...");
  }
}

template <class E>
constexpr bool is_an_error = std::is_base_of_v<Error, E>&& std::is_base_of_v<std::exception, E>&&
    std::is_nothrow_copy_constructible_v<E>;
static_assert(is_an_error<Error>);
static_assert(is_an_error<OutOfMemory>);
static_assert(is_an_error<InvalidArgument>);
static_assert(is_an_error<NotUnique>);
static_assert(is_an_error<FileError>);
static_assert(is_an_error<TooManyCopies>);

TEST(Error, keeps_its_text_wherever_it_is_copied) {
  std::exception_ptr kept;
  {
    const std::string text = "a text that is gone";
    kept = std::make_exception_ptr(NotUnique(format_text("%s", text.c_str())));
  }
  try {
    std::rethrow_exception(kept);
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "a text that is gone");
  }
}

/// The text of the `E` that `act` throws. It has to say each of `parts`.
template <class E, class Act>
void expect_text(Act act, std::initializer_list<std::string> parts) {
  const std::string text = complaint_of<E>(act);
  for (const std::string& part : parts) {
    EXPECT_TRUE(says(text, part));
  }
  EXPECT_EQ(text.find("..."), std::string::npos) << "it was cut: " << text;
  EXPECT_TRUE(text.ends_with('.') || text.ends_with('?')) << text;
}

TEST(Errors, say_what_was_asked_what_was_found_and_the_ways_out) {
  expect_text<OutOfMemory>([] { throw OutOfMemory(123456, "toy allocator"); },
                           {"123456 bytes", "toy allocator", "Nothing changed", "Release"});
  expect_text<OutOfMemory>([] { throw OutOfMemory::of_heap("load_npy"); },
                           {"load_npy", "heap", "Release"});
  const std::string long_name(10000, 'x');
  EXPECT_TRUE(
      says(complaint_of<OutOfMemory>([&] { throw OutOfMemory::of_heap(long_name.c_str()); }),
           "xxx asked", "Release"));
  expect_text<InvalidArgument>([] { (void)Buffer::allocate(max_nbytes + 1); },
                               {std::to_string(max_nbytes + 1) + " bytes",
                                std::to_string(max_nbytes) + " bytes", "negative", "overflow"});
  EXPECT_THROW((void)Buffer::allocate(static_cast<std::size_t>(-1)), InvalidArgument);
  expect_text<InvalidArgument>([] { (void)Buffer::adopt(nullptr, 77, [](void*) {}); },
                               {"Buffer::adopt", "null", "77 bytes", "Pass"});
  expect_text<InvalidArgument>([] { (void)Buffer::borrow(static_cast<void*>(nullptr), 78); },
                               {"Buffer::borrow", "null", "78 bytes", "Pass"});
  expect_text<InvalidArgument>([] { Storage().resize(55); },
                               {"55 bytes", "empty", "Storage::allocate(55)"});
  Buffer buffer = Buffer::allocate(100, aligned_allocator());
  const Buffer clone = buffer;
  expect_text<NotUnique>([&] { buffer.resize(200); },
                         {"200 bytes", "100 bytes", "shares", "materialize()"});
}

TEST(FileErrors, name_the_file_and_what_it_is) {
  const TemporaryFolder folder;
  write_file(folder / "empty", "");
  const auto expect_of = [](const std::filesystem::path& path,
                            std::initializer_list<std::string> parts) {
    expect_text<FileError>([&] { (void)Buffer::map_file(path); }, parts);
  };
  const std::string here = folder.path().string();
  expect_of(folder / "missing", {here + "/missing", "no such file", "Check"});
  expect_of(folder.path(), {here, "not a regular file", "Copy its bytes"});
  expect_of(folder / "empty", {here + "/empty", "empty", "Buffer::allocate(0)"});
}

TEST(FileErrors, say_that_a_file_may_not_be_read) {
  const TemporaryFolder folder;
  const auto path = folder / "unreadable";
  write_file(path, "secret");
  std::filesystem::permissions(path, std::filesystem::perms::none);
  if (std::ifstream(path).is_open()) {
    GTEST_SKIP() << "this user may read everything";
  }
  expect_text<FileError>([&] { (void)Buffer::map_file(path); },
                         {path.string(), std::strerror(EACCES), "permissions"});
}

struct Asked {
  CallSite site;
};
Asked asks(CallSite site = CallSite::current()) {
  return {site};
}

TEST(CallSite, is_the_place_of_the_call_in_whose_default_arguments_it_stands) {
  const unsigned line = __LINE__ + 1;
  const Asked asked = asks();
  EXPECT_EQ(asked.site.line, line);
  EXPECT_STREQ(asked.site.file, __FILE__);
  EXPECT_EQ(asked.site, asks(asked.site).site);
  EXPECT_NE(asked.site, asks().site);
  EXPECT_STREQ(CallSite{}.file, "?");
}

}  // namespace
}  // namespace byre::test
