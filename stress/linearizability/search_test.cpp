// SPDX-License-Identifier: BSL-1.0
/// The search accepts linearizable histories and rejects others. All histories are written by hand.
#include "search.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "owners_specification.hpp"
#include "place_specification.hpp"

namespace byre::stress::histories {
namespace {

using Place = PlaceSpecification;
using Owners = OwnersSpecification;
using History = std::vector<Operation>;

Operation load(unsigned thread, Tick start, Tick end, unsigned result) {
  return {.start = start,
          .end = end,
          .thread = static_cast<std::uint8_t>(thread),
          .kind = Place::load,
          .result = static_cast<std::uint8_t>(result)};
}
Operation store(unsigned thread, Tick start, Tick end, unsigned number) {
  return {.start = start,
          .end = end,
          .thread = static_cast<std::uint8_t>(thread),
          .kind = Place::store,
          .argument = static_cast<std::uint8_t>(number)};
}
Operation exchange(unsigned thread, Tick start, Tick end, unsigned number, unsigned result) {
  Operation operation = store(thread, start, end, number);
  operation.kind = Place::exchange;
  operation.result = static_cast<std::uint8_t>(result);
  return operation;
}
Operation compare_exchange(unsigned thread, Tick start, Tick end, unsigned expected,
                           unsigned number, bool result, unsigned found = 0) {
  Operation operation = exchange(thread, start, end, number, result ? 1 : 0);
  operation.kind = Place::compare_exchange;
  operation.other_argument = static_cast<std::uint8_t>(expected);
  operation.other_result = static_cast<std::uint8_t>(found);
  return operation;
}
Operation version(unsigned thread, Tick start, Tick end, unsigned result) {
  Operation operation = load(thread, start, end, result);
  operation.kind = Place::version;
  return operation;
}
Operation holds(unsigned thread, Tick start, Tick end, unsigned number, bool result) {
  Operation operation = store(thread, start, end, number);
  operation.kind = Place::holds;
  operation.result = result ? 1 : 0;
  return operation;
}

bool is_linearizable(const History& history) {
  return find_order(Place(), history, {}).is_linearizable;
}

TEST(Search, accepts_an_empty_history) {
  EXPECT_TRUE(is_linearizable({}));
}

TEST(Search, accepts_either_order_of_a_load_and_a_store_that_overlap) {
  EXPECT_TRUE(is_linearizable({store(0, 1, 4, 7), load(1, 2, 3, 0)}));
  EXPECT_TRUE(is_linearizable({store(0, 1, 4, 7), load(1, 2, 3, 7)}));
  EXPECT_FALSE(is_linearizable({store(0, 1, 4, 7), load(1, 2, 3, 8)}));
}

TEST(Search, rejects_a_stale_load_after_a_completed_store) {
  EXPECT_FALSE(is_linearizable({store(0, 1, 2, 7), load(1, 3, 4, 0)}));
  EXPECT_TRUE(is_linearizable({store(0, 1, 2, 7), load(1, 3, 4, 7)}));
}

TEST(Search, rejects_a_stale_load_after_a_load_of_the_new_content) {
  EXPECT_FALSE(is_linearizable({store(0, 1, 6, 7), load(1, 2, 3, 7), load(2, 4, 5, 0)}));
  EXPECT_TRUE(is_linearizable({store(0, 1, 6, 7), load(1, 2, 4, 7), load(2, 3, 5, 0)}));
}

TEST(Search, rejects_two_readers_that_see_two_stores_in_opposite_order) {
  const Operation stores[] = {store(0, 1, 12, 7), store(1, 2, 11, 8)};
  EXPECT_FALSE(is_linearizable({stores[0], stores[1], load(2, 3, 5, 7), load(2, 7, 9, 8),
                                load(3, 4, 6, 8), load(3, 8, 10, 7)}));
  EXPECT_TRUE(is_linearizable({stores[0], stores[1], load(2, 3, 5, 7), load(2, 7, 9, 8),
                               load(3, 4, 6, 7), load(3, 8, 10, 8)}));
}

TEST(Search, rejects_two_exchanges_that_return_one_content) {
  EXPECT_FALSE(is_linearizable({exchange(0, 1, 3, 7, 0), exchange(1, 2, 4, 8, 0)}));
  EXPECT_TRUE(is_linearizable({exchange(0, 1, 3, 7, 8), exchange(1, 2, 4, 8, 0)}));
}

TEST(Search, rejects_a_lost_update) {
  EXPECT_FALSE(is_linearizable(
      {compare_exchange(0, 1, 3, 0, 7, true), compare_exchange(1, 2, 4, 0, 8, true)}));
  EXPECT_TRUE(is_linearizable(
      {compare_exchange(0, 1, 3, 0, 7, true), compare_exchange(1, 2, 4, 0, 8, false, 7)}));
}

TEST(Search, rejects_an_exchange_that_fails_although_equal) {
  EXPECT_FALSE(is_linearizable({compare_exchange(0, 1, 2, 0, 7, false, 0)}));
  EXPECT_FALSE(is_linearizable({compare_exchange(0, 1, 2, Place::unshared, 7, true)}));
}

TEST(Search, rejects_a_wrong_comparison) {
  EXPECT_FALSE(is_linearizable({store(0, 1, 2, 7), holds(1, 3, 4, 0, true)}));
  EXPECT_FALSE(is_linearizable({store(0, 1, 2, 7), holds(1, 3, 4, 7, false)}));
  EXPECT_TRUE(is_linearizable({store(0, 1, 2, 7), holds(1, 3, 4, 7, true)}));
}

TEST(Search, a_version_may_lag_behind_a_load_but_not_lead_it) {
  EXPECT_TRUE(is_linearizable({store(0, 1, 6, 7), load(1, 2, 3, 7), version(1, 4, 5, 0)}));
  EXPECT_TRUE(is_linearizable({store(0, 1, 6, 7), version(1, 2, 3, 1), load(1, 4, 5, 7)}));
  EXPECT_FALSE(is_linearizable({store(0, 1, 6, 7), version(1, 2, 3, 1), load(1, 4, 5, 0)}));
}

TEST(Search, a_version_counts_all_completed_stores_once) {
  EXPECT_TRUE(is_linearizable({store(0, 1, 2, 7), store(0, 3, 4, 8), version(1, 5, 6, 2)}));
  EXPECT_FALSE(is_linearizable({store(0, 1, 2, 7), store(0, 3, 4, 8), version(1, 5, 6, 1)}));
  EXPECT_FALSE(is_linearizable({store(0, 1, 2, 7), version(1, 3, 4, 2)}));
  EXPECT_FALSE(is_linearizable({compare_exchange(0, 1, 2, 7, 8, false, 0), version(1, 3, 4, 1)}));
}

TEST(Search, checks_each_object_alone) {
  Operation other = load(1, 3, 4, 0);
  other.object = 1;
  const History history{store(0, 1, 2, 7), other};
  EXPECT_TRUE(find_order(Place(), history, {}, 0).is_linearizable);
  EXPECT_TRUE(find_order(Place(), history, {}, 1).is_linearizable);
  const Verdict verdict = find_order(Place(), history, {.content = 7}, 1);
  EXPECT_FALSE(verdict.is_linearizable);
  EXPECT_EQ(verdict.object, 1);
}

TEST(Search, returns_the_order_or_the_longest_one_found) {
  const Verdict found = find_order(Place(), {load(1, 1, 4, 7), store(0, 2, 3, 7)}, {});
  EXPECT_EQ(found.order, (std::vector<std::size_t>{1, 1, 0}));  // a store has two steps
  const Verdict failed = find_order(Place(), {store(0, 1, 2, 7), load(1, 3, 4, 0)}, {});
  EXPECT_EQ(failed.order, (std::vector<std::size_t>{0, 0}));
}

/// Ten stores that all overlap, then loads of two contents without a store in between. The steps of
/// the stores have more than 10^12 orders, but each set of steps leads to few states.
TEST(Search, remembers_sets_and_states_from_which_it_failed) {
  History history;
  for (unsigned thread = 0; thread < 10; ++thread) {
    history.push_back(store(thread, 1 + thread, 100, 1 + thread % 2));
  }
  history.push_back(load(20, 101, 102, 1));
  history.push_back(load(20, 103, 104, 2));
  const Verdict verdict = find_order(Place(), history, {});
  EXPECT_FALSE(verdict.is_linearizable);
  EXPECT_LT(verdict.visited, 200'000U);
}

TEST(Search, rejects_histories_that_are_too_long) {
  EXPECT_THROW(is_linearizable(History(33, store(0, 1, 2, 1))), std::invalid_argument);
}

Operation write(unsigned variable, Tick start, Tick end, unsigned number, Owners::Write result) {
  Operation operation = store(variable, start, end, variable);
  operation.kind = Owners::write;
  operation.other_argument = static_cast<std::uint8_t>(number);
  operation.result = result;
  return operation;
}
Operation on_owner(Owners::Kind kind, unsigned variable, Tick start, Tick end, unsigned result) {
  Operation operation = write(variable, start, end, 0, Owners::already_unique);
  operation.kind = kind;
  operation.result = static_cast<std::uint8_t>(result);
  return operation;
}
bool is_linearizable_by_owners(const History& history) {
  return find_order(Owners(), history, Owners::sharing(1U, 3U)).is_linearizable;
}

TEST(OwnersSpecification, of_two_owners_that_write_exactly_one_copies) {
  using enum Owners::Write;
  const auto both = [](Owners::Write first, Owners::Write second) {
    return is_linearizable_by_owners({write(1, 1, 3, 7, first), write(3, 2, 4, 8, second)});
  };
  EXPECT_TRUE(both(copied, already_unique));
  EXPECT_TRUE(both(copied, stole));
  EXPECT_FALSE(both(copied, copied));
  EXPECT_FALSE(both(already_unique, already_unique));
  EXPECT_FALSE(both(stole, already_unique));
}

TEST(OwnersSpecification, a_write_shows_in_no_other_value) {
  const Operation written = write(1, 1, 2, 7, Owners::copied);
  EXPECT_TRUE(is_linearizable_by_owners({written, on_owner(Owners::read, 3, 3, 4, 1)}));
  EXPECT_TRUE(is_linearizable_by_owners({written, on_owner(Owners::read, 1, 3, 4, 7)}));
  EXPECT_FALSE(is_linearizable_by_owners({written, on_owner(Owners::read, 3, 3, 4, 7)}));
}

TEST(OwnersSpecification, an_owner_is_not_unique_while_another_copies) {
  const Operation copies = write(1, 1, 6, 7, Owners::copied);
  const auto unique = [](Tick start, unsigned result) {
    return on_owner(Owners::is_unique, 3, start, start + 1, result);
  };
  EXPECT_TRUE(is_linearizable_by_owners({copies, unique(2, 0), unique(4, 1)}));
  EXPECT_FALSE(is_linearizable_by_owners({copies, unique(2, 1), unique(4, 0)}));
  EXPECT_FALSE(is_linearizable_by_owners({copies, unique(7, 0)}));
}

TEST(OwnersSpecification, a_drop_leaves_the_last_owner_unique) {
  const Operation drop = on_owner(Owners::drop, 1, 1, 2, 0);
  EXPECT_TRUE(is_linearizable_by_owners({drop, write(3, 3, 4, 8, Owners::already_unique)}));
  EXPECT_FALSE(is_linearizable_by_owners({drop, write(3, 3, 4, 8, Owners::copied)}));
}

TEST(Log, records_intervals_of_a_common_order) {
  Clock clock;
  Log logs[3];
  for (std::uint8_t thread = 0; thread < 3; ++thread) {
    logs[thread].begin(clock, thread);
  }
  logs[0].run({}, [&] {
    EXPECT_EQ(logs[1].run({}, [&] { return logs[2].run({}, [] { return 5; }); }), 5);
  });
  const auto interval = [&](unsigned thread) {
    const Operation& operation = logs[thread].operations().at(0);
    EXPECT_EQ(operation.thread, thread);
    return std::pair(operation.start, operation.end);
  };
  EXPECT_EQ(interval(0), std::pair(Tick{1}, Tick{6}));
  EXPECT_EQ(interval(1), std::pair(Tick{2}, Tick{5}));
  EXPECT_EQ(interval(2), std::pair(Tick{3}, Tick{4}));
}

TEST(Log, operations_of_two_threads_overlap_if_their_intervals_do) {
  EXPECT_EQ(overlapping({load(0, 1, 4, 0), load(1, 2, 3, 0)}), 2U);
  EXPECT_EQ(overlapping({load(0, 1, 3, 0), load(1, 2, 5, 0), load(2, 6, 7, 0)}), 2U);
  EXPECT_EQ(overlapping({load(0, 1, 2, 0), load(1, 3, 4, 0)}), 0U);
}

}  // namespace
}  // namespace byre::stress::histories
