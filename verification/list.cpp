// SPDX-License-Identifier: BSL-1.0
#include <iterator>

#include "litmus/tests.hpp"
#include "programs/programs.hpp"
#include "scenario.hpp"

namespace byre::verification {

extern const Scenario adopted_memory_is_dropped;
extern const Scenario adopted_memory_is_written;
extern const Scenario borrowed_memory;
extern const Scenario clones_race_writers;
extern const Scenario clones_race_writers_and_drops;
extern const Scenario copies_race_an_installation;
extern const Scenario counters_are_set;
extern const Scenario counters_count_all;
extern const Scenario counts_race_a_snapshot;
extern const Scenario drops_race_copies;
extern const Scenario drops_race_drops;
extern const Scenario earlier_writes_are_found;
extern const Scenario failing_clones_of_a_loan;
extern const Scenario failing_copies;
extern const Scenario failing_resizes;
extern const Scenario families_are_stale_twice;
extern const Scenario families_leave_unread;
extern const Scenario families_race;
extern const Scenario families_read_and_write;
extern const Scenario first_attachments_race;
extern const Scenario first_clones_at_once;
extern const Scenario four_claims_steal_once;
extern const Scenario four_writers_race;
extern const Scenario handles_race_handles;
extern const Scenario last_handles_race;
extern const Scenario later_copiers_free;
extern const Scenario later_writes_supersede;
extern const Scenario locked_adopted_memory_is_dropped;
extern const Scenario locked_adopted_memory_is_written;
extern const Scenario locked_borrowed_memory;
extern const Scenario locked_clones_race_writers;
extern const Scenario locked_drops_race_copies;
extern const Scenario locked_drops_race_drops;
extern const Scenario locked_failing_clones_of_a_loan;
extern const Scenario locked_failing_copies;
extern const Scenario locked_failing_resizes;
extern const Scenario locked_first_clones_at_once;
extern const Scenario locked_later_copiers_free;
extern const Scenario locked_one_of_three_waits;
extern const Scenario locked_read_only_loan;
extern const Scenario locked_read_only_origins;
extern const Scenario locked_reads_race_a_steal;
extern const Scenario locked_resizes_race_drops;
extern const Scenario locked_three_claims_steal_once;
extern const Scenario locked_three_drops_race;
extern const Scenario locked_three_first_clones_at_once;
extern const Scenario locked_three_writers_race;
extern const Scenario locked_two_claims_steal_once;
extern const Scenario locked_two_drops_race_a_copy;
extern const Scenario locked_two_undos_wake_waiters;
extern const Scenario locked_undos_try_again;
extern const Scenario locked_undos_wake_waiters;
extern const Scenario locked_writers_never_wait;
extern const Scenario locked_writers_race_writers;
extern const Scenario numbers_are_given_once;
extern const Scenario one_of_three_waits;
extern const Scenario parts_are_found_beside_definitions;
extern const Scenario read_only_loan;
extern const Scenario read_only_origins;
extern const Scenario reads_race_a_steal;
extern const Scenario records_are_added_once;
extern const Scenario resizes_race_drops;
extern const Scenario restless_writers_race_writers;
extern const Scenario sleepers_are_woken;
extern const Scenario storages_cloned_at_once;
extern const Scenario storages_cloned_by_three;
extern const Scenario storages_write_after_drops;
extern const Scenario superseded_writes_are_found;
extern const Scenario tags_give_way;
extern const Scenario three_claims_steal_once;
extern const Scenario three_drops_race;
extern const Scenario three_failing_copies;
extern const Scenario three_first_clones_at_once;
extern const Scenario three_read_only_origins;
extern const Scenario three_writers_never_wait;
extern const Scenario three_writers_race;
extern const Scenario two_claims_steal_once;
extern const Scenario two_drops_race_a_copy;
extern const Scenario two_sleepers_are_woken;
extern const Scenario two_undos_wake_waiters;
extern const Scenario undos_try_again;
extern const Scenario undos_wake_waiters;
extern const Scenario writers_never_wait;
extern const Scenario writers_race_writers;

extern const Scenario copy_then_count_drops;
extern const Scenario copy_then_count_writes;
extern const Scenario count_then_lock_drops;
extern const Scenario count_then_lock_writes;
extern const Scenario counts_writes_twice;
extern const Scenario first_clone_rewrites_source;
extern const Scenario keeps_no_superseded_write;
extern const Scenario reads_after_drop;
extern const Scenario relaxed_uniqueness_resizes;
extern const Scenario relaxed_uniqueness_writes;
extern const Scenario sleeps_without_a_look;
extern const Scenario undoes_after_unlock;
extern const Scenario wakes_through_header;

// Stories that only mutants are about: mutants/scenarios.
extern const Scenario copiers_are_counted;
extern const Scenario writes_after_a_drop;
extern const Scenario failed_owners_are_counted;
extern const Scenario no_handle_is_left;
extern const Scenario one_handle_is_copied_at_once;
extern const Scenario locked_writes_after_a_drop;
extern const Scenario locked_failed_owners_are_counted;
extern const Scenario locked_writers_take_no_lock;

std::span<const Scenario* const> all_scenarios() {
  static constexpr const Scenario* scenarios[] = {
      &sleepers_are_woken,
      &two_sleepers_are_woken,
      &drops_race_drops,
      &three_drops_race,
      &drops_race_copies,
      &two_drops_race_a_copy,
      &reads_race_a_steal,
      &resizes_race_drops,
      &two_claims_steal_once,
      &three_claims_steal_once,
      &four_claims_steal_once,
      &writers_race_writers,
      &restless_writers_race_writers,
      &three_writers_race,
      &four_writers_race,
      &first_clones_at_once,
      &three_first_clones_at_once,
      &clones_race_writers,
      &clones_race_writers_and_drops,
      &later_copiers_free,
      &writers_never_wait,
      &three_writers_never_wait,
      &one_of_three_waits,
      &failing_copies,
      &three_failing_copies,
      &failing_resizes,
      &failing_clones_of_a_loan,
      &undos_wake_waiters,
      &two_undos_wake_waiters,
      &undos_try_again,
      &adopted_memory_is_dropped,
      &adopted_memory_is_written,
      &borrowed_memory,
      &read_only_loan,
      &read_only_origins,
      &three_read_only_origins,
      &handles_race_handles,
      &last_handles_race,
      &storages_cloned_at_once,
      &storages_cloned_by_three,
      &storages_write_after_drops,
      &counts_race_a_snapshot,
      &copies_race_an_installation,
      &first_attachments_race,
      &numbers_are_given_once,
      &tags_give_way,
      &families_race,
      &families_read_and_write,
      &families_are_stale_twice,
      &families_leave_unread,
      &records_are_added_once,
      &later_writes_supersede,
      &superseded_writes_are_found,
      &earlier_writes_are_found,
      &counters_are_set,
      &counters_count_all,
      &parts_are_found_beside_definitions,
      // The textbook form.
      &locked_drops_race_drops,
      &locked_three_drops_race,
      &locked_drops_race_copies,
      &locked_two_drops_race_a_copy,
      &locked_reads_race_a_steal,
      &locked_resizes_race_drops,
      &locked_two_claims_steal_once,
      &locked_three_claims_steal_once,
      &locked_writers_race_writers,
      &locked_three_writers_race,
      &locked_first_clones_at_once,
      &locked_three_first_clones_at_once,
      &locked_clones_race_writers,
      &locked_later_copiers_free,
      &locked_writers_never_wait,
      &locked_one_of_three_waits,
      &locked_failing_copies,
      &locked_failing_resizes,
      &locked_failing_clones_of_a_loan,
      &locked_undos_wake_waiters,
      &locked_two_undos_wake_waiters,
      &locked_undos_try_again,
      &locked_adopted_memory_is_dropped,
      &locked_adopted_memory_is_written,
      &locked_borrowed_memory,
      &locked_read_only_loan,
      &locked_read_only_origins,
      &writes_after_a_drop,
      &failed_owners_are_counted,
      &copiers_are_counted,
      &no_handle_is_left,
      &one_handle_is_copied_at_once,
      &locked_writes_after_a_drop,
      &locked_failed_owners_are_counted,
      &locked_writers_take_no_lock,
      // Negative controls: designs that are wrong, and have to be found so.
      &copy_then_count_drops,
      &copy_then_count_writes,
      &count_then_lock_drops,
      &count_then_lock_writes,
      &counts_writes_twice,
      &first_clone_rewrites_source,
      &keeps_no_superseded_write,
      &reads_after_drop,
      &relaxed_uniqueness_resizes,
      &relaxed_uniqueness_writes,
      &sleeps_without_a_look,
      &undoes_after_unlock,
      &wakes_through_header,
  };
  static const std::vector<const Scenario*> all = [&] {
    std::vector<const Scenario*> list(std::begin(scenarios), std::end(scenarios));
    for (const auto& group :
         {program_scenarios(), litmus_of_orders(), litmus_of_release_sequences(), litmus_of_locks(),
          litmus_of_parking(), litmus_of_memory()}) {
      for (const Scenario& scenario : group) {
        list.push_back(&scenario);
      }
    }
    return list;
  }();
  return all;
}

}  // namespace byre::verification
