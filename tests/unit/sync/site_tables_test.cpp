// SPDX-License-Identifier: BSL-1.0
/// The tables of sites and of constants: complete, in the order of their enumerations, and binding.
#include <byre/cow/detail/share_word_sites.hpp>
#include <byre/observe/detail/cells.hpp>
#include <byre/shadow/detail/generation_sites.hpp>
#include <byre/shadow/detail/write_records.hpp>
#include <byre/storage/detail/attachment.hpp>
#include <byre/storage/detail/pin_count.hpp>
#include <byre/sync/detail/basic_lock_table.hpp>
#include <byre/sync/detail/basic_parking_lot.hpp>
#include <byre/sync/detail/published.hpp>
#include <byre/sync/detail/ref_count.hpp>
#include <byre/sync/detail/relaxed_counter.hpp>
#include <byre/sync/detail/site.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace byre::test {
namespace {

using std::memory_order;
using sync::Operation;
using sync::Site;

/// The name of an enumerator, or "" if the enumeration has none of this value.
template <auto Enumerator>
constexpr std::string_view name_of() {
  const std::string_view function = __PRETTY_FUNCTION__;  // [... Enumerator = space::name ...]
  constexpr std::string_view before = "Enumerator = ";
  const std::string_view rest = function.substr(function.find(before) + before.size());
  if (rest.front() == '(') {  // (space::Enumeration)18
    return "";
  }
  const std::string_view qualified = rest.substr(0, rest.find_first_of(";]"));
  return qualified.substr(qualified.rfind(':') + 1);
}

template <class Id, std::size_t... Indices>
std::vector<std::string> names_of(std::index_sequence<Indices...>) {
  return {std::string(name_of<static_cast<Id>(Indices)>())...};
}

template <template <class, std::size_t> class AnyTable, class Id, std::size_t Size>
std::vector<std::string> names_in_table(const AnyTable<Id, Size>& table) {
  std::vector<std::string> names;
  for (const auto& row : table.rows) {
    names.emplace_back(row.name.substr(row.name.find('.') + 1));
  }
  return names;
}

/// The row of every enumerator is at its place, and none is without one.
template <template <class, std::size_t> class AnyTable, class Id, std::size_t Size>
void expect_complete(const AnyTable<Id, Size>& table) {
  EXPECT_EQ(names_in_table(table), names_of<Id>(std::make_index_sequence<Size>()));
  EXPECT_EQ(name_of<static_cast<Id>(Size)>(), "") << "has no row";
}

TEST(SiteTables, have_one_row_for_every_enumerator_in_its_order) {
  expect_complete(cow::share_word_sites);
  expect_complete(detail::ref_count_sites);
  expect_complete(detail::pin_count_sites);
  expect_complete(stats::detail::shard_sites);
  expect_complete(stats::detail::relaxed_flag_sites);
  expect_complete(detail::attachment_sites);
  expect_complete(shadow::detail::generation_sites);
  expect_complete(sync::detail::relaxed_counter_sites);
  expect_complete(shadow::detail::write_records_sites);
  expect_complete(sync::detail::published_sites);
  expect_complete(sync::detail::parking_lot_sites);
  expect_complete(sync::detail::lock_table_sites);
}

TEST(ConstantTables, have_one_row_for_every_enumerator_in_its_order) {
  expect_complete(cow::share_word_constants);
  expect_complete(detail::ref_count_constants);
  expect_complete(shadow::detail::generation_constants);
}

TEST(ConstantTables, say_of_every_constant_what_it_decides) {
  const auto expect_said = [](const auto& table) {
    for (const sync::Constant& constant : table.rows) {
      EXPECT_FALSE(constant.decides.empty()) << constant.name;
    }
  };
  expect_said(cow::share_word_constants);
  expect_said(detail::ref_count_constants);
  expect_said(shadow::detail::generation_constants);
}

using Table = std::vector<Site>;

std::vector<Table> all_tables() {
  const auto rows = [](const auto& table) { return Table(table.rows.begin(), table.rows.end()); };
  return {rows(cow::share_word_sites),
          rows(detail::ref_count_sites),
          rows(stats::detail::shard_sites),
          rows(stats::detail::relaxed_flag_sites),
          rows(detail::attachment_sites),
          rows(shadow::detail::generation_sites),
          rows(sync::detail::relaxed_counter_sites),
          rows(shadow::detail::write_records_sites),
          rows(sync::detail::published_sites),
          rows(sync::detail::parking_lot_sites),
          rows(sync::detail::lock_table_sites)};
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool brings_its_own_order(const Site& site) {
  return site.operation == Operation::lock || site.operation == Operation::unlock ||
         site.operation == Operation::park || site.operation == Operation::unpark;
}

TEST(SiteTables, name_every_site_once_in_the_program) {
  std::set<std::string_view> names;
  for (const Table& table : all_tables()) {
    const std::string_view type = table[0].name.substr(0, table[0].name.find('.'));
    for (const Site& site : table) {
      EXPECT_TRUE(names.insert(site.name).second) << site.name;
      EXPECT_FALSE(type.empty());
      EXPECT_EQ(site.name.substr(0, site.name.find('.')), type) << site.name;
    }
  }
}

TEST(SiteTables, say_of_every_site_what_it_pairs_with_and_what_it_breaks) {
  for (const Table& table : all_tables()) {
    for (const Site& site : table) {
      EXPECT_FALSE(site.pairs_with.empty()) << site.name;
      EXPECT_FALSE(site.breaks.empty()) << site.name;
    }
  }
}

TEST(SiteTables, give_operations_the_orders_they_can_have) {
  for (const Table& table : all_tables()) {
    for (const Site& site : table) {
      if (brings_its_own_order(site)) {
        EXPECT_EQ(site.order, memory_order::seq_cst) << site.name;
        continue;
      }
      EXPECT_NE(site.order, memory_order::consume) << site.name;
      EXPECT_NE(site.order, memory_order::seq_cst) << site.name << ": nothing here needs it";
      if (site.operation == Operation::load) {
        EXPECT_NE(site.order, memory_order::release) << site.name;
        EXPECT_NE(site.order, memory_order::acq_rel) << site.name;
      }
      if (site.operation == Operation::store) {
        EXPECT_NE(site.order, memory_order::acquire) << site.name;
        EXPECT_NE(site.order, memory_order::acq_rel) << site.name;
      }
    }
  }
}

TEST(SiteTables, name_a_partner_and_a_scenario_for_every_order_above_relaxed) {
  for (const Table& table : all_tables()) {
    for (const Site& site : table) {
      if (site.order == memory_order::relaxed) {
        continue;
      }
      const bool partner = std::any_of(table.begin(), table.end(), [&](const Site& other) {
        return contains(site.pairs_with, other.name.substr(other.name.find('.') + 1));
      });
      EXPECT_TRUE(partner || site.pairs_with.starts_with("itself")) << site.name;
      EXPECT_FALSE(site.pairs_with.starts_with("nothing")) << site.name;
      EXPECT_FALSE(contains(site.breaks, "weakest")) << site.name;
      EXPECT_TRUE(contains(site.breaks, ":") || contains(site.breaks, "left out")) << site.name;
    }
  }
}

TEST(SiteTables, say_of_every_relaxed_site_why_it_stands_there) {
  for (const Table& table : all_tables()) {
    for (const Site& site : table) {
      if (site.order == memory_order::relaxed) {
        EXPECT_TRUE(contains(site.breaks, "relaxed is the weakest order") ||
                    site.breaks.starts_with("left out"))
            << site.name;
      }
    }
  }
}

enum class Door : std::uint8_t { open, shut, bolt };

constexpr sync::SiteTable<Door, 3> doors{{{
    {"door.open", Operation::load, memory_order::acquire, "shut", "drafts"},
    {"door.shut", Operation::store, memory_order::release, "open", "drafts"},
    {"door.bolt", Operation::lock, memory_order::seq_cst, "itself", "burglars"},
}}};

template <Door Site, memory_order Order>
concept CompilesWithOrder = requires {
  typename std::bool_constant<(doors.at(Site, Order), true)>;
};

template <Door Site>
concept CompilesWithoutOrder = requires {
  typename std::bool_constant<(doors.at(Site), true)>;
};

static_assert(CompilesWithOrder<Door::open, memory_order::acquire>);
static_assert(!CompilesWithOrder<Door::open, memory_order::relaxed>);
static_assert(!CompilesWithOrder<Door::open, memory_order::seq_cst>);
static_assert(CompilesWithOrder<Door::shut, memory_order::release>);
static_assert(!CompilesWithOrder<Door::shut, memory_order::acquire>);
static_assert(!CompilesWithOrder<static_cast<Door>(3), memory_order::acquire>, "no such row");
static_assert(CompilesWithoutOrder<Door::bolt>);
static_assert(!CompilesWithoutOrder<Door::open>, "an atomic spells its order");

TEST(SiteTable, answers_with_its_row_and_the_order_spelled_at_the_call) {
  constexpr sync::Step step = doors.at(Door::shut, memory_order::release);
  EXPECT_EQ(step.site, &doors.rows[1]);
  EXPECT_EQ(step.order, memory_order::release);
  EXPECT_EQ(doors.at(Door::bolt).order, memory_order::seq_cst);
}

}  // namespace
}  // namespace byre::test
