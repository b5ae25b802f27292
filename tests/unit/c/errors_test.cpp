// SPDX-License-Identifier: BSL-1.0
// Statuses, error texts, warnings and versions of the C interface.
#include <byre/byre.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <thread>

#include "values.hpp"

namespace byre::test {
namespace {

TEST(CErrors, text_of_a_failure_belongs_to_its_thread) {
  CBuffer buffer;
  EXPECT_TRUE(fails(byre_buffer_allocate(SIZE_MAX, nullptr, buffer), BYRE_INVALID_ARGUMENT));
  const std::string text = byre_last_error();
  EXPECT_TRUE(ok(byre_buffer_allocate(1, nullptr, buffer)));
  EXPECT_EQ(byre_last_error(), text) << "a success changed the text";
  std::thread([] {
    EXPECT_STREQ(byre_last_error(), "");
    CBuffer other;
    EXPECT_TRUE(fails(byre_buffer_map_file("/no/such", nullptr, other), BYRE_FILE_ERROR));
  }).join();
  EXPECT_EQ(byre_last_error(), text) << "another thread changed the text";
}

TEST(CErrors, long_text_is_cut_and_ends_in_dots) {
  CBuffer buffer;
  const std::string name = "/" + std::string(900, 'x');
  EXPECT_TRUE(fails(byre_buffer_map_file(name.c_str(), nullptr, buffer), BYRE_FILE_ERROR, "xxx"));
  const std::string text = byre_last_error();
  EXPECT_EQ(text.size(), 511U);
  EXPECT_EQ(text.substr(508), "...");
}

TEST(CErrors, every_status_has_a_name) {
  const char* const names[] = {
      "ok", "out of memory", "invalid argument", "not unique", "file error", "failed", "stop"};
  for (byre_status status = BYRE_OK; status <= BYRE_STOP; ++status) {
    EXPECT_STREQ(byre_status_name(status), names[status]);
  }
  EXPECT_STREQ(byre_status_name(BYRE_USER_STATUS), "status of a callback");
  for (const byre_status status : {-1, BYRE_STOP + 1, BYRE_USER_STATUS - 1}) {
    EXPECT_STREQ(byre_status_name(status), "unknown status");
  }
}

template <class Thrown>
byre_status throwing_visitor(void*, const void*, std::size_t) {
  throw Thrown("thrown by a visitor");
}
struct Unknown {
  explicit Unknown(const char*) {}
};
struct NoMemory : std::bad_alloc {
  explicit NoMemory(const char*) {}
};

TEST(CErrors, exception_of_a_callback_becomes_a_status) {
  CTiles tiles;
  ASSERT_TRUE(ok(byre_tiles_allocate(1, 1, nullptr, tiles)));
  const auto visit = [&](byre_part_visitor visitor) {
    return byre_tiles_for_each_part(tiles, 0, 1, visitor, nullptr);
  };
  EXPECT_TRUE(fails(visit(&throwing_visitor<std::runtime_error>), BYRE_FAILED, "by a visitor"));
  EXPECT_TRUE(fails(visit(&throwing_visitor<Unknown>), BYRE_FAILED, "unknown type"));
  EXPECT_TRUE(fails(visit(&throwing_visitor<NoMemory>), BYRE_OUT_OF_MEMORY, "out of memory"));
}

TEST(CErrors, warnings_reach_the_installed_handler) {
  static std::string last;
  const byre_warning_handler former =
      byre_set_warning_handler([](const char* text) { last = text; });
  warn("a %s", "cow");
  EXPECT_EQ(last, "a cow");
  EXPECT_NE(byre_set_warning_handler(former), nullptr);
}

TEST(CErrors, versions_are_those_of_the_cpp_library) {
  EXPECT_STREQ(byre_version(), BYRE_VERSION_STRING);
  EXPECT_EQ(byre_abi(), std::uint32_t{BYRE_C_ABI});
  EXPECT_EQ(BYRE_C_ABI, BYRE_VERSION_MAJOR);
}

TEST(CErrors, enumerators_have_the_values_of_cpp) {
  EXPECT_EQ(BYRE_WAIT_NEVER, static_cast<int>(Wait::never));
  EXPECT_EQ(BYRE_WRITERS_ELSEWHERE, static_cast<int>(Writers::elsewhere));
  EXPECT_EQ(BYRE_STOLE, static_cast<int>(Materialized::stole));
  EXPECT_EQ(BYRE_OVERLAID, static_cast<int>(Materialized::overlaid));
  EXPECT_EQ(BYRE_ORIGIN_BORROWED, static_cast<int>(Origin::borrowed));
  EXPECT_EQ(BYRE_ORIGIN_OVERLAY, static_cast<int>(Origin::overlay));
  EXPECT_EQ(BYRE_COPIES_END_IN_ORDER, static_cast<int>(CopiesEnd::in_order));
  EXPECT_EQ(BYRE_CAUSE_READ_ONLY, static_cast<int>(stats::CopyCause::read_only));
  EXPECT_EQ(BYRE_CAUSE_RESIZED, static_cast<int>(stats::CopyCause::resized));
  EXPECT_EQ(BYRE_CAUSE_EXPORTED, static_cast<int>(stats::CopyCause::exported));
  EXPECT_EQ(BYRE_DEFAULT_TILE_NBYTES, std::size_t{64} << 10);
}

TEST(CErrors, enumerators_have_the_numbers_of_the_binary_interface) {
  const auto expect_from_zero = [](std::initializer_list<int> numbers) {
    int expected = 0;
    for (const int number : numbers) {
      EXPECT_EQ(number, expected++);
    }
  };
  expect_from_zero({BYRE_OK, BYRE_OUT_OF_MEMORY, BYRE_INVALID_ARGUMENT, BYRE_NOT_UNIQUE,
                    BYRE_FILE_ERROR, BYRE_FAILED, BYRE_STOP});
  expect_from_zero({BYRE_ALREADY_UNIQUE, BYRE_STOLE, BYRE_COPIED, BYRE_OVERLAID});
  expect_from_zero({BYRE_ORIGIN_ALLOCATED, BYRE_ORIGIN_ADOPTED, BYRE_ORIGIN_BORROWED,
                    BYRE_ORIGIN_ALIASED, BYRE_ORIGIN_MAPPED, BYRE_ORIGIN_PAGED,
                    BYRE_ORIGIN_OVERLAY});
  EXPECT_EQ(BYRE_ORIGIN_PAGED, static_cast<int>(Origin::paged));
  expect_from_zero({BYRE_COPIES_END_ON_RETURN, BYRE_COPIES_END_LATER, BYRE_COPIES_END_IN_ORDER});
  expect_from_zero({BYRE_CAUSE_SHARED, BYRE_CAUSE_PENDING, BYRE_CAUSE_READ_ONLY,
                    BYRE_CAUSE_BORROWED, BYRE_CAUSE_PINNED, BYRE_CAUSE_WRITABLE, BYRE_CAUSE_RESIZED,
                    BYRE_CAUSE_EXPORTED});
  EXPECT_EQ(BYRE_CAUSE_PENDING, static_cast<int>(stats::CopyCause::pending));
  EXPECT_EQ(BYRE_CAUSE_PINNED, static_cast<int>(stats::CopyCause::pinned));
  EXPECT_EQ(BYRE_CAUSE_WRITABLE, static_cast<int>(stats::CopyCause::writable));
  EXPECT_EQ(BYRE_FOREIGN_READ_ONLY, 1);
  EXPECT_EQ(BYRE_FOREIGN_OTHERS_WRITE, 2);
  EXPECT_EQ(BYRE_FOREIGN_BORROWED, 4);
  EXPECT_EQ(BYRE_USER_STATUS, 1000);
}

TEST(CErrors, tables_have_the_layout_of_the_binary_interface) {
  using Table = byre_allocator_functions;
  constexpr std::size_t pointer = sizeof(void*);
  EXPECT_EQ(offsetof(Table, user), pointer);
  EXPECT_EQ(offsetof(Table, name), 2 * pointer);
  EXPECT_EQ(offsetof(Table, device_kind), 3 * pointer);
  EXPECT_EQ(offsetof(Table, device_index), 3 * pointer + 2);
  EXPECT_EQ(offsetof(Table, copies_end), 3 * pointer + 4);
  EXPECT_EQ(offsetof(Table, allocate), 3 * pointer + 8);
  EXPECT_EQ(offsetof(Table, deallocate), 4 * pointer + 8);
  EXPECT_EQ(offsetof(Table, copy), 5 * pointer + 8);
  EXPECT_EQ(offsetof(Table, allocate_copy), 6 * pointer + 8);
  EXPECT_EQ(offsetof(Table, submit_copy), 7 * pointer + 8);
}

TEST(CErrors, text_that_just_fits_is_not_cut) {
  CBuffer buffer;
  const auto text_for = [&](std::size_t length) {
    const std::string name = "/" + std::string(length, 'x');
    EXPECT_EQ(byre_buffer_map_file(name.c_str(), nullptr, buffer), BYRE_FILE_ERROR);
    return std::string(byre_last_error());
  };
  const std::size_t others = text_for(300).size() - 300;
  const std::string whole = text_for(511 - others);
  EXPECT_EQ(whole.size(), 511U);
  EXPECT_FALSE(whole.ends_with("...")) << whole;
  EXPECT_TRUE(text_for(512 - others).ends_with("..."));
}

}  // namespace
}  // namespace byre::test
