// SPDX-License-Identifier: BSL-1.0
#include "bug.hpp"

#include <type_traits>

#include "../perturbed/perturbed.hpp"
#include "../races/run_scenario.hpp"
#include "../races/scenarios/all.hpp"
#include "lifetime_checked.hpp"
#include "support/sanitized.hpp"
#include "wrong_designs.hpp"

namespace byre::stress::seeded_bugs {
namespace {

using namespace races;

/// The steps of sync::Boost, over designs that the library has no object of.
struct Unchecked : sync::Boost {
  template <class Object>
  static Object& no_destructor() noexcept {
    return sync::no_destructor<Object>();
  }
};

/// A sanitizer checks more than LifetimeChecked, and sees errors in the design's own steps.
using Plain = std::conditional_t<test::is_sanitized, Unchecked, LifetimeChecked<sync::Boost>>;

template <template <class> class ScenarioOf, template <class> class Share, class Sync>
RaceResult run(const RaceSettings& settings) {
  return run_scenario<ScenarioOf<basic_buffer<Sync, Share>>>(settings);
}

struct Text {
  std::string_view name;
  std::string_view is_wrong_in;
};

struct SeenBy {
  bool itself = true;
  Report thread_sanitizer = Report::none;
  Report address_sanitizer = Report::none;
};

template <template <class> class ScenarioOf, template <class> class Share>
constexpr Bug bug(Text text, std::string_view race, SeenBy seen_by) {
  return {
      .name = text.name,
      .is_wrong_in = text.is_wrong_in,
      .race = race,
      .run = &run<ScenarioOf, Share, Plain>,
      .run_perturbed = &run<ScenarioOf, Share, PerturbedOver<Plain>>,
      .shows_itself = seen_by.itself,
      .by_thread_sanitizer = seen_by.thread_sanitizer,
      .by_address_sanitizer = seen_by.address_sanitizer,
  };
}

template <template <class> class WrongSync, template <class> class ScenarioOf>
constexpr Bug bug_in_word(Text text, std::string_view race, SeenBy seen_by) {
  return bug<ScenarioOf, WordOver<WrongSync>::template Share>(text, race, seen_by);
}

template <class Buffer>
using FamiliesCountWritesTwice = FamiliesWriteAtOnce<Buffer, verification::basic_counting_family>;

constexpr Bug bugs[] = {
    bug<DropsAgainstDrops, basic_count_then_lock>(
        {"count_then_lock_drops", "2023: locks beside the count after lowering it"},
        "drops_against_drops", {true, Report::use_after_free, Report::none}),
    bug<ConcurrentMaterialize, basic_count_then_lock>(
        {"count_then_lock_writes", "2023: copies what the last owner may write or free"},
        "concurrent_materialize", {true, Report::data_race, Report::none}),
    bug<DropsAgainstDrops, basic_copy_then_count>(
        {"copy_then_count_drops", "2026: locks beside the count after lowering it"},
        "drops_against_drops", {true, Report::use_after_free, Report::none}),
    bug<ConcurrentMaterialize, basic_copy_then_count_unlocked>(
        {"copy_then_count_writes", "2026: sees others, copies, and only then leaves"},
        "concurrent_materialize", {true, Report::none, Report::none}),
    bug<FirstClonesAtOnce, PlainUntilCloned>(
        {"first_clone_rewrites_source", "the first clone gives its source a count"},
        "first_clones_at_once", {true, Report::data_race, Report::use_after_free}),
    bug<DropsAgainstDrops, ReadsAfterDrop>(
        {"reads_after_drop", "an owner that dropped reads a constant once more"},
        "drops_against_drops", {true, Report::use_after_free, Report::use_after_free}),
    bug_in_word<ListInHeader, StealAgainstPendingCopies>(
        {"wakes_through_header", "wakes through a header that the woken may have freed"},
        "steal_against_pending_copies", {true, Report::use_after_free, Report::use_after_free}),
    bug<FailingCopies, UndoesAfterUnlock>(
        {"undoes_after_unlock", "undoes a failed claim before it counts as an owner again"},
        "failing_copies", {true, Report::data_race, Report::none}),
    bug_in_word<ParksWithoutRecheck, StealAgainstPendingCopies>(
        {"parks_without_recheck", "parks without a second check: the wake is lost"},
        "steal_against_pending_copies", {true, Report::none, Report::none}),
    bug_in_word<NeverWakes, StealAgainstPendingCopies>(
        {"never_wakes", "the last copier does not wake the waiter"}, "steal_against_pending_copies",
        {true, Report::none, Report::none}),
    bug_in_word<AbandonsWithoutWake, FailingCopies>(
        {"abandons_without_wake", "an owner whose copy failed does not wake the waiter"},
        "failing_copies", {true, Report::none, Report::none}),
    bug_in_word<StaysWaiting, StolenDataIsSharedAgain>(
        {"stays_waiting", "a waiter that steals leaves its waiting flag set"},
        "stolen_data_is_shared_again", {true, Report::none, Report::leak}),
    bug_in_word<ClaimsInTwoSteps, ConcurrentMaterialize>(
        {"claims_in_two_steps", "claims by a load and a store"}, "concurrent_materialize",
        {true, Report::none, Report::none}),
    bug_in_word<DropsInTwoSteps, DropsAgainstDrops>(
        {"drops_in_two_steps", "drops by a load and a store"}, "drops_against_drops",
        {true, Report::none, Report::leak}),
    bug_in_word<RelaxedLoads, ReadsAgainstWritesInPlace>(
        {"relaxed_uniqueness", "loads uniqueness relaxed"}, "reads_against_writes_in_place",
        {false, Report::data_race, Report::none}),
    bug_in_word<RelaxedFinish, StealAgainstPendingCopies>({"relaxed_finish", "ends a copy relaxed"},
                                                          "steal_against_pending_copies",
                                                          {false, Report::data_race, Report::none}),
    bug<TilesWrittenAtOnce, FinishesBeforeCopying>(
        {"finishes_before_copying",
         "a tile and a node of its table are copied when others may write"},
        "tiles_written_at_once", {true, Report::data_race, Report::none}),
    bug<FamiliesCountWritesTwice, basic_share_word>(
        {"counts_writes_twice", "the storage and the family count writes apart"},
        "families_write_at_once", {true, Report::none, Report::none}),
};

}  // namespace

std::span<const Bug> all_bugs() {
  return bugs;
}

}  // namespace byre::stress::seeded_bugs
