// SPDX-License-Identifier: BSL-1.0
/// Error types and the facts that their texts state.
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

constexpr std::size_t max_chars = sizeof(Text) - 1;

std::string of(const Text& text) {
  return text.chars.data();
}

TEST(Text, formatting_equals_that_of_printf) {
  EXPECT_EQ(of(format_text("%d of %s", 3, "four")), "3 of four");
  EXPECT_EQ(of(format_text("%s", "")), "");
}

TEST(Text, a_text_that_is_too_long_ends_in_three_dots) {
  const std::string fits(max_chars, 'x');
  EXPECT_EQ(of(format_text("%s", fits.c_str())), fits);
  for (const std::size_t too_many : {1U, 2U, 10000U}) {
    const std::string too_long(max_chars + too_many, 'x');
    EXPECT_EQ(of(format_text("%s", too_long.c_str())), std::string(max_chars - 3, 'x') + "...");
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

TEST(Error, an_error_outlives_the_string_that_its_text_came_from) {
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

/// Expects that `act` throws an `E` whose text contains each of `parts`.
template <class E, class Act>
void expect_text(Act act, std::initializer_list<std::string> parts) {
  const std::string text = complaint_of<E>(act);
  for (const std::string& part : parts) {
    EXPECT_TRUE(says(text, part));
  }
  EXPECT_EQ(text.find("..."), std::string::npos) << "the text was cut: " << text;
  EXPECT_TRUE(text.ends_with('.') || text.ends_with('?')) << text;
}

TEST(Errors, messages_state_the_request_the_limit_and_a_remedy) {
  expect_text<OutOfMemory>([] { throw OutOfMemory(123456, "toy allocator"); },
                           {"123456 bytes", "toy allocator", "Nothing changed", "Release"});
  expect_text<OutOfMemory>([] { throw OutOfMemory::of_heap("load_npy"); },
                           {"load_npy", "heap", "Release"});
  const std::string long_name(10000, 'x');
  EXPECT_TRUE(
      says(complaint_of<OutOfMemory>([&] { throw OutOfMemory::of_heap(long_name.c_str()); }),
           "xxx needs", "Release"));
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
                         {"200 bytes", "100 bytes", "shared", "materialize()"});
}

TEST(FileErrors, messages_name_the_file_and_the_reason) {
  const TemporaryFolder folder;
  write_file(folder / "empty", "");
  const auto expect_of = [](const std::filesystem::path& path,
                            std::initializer_list<std::string> parts) {
    expect_text<FileError>([&] { (void)Buffer::map_file(path); }, parts);
  };
  expect_of(folder / "missing", {(folder / "missing").string(), "no such file", "Check"});
  expect_of(folder.path(), {folder.path().string(), "not a regular file", "Copy its bytes"});
  expect_of(folder / "empty", {(folder / "empty").string(), "empty", "Buffer::allocate(0)"});
}

TEST(FileErrors, an_unreadable_file_is_reported) {
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

CallSite site_of_call(CallSite site = CallSite::current()) {
  return site;
}

TEST(CallSite, a_default_argument_evaluates_to_the_place_of_the_call) {
  const unsigned line = __LINE__ + 1;
  const CallSite site = site_of_call();
  EXPECT_EQ(site.line, line);
  EXPECT_STREQ(site.file, __FILE__);
  EXPECT_EQ(site, site_of_call(site));
  EXPECT_NE(site, site_of_call());
  EXPECT_STREQ(CallSite{}.file, "?");
}

}  // namespace
}  // namespace byre::test
