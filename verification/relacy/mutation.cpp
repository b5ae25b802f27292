// SPDX-License-Identifier: BSL-1.0
#include "mutation.hpp"

#include <byre/cow/detail/atomic_slot.hpp>
#include <byre/cow/detail/share_word_sites.hpp>
#include <byre/memory/detail/budget_count.hpp>
#include <byre/pages/detail/exported.hpp>
#include <byre/shadow/detail/generation_sites.hpp>
#include <byre/shadow/detail/write_records.hpp>
#include <byre/storage/detail/atomic_cell.hpp>
#include <byre/storage/detail/attachment.hpp>
#include <byre/storage/detail/pin_count.hpp>
#include <byre/storage/detail/version.hpp>
#include <byre/sync/detail/basic_lock_table.hpp>
#include <byre/sync/detail/basic_parking_lot.hpp>
#include <byre/sync/detail/published.hpp>
#include <byre/sync/detail/ref_count.hpp>

#include <algorithm>
#include <array>
#include <functional>

namespace byre::verification {
namespace {

using Table = std::span<const sync::Site>;
using enum sync::Operation;

constexpr std::array<Table, 14> tables{
    Table(cow::share_word_sites.rows),
    Table(cow::atomic_slot_sites.rows),
    Table(byre::detail::atomic_cell_sites.rows),
    Table(byre::detail::budget_sites.rows),
    Table(byre::detail::exports_sites.rows),
    Table(byre::detail::ref_count_sites.rows),
    Table(byre::detail::pin_count_sites.rows),
    Table(byre::detail::attachment_sites.rows),
    Table(byre::detail::version_sites.rows),
    Table(shadow::detail::generation_sites.rows),
    Table(shadow::detail::write_records_sites.rows),
    Table(sync::detail::published_sites.rows),
    Table(sync::detail::parking_lot_sites.rows),
    Table(sync::detail::lock_table_sites.rows),
};

constexpr std::array<std::span<const sync::Constant>, 3> constants{
    std::span<const sync::Constant>(cow::share_word_constants.rows),
    std::span<const sync::Constant>(byre::detail::ref_count_constants.rows),
    std::span<const sync::Constant>(shadow::detail::generation_constants.rows),
};

constexpr std::size_t site_count = [] {
  std::size_t count = 0;
  for (const Table& table : tables) {
    count += table.size();
  }
  return count;
}();

constinit std::array<bool, site_count> reached{};
constinit bool is_wrong_constant_read = false;

/// The index of a site among the rows of all tables, or site_count if no table has the site.
std::size_t index_of(const sync::Site& site) noexcept {
  const std::less<const sync::Site*> before;
  std::size_t first = 0;
  for (const Table& table : tables) {
    if (!before(&site, table.data()) && before(&site, table.data() + table.size())) {
      return first + static_cast<std::size_t>(&site - table.data());
    }
    first += table.size();
  }
  return site_count;
}

/// The orders that are one step weaker. acq_rel has two.
std::vector<std::memory_order> weaker(const sync::Site& site) {
  using std::memory_order;
  switch (site.order) {
    case memory_order::acq_rel:
      return {memory_order::acquire, memory_order::release};
    case memory_order::acquire:
    case memory_order::consume:
    case memory_order::release:
      return {memory_order::relaxed};
    case memory_order::seq_cst:
      return {site.operation == load    ? memory_order::acquire
              : site.operation == store ? memory_order::release
                                        : memory_order::acq_rel};
    case memory_order::relaxed:
      break;
  }
  return {};
}

std::vector<Change> changes(sync::Operation operation) {
  using enum Change;
  switch (operation) {
    case load:
      return {};
    case store:
      return {left_out, plus_one, minus_one};
    case exchange:
    case fetch_add:
    case fetch_sub:
    case compare_exchange:
      return {plain, left_out, plus_one, minus_one};
    case lock:
    case unlock:
    case park:
    case unpark:
      return {left_out};
  }
  return {};
}

std::vector<Change> changes(const sync::Constant& constant) {
  using enum Change;
  // For the value 1, minus_one is already zero.
  return constant.value > 1 ? std::vector{plus_one, minus_one, zero}
                            : std::vector{plus_one, minus_one};
}

std::string_view change_of(const Mutation& mutation) {
  constexpr std::string_view changes[] = {"none",     "",          "plain", "left-out",
                                          "plus-one", "minus-one", "zero"};
  return mutation.change == Change::weaker ? name_of(mutation.order)
                                           : changes[static_cast<std::size_t>(mutation.change)];
}

}  // namespace

std::string Mutation::name() const {
  if (is_none()) {
    return "none";
  }
  return std::string(constant != nullptr ? constant->name : site->name) + ':' +
         std::string(change_of(*this));
}

std::span<const std::span<const sync::Site>> site_tables() noexcept {
  return tables;
}

std::span<const std::span<const sync::Constant>> constant_tables() noexcept {
  return constants;
}

std::vector<Mutation> all_mutations() {
  std::vector<Mutation> mutations;
  for (const Table& table : tables) {
    for (const sync::Site& site : table) {
      if (site.operation <= compare_exchange) {
        for (const std::memory_order order : weaker(site)) {
          mutations.push_back({&site, Change::weaker, order});
        }
      }
      for (const Change change : changes(site.operation)) {
        mutations.push_back({&site, change});
      }
    }
  }
  for (const auto& table : constants) {
    for (const sync::Constant& constant : table) {
      for (const Change change : changes(constant)) {
        mutations.push_back({.change = change, .constant = &constant});
      }
    }
  }
  return mutations;
}

void mark_reached(const sync::Site& site) noexcept {
  if (const std::size_t index = index_of(site); index < site_count) {
    reached[index] = true;
  }
}

std::uint64_t read_wrong_constant() noexcept {
  is_wrong_constant_read = true;
  const std::uint64_t value = active_mutation.constant->value;
  switch (active_mutation.change) {
    case Change::plus_one:
      return value + 1;
    case Change::minus_one:
      return value - 1;
    default:
      return 0;
  }
}

void forget_reached() noexcept {
  reached = {};
  is_wrong_constant_read = false;
}

bool is_reached(const sync::Site& site) noexcept {
  const std::size_t index = index_of(site);
  return index < site_count && reached[index];
}

bool is_reached(const Mutation& mutation) noexcept {
  return mutation.is_none() ||
         (mutation.site != nullptr ? is_reached(*mutation.site) : is_wrong_constant_read);
}

}  // namespace byre::verification
