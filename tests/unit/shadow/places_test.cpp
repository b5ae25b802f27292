// SPDX-License-Identifier: BSL-1.0
/// Places of reports: which are one, and what is said of them.
#include <byre/shadow/place.hpp>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "support/random.hpp"
#include "tracked.hpp"

namespace byre::test {
namespace {

TEST_F(Shadows, names_of_files_are_compared_by_what_they_say_and_kept) {
  const std::string name = "a/name/that/no/other/test/has.cpp";
  std::string buffer = name;
  tracked.file() = buffer.c_str();
  tracked.violate();
  buffer.assign(buffer.size(), 'x');
  EXPECT_EQ(reports.only().access.site.file, name);
  EXPECT_EQ(shadow::summary().triples.at(0).write.site.file, name);
  Tracked again;
  again.file() = name.c_str();
  again.violate();
  EXPECT_EQ(reports.count(), 1U);
  EXPECT_EQ(shadow::summary().triples.at(0).count, 2U);
}

TEST_F(Shadows, shapes_have_their_first_six_sizes) {
  Tracked deep({1, 2, 3, 4, 5, 6, 7});
  deep.file() = "deep.cpp";
  deep.to_sizes() = {};
  deep.violate();
  EXPECT_EQ(to_string(reports.only().reshape.from), "[1, 2, 3, 4, 5, 6, ...]");
  EXPECT_EQ(reports.only().reshape.from.ndim(), 7U);
  EXPECT_EQ(to_string(reports.only().reshape.shape), "[]");
}

TEST_F(Shadows, places_differ_by_their_lines_modes_and_reshapes) {
  const shadow::Place place{.site = {model_file, 700}};
  shadow::Place other_line = place;
  other_line.site.line = 701;
  shadow::Place other_file = place;
  other_file.site.file = "other.cpp";
  shadow::Place other_origin = place;
  other_origin.came_from = shadow::place_id(place);
  shadow::Place warned = place;
  warned.mode = ReshapeMode::warn;
  shadow::Place thrown = place;
  thrown.mode = ReshapeMode::error;
  std::vector<shadow::PlaceId> ids;
  for (const auto& each : {place, other_line, other_file, other_origin, warned, thrown}) {
    ids.push_back(shadow::place_id(each));
    const shadow::Place& kept = shadow::place(ids.back());
    EXPECT_TRUE(shadow::same_line(kept.site, each.site));
    EXPECT_EQ(kept.came_from, each.came_from);
    EXPECT_EQ(kept.mode, each.mode);
    EXPECT_EQ(shadow::place_id(each), ids.back());
    EXPECT_EQ(shadow::is_of_access(ids.back(), each.site, each.came_from), !each.mode);
    EXPECT_FALSE(shadow::is_of_access(ids.back(), {model_file, 702}, each.came_from));
    EXPECT_FALSE(shadow::is_of_access(ids.back(), {"another.cpp", 700}, each.came_from));
    EXPECT_FALSE(shadow::is_of_access(ids.back(), each.site, ids.back()));
  }
  std::ranges::sort(ids);
  EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end());
  EXPECT_GT(ids.front(), 0U);
}

TEST_F(Shadows, places_have_the_sizes_of_their_first_time) {
  const Sizes first{2};
  const Sizes second{3};
  shadow::Place place{.site = {model_file, 710}, .shape = shadow::Shape(first)};
  const shadow::PlaceId id = shadow::place_id(place);
  place.shape = shadow::Shape(second);
  EXPECT_EQ(shadow::place_id(place), id);
  EXPECT_EQ(to_string(shadow::place(id).shape), "[2]");
}

TEST_F(Shadows, the_access_has_the_sizes_of_its_own_time) {
  tracked.file() = "own_time.cpp";
  tracked.violate();
  Tracked other({5});
  other.file() = "own_time.cpp";
  const ShadowHandle flat = other.reshape(20);
  other.write(flat.get(), 11);
  other.read(nullptr, 12);
  ASSERT_EQ(reports.count(), 2U);
  EXPECT_EQ(to_string(reports.all()[1].access.shape), "[5]");
}

TEST_F(Shadows, a_line_is_that_of_the_file_that_has_its_name_now) {
  std::string name = "files/one.cpp";
  tracked.file() = name.c_str();
  const ShadowHandle flat = tracked.reshape(10);
  tracked.write(flat.get(), 11);
  name = "files/two.cpp";
  tracked.file() = name.c_str();
  tracked.write(flat.get(), 11);
  tracked.read(nullptr, 12);
  EXPECT_STREQ(reports.only().write.site.file, "files/two.cpp");
}

TEST_F(Shadows, a_loop_over_sizes_has_one_place) {
  std::set<shadow::PlaceId> places;
  for (std::int64_t size = 1; size <= 100; ++size) {
    tracked.sizes() = {size};
    tracked.to_sizes() = {size, 1};
    const ShadowHandle family = tracked.reshape(10);
    tracked.write(family.get(), 11);
    places.insert(family->reshape());
    places.insert(family->generation.known().place());
  }
  EXPECT_EQ(places.size(), 2U);
}

TEST_F(Shadows, a_loop_that_reshapes_what_it_reshaped_has_few_places) {
  std::set<shadow::PlaceId> places;
  ShadowHandle family = tracked.reshape(10);
  for (int round = 0; round < 100; ++round) {
    family = tracked.reshape(20, family.get());
    places.insert(family->reshape());
    family = tracked.reshape(10, family.get());
    places.insert(family->reshape());
  }
  EXPECT_LE(places.size(), (shadow::most_ways + 2) * 3);
}

/// Of as many reshapes of reshapes as there are digits, at the lines that these say.
ShadowHandle reshaped_at(Tracked& tracked, const std::vector<std::uint32_t>& lines) {
  ShadowHandle family;
  for (const std::uint32_t line : lines) {
    family = tracked.reshape(line, family.get());
  }
  return family;
}

TEST_F(Shadows, recursion_through_lines_makes_places_for_pairs_of_them) {
  tracked.file() = "recursion.cpp";
  constexpr std::uint32_t lines = 5;
  std::mt19937_64 random(seed());
  std::set<shadow::PlaceId> places;
  for (int time = 0; time < 500; ++time) {
    ShadowHandle family;
    for (int depth = 0; depth < 30; ++depth) {
      family = tracked.reshape(1 + static_cast<std::uint32_t>(random() % lines), family.get());
      places.insert(family->reshape());
    }
  }
  EXPECT_LE(places.size(), lines + (shadow::most_ways + 2) * lines * lines);
}

/// In a recursion so deep that its places stand for several.
TEST_F(Shadows, who_comes_out_of_whom_is_known_in_any_recursion) {
  tracked.file() = "deep.cpp";
  std::vector<std::uint32_t> lines;
  for (int time = 0; time < 40; ++time) {
    lines.insert(lines.end(), {20, 21, 22});
  }
  const ShadowHandle parent = reshaped_at(tracked, lines);
  const ShadowHandle child = tracked.reshape(20, parent.get());
  const ShadowHandle other = tracked.reshape(23, parent.get());
  tracked.write(child.get(), 30);
  tracked.read(parent.get(), 31);
  EXPECT_EQ(reports.only().reshape.site.line, 20U);
  EXPECT_EQ(reports.only().advice, Advice::view);
  tracked.read(other.get(), 32);
  EXPECT_EQ(reports.all().back().reshape.site.line, 23U);
  tracked.read(nullptr, 33);
  EXPECT_EQ(reports.all().back().advice, Advice::view);
  EXPECT_TRUE(reports.all().back().reshape.is_known());
}

TEST_F(Shadows, a_recursion_of_error_mode_throws_whatever_is_known_of_it) {
  tracked.file() = "thrown.cpp";
  ShadowHandle family = tracked.reshape(20, nullptr, ReshapeMode::error);
  for (int time = 0; time < 40; ++time) {
    family = tracked.reshape(21, family.get());
    family = tracked.reshape(22, family.get());
  }
  tracked.write(family.get(), 30);
  EXPECT_THROW(tracked.read(nullptr, 31), ReshapeViolation);
}

}  // namespace
}  // namespace byre::test
