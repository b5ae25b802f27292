// SPDX-License-Identifier: BSL-1.0
#include "mutation.hpp"

#include <byre/cow/share_lock_sites.hpp>
#include <byre/cow/share_word_sites.hpp>
#include <byre/stats/shard.hpp>
#include <byre/stats/sink_flag.hpp>
#include <byre/storage/ref_count.hpp>

#include <array>
#include <functional>

namespace byre::verification {
namespace {

using Table = std::span<const sync::Site>;
using enum sync::Operation;

constexpr std::array<Table, 5> tables{
    Table(cow::share_word_sites.rows),          Table(cow::share_lock_sites.rows),
    Table(byre::detail::ref_count_sites.rows),  Table(stats::detail::shard_sites.rows),
    Table(stats::detail::sink_flag_sites.rows),
};

constexpr std::size_t site_count = [] {
  std::size_t count = 0;
  for (const Table& table : tables) {
    count += table.size();
  }
  return count;
}();

constinit std::array<bool, site_count> reached{};

/// The place of a site among all, or site_count for one that is in none of the tables.
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

/// The orders one step weaker; acq_rel has two.
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

bool has_order(sync::Operation operation) {
  return operation <= compare_exchange;
}

std::string_view name_of(std::memory_order order) {
  switch (order) {
    case std::memory_order::relaxed:
      return "relaxed";
    case std::memory_order::consume:
      return "consume";
    case std::memory_order::acquire:
      return "acquire";
    case std::memory_order::release:
      return "release";
    case std::memory_order::acq_rel:
      return "acq_rel";
    case std::memory_order::seq_cst:
      return "seq_cst";
  }
  return "?";
}

std::string_view name_of(const Mutation& mutation) {
  switch (mutation.change) {
    case Change::none:
      return "none";
    case Change::weaker:
      return name_of(mutation.order);
    case Change::plain:
      return "plain";
    case Change::left_out:
      return "left-out";
    case Change::plus_one:
      return "plus-one";
    case Change::minus_one:
      return "minus-one";
  }
  return "?";
}

}  // namespace

std::string Mutation::name() const {
  if (site == nullptr) {
    return "none";
  }
  return std::string(site->name) + ":" + std::string(name_of(*this));
}

std::span<const std::span<const sync::Site>> site_tables() noexcept {
  return tables;
}

std::vector<Mutation> all_mutations() {
  std::vector<Mutation> mutations;
  for (const Table& table : tables) {
    for (const sync::Site& site : table) {
      if (has_order(site.operation)) {
        for (const std::memory_order order : weaker(site)) {
          mutations.push_back({&site, Change::weaker, order});
        }
      }
      for (const Change change : changes(site.operation)) {
        mutations.push_back({&site, change});
      }
    }
  }
  return mutations;
}

void reach(const sync::Site& site) noexcept {
  if (const std::size_t index = index_of(site); index < site_count) {
    reached[index] = true;
  }
}

bool is_reached(const sync::Site& site) noexcept {
  const std::size_t index = index_of(site);
  return index < site_count && reached[index];
}

}  // namespace byre::verification
