// SPDX-License-Identifier: BSL-1.0
/// The tables of sites and of constants are complete, in the order of their enumerations, and
/// enforced.
#include <byre/cow/detail/share_word_sites.hpp>
#include <byre/shadow/detail/generation_sites.hpp>
#include <byre/shadow/detail/write_records.hpp>
#include <byre/storage/detail/attachment.hpp>
#include <byre/storage/detail/pin_count.hpp>
#include <byre/storage/detail/version.hpp>
#include <byre/sync/detail/basic_lock_table.hpp>
#include <byre/sync/detail/basic_parking_lot.hpp>
#include <byre/sync/detail/published.hpp>
#include <byre/sync/detail/ref_count.hpp>
#include <byre/sync/detail/site.hpp>

#include <gtest/gtest.h>

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

/// The name of an enumerator, or "" if the enumeration lacks this value.
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

/// Expects a row for each enumerator, in order, and no other row.
template <template <class, std::size_t> class AnyTable, class Id, std::size_t Size>
void expect_complete(const AnyTable<Id, Size>& table) {
  EXPECT_EQ(names_in_table(table), names_of<Id>(std::make_index_sequence<Size>()));
  EXPECT_EQ(name_of<static_cast<Id>(Size)>(), "") << "an enumerator lacks a row";
}

/// Calls `visit` with each table of sites.
template <class Visit>
void for_each_table(Visit visit) {
  visit(cow::share_word_sites);
  visit(detail::ref_count_sites);
  visit(detail::pin_count_sites);
  visit(detail::attachment_sites);
  visit(detail::version_sites);
  visit(shadow::detail::generation_sites);
  visit(shadow::detail::write_records_sites);
  visit(sync::detail::published_sites);
  visit(sync::detail::parking_lot_sites);
  visit(sync::detail::lock_table_sites);
}

TEST(SiteTables, have_one_row_per_enumerator_in_order) {
  for_each_table([](const auto& table) { expect_complete(table); });
}

TEST(ConstantTables, have_one_row_per_enumerator_in_order) {
  expect_complete(cow::share_word_constants);
  expect_complete(detail::ref_count_constants);
  expect_complete(shadow::detail::generation_constants);
}

TEST(SiteTables, name_every_site_once) {
  std::set<std::string_view> names;
  for_each_table([&](const auto& table) {
    const std::string_view type = table.rows[0].name.substr(0, table.rows[0].name.find('.'));
    EXPECT_FALSE(type.empty());
    for (const Site& site : table.rows) {
      EXPECT_TRUE(names.insert(site.name).second) << site.name;
      EXPECT_EQ(site.name.substr(0, site.name.find('.')), type) << site.name;
    }
  });
}

/// Whether core may use this order. No atomic in core needs sequential consistency; locks and the
/// parking lot choose their memory order themselves.
bool is_allowed_order(const Site& site) {
  switch (site.operation) {
    case Operation::lock:
    case Operation::unlock:
    case Operation::park:
    case Operation::unpark:
      return site.order == memory_order::seq_cst;
    case Operation::load:
      return site.order == memory_order::relaxed || site.order == memory_order::acquire;
    case Operation::store:
      return site.order == memory_order::relaxed || site.order == memory_order::release;
    default:
      return site.order != memory_order::seq_cst && site.order != memory_order::consume;
  }
}

TEST(SiteTables, rows_have_memory_orders_that_the_operation_allows) {
  for_each_table([](const auto& table) {
    for (const Site& site : table.rows) {
      EXPECT_TRUE(is_allowed_order(site)) << site.name;
    }
  });
}

enum class Door : std::uint8_t { open, shut, bolt };

constexpr sync::SiteTable<Door, 3> doors{{{
    {"door.open", Operation::load, memory_order::acquire},
    {"door.shut", Operation::store, memory_order::release},
    {"door.bolt", Operation::lock, memory_order::seq_cst},
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
static_assert(!CompilesWithoutOrder<Door::open>, "an atomic operation must spell its order");

TEST(SiteTable, at_returns_the_row_and_the_memory_order_of_the_call) {
  constexpr sync::Step step = doors.at(Door::shut, memory_order::release);
  EXPECT_EQ(step.site, &doors.rows[1]);
  EXPECT_EQ(step.order, memory_order::release);
  EXPECT_EQ(doors.at(Door::bolt).order, memory_order::seq_cst);
}

}  // namespace
}  // namespace byre::test
