// SPDX-License-Identifier: BSL-1.0
#include "memory_orders.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

#include "document.hpp"
#include "kill.hpp"

namespace byre::verification {
namespace {

/// The words of a text that are names of scenarios, or ought to be: those with an underscore.
std::vector<std::string> scenarios_named_in(std::string_view text) {
  std::vector<std::string> names;
  std::string word;
  for (const char character : std::string(text) + ' ') {
    if ((character >= 'a' && character <= 'z') || character == '_' || character == '.') {
      word += character;
      continue;
    }
    if (word.ends_with('.')) {
      word.pop_back();
    }
    if (word.find('_') != std::string::npos && word != "acq_rel") {
      names.push_back(word);
    }
    word.clear();
  }
  return names;
}

std::string_view name_of(sync::Operation operation) {
  static constexpr std::string_view names[] = {
      "load", "store",  "fetch-add", "fetch-subtract", "compare-exchange",
      "lock", "unlock", "park",      "unpark"};
  return names[static_cast<std::size_t>(operation)];
}

std::string_view order_of(const sync::Site& site) {
  static constexpr std::string_view names[] = {"relaxed", "consume", "acquire",
                                               "release", "acq_rel", "seq_cst"};
  return site.operation >= sync::Operation::lock ? "its own"
                                                 : names[static_cast<std::size_t>(site.order)];
}

/// Whether the row says what comes of that mistake.
bool speaks_of(const sync::Site& site, Change mistake) {
  switch (mistake) {
    case Change::weaker:
      return true;
    case Change::left_out:
      return site.breaks.find("left out") != std::string_view::npos;
    case Change::plain:
      return site.breaks.find("not atomic") != std::string_view::npos;
    default:
      return false;
  }
}

class Rows {
 public:
  Rows(const std::vector<MutantOutcome>& outcomes) : outcomes_(outcomes) {}

  std::string text() {
    std::string text;
    for (const auto& table : site_tables()) {
      const std::string_view name = table.front().name;
      text += "\n## " + std::string(name.substr(0, name.find('.'))) + "\n\n";
      Table rows({"step", "operation", "order", "pairs with", "what breaks", "shown by"});
      for (const sync::Site& site : table) {
        rows.add({std::string(site.name.substr(site.name.find('.') + 1)),
                  std::string(name_of(site.operation)), std::string(order_of(site)),
                  std::string(site.pairs_with), std::string(site.breaks), shown_by(site)});
      }
      text += rows.text();
    }
    return text;
  }

  bool are_good() const noexcept { return good_; }

 private:
  /// The mistakes that the row speaks of.
  std::string shown_by(const sync::Site& site) {
    std::string text;
    std::set<std::string_view> shows_something;
    bool has_mutants = false;
    for (const MutantOutcome& outcome : outcomes_) {
      if (outcome.mutation.site != &site) {
        continue;
      }
      has_mutants = true;
      for (const Kill& kill : outcome.kills) {
        shows_something.insert(kill.scenario->name);
      }
      if (!speaks_of(site, outcome.mutation.change)) {
        continue;
      }
      if (!outcome.is_killed()) {
        complain(outcome.mutation.name() + " is noticed by no scenario that its row names");
      } else {
        const Kill& kill = outcome.kills.front();
        const std::string mutant = outcome.mutation.name();
        text += (text.empty() ? "" : "; ") + code(mutant.substr(mutant.find(':') + 1)) + " in " +
                std::string(kill.scenario->name) + ": " + std::string(to_string(kill.verdict));
      }
    }
    if (has_mutants && shows_something.empty()) {
      complain("the row of " + std::string(site.name) + " names no scenario that notices a mutant");
    }
    expect_named(site, shows_something);
    return text.empty() ? "nothing to show" : text;
  }

  void expect_named(const sync::Site& site, const std::set<std::string_view>& shows_something) {
    for (const std::string& name : scenarios_named_in(site.breaks)) {
      const auto scenario =
          std::ranges::find(all_scenarios(), name, [](const Scenario* s) { return s->name; });
      if (scenario == all_scenarios().end()) {
        complain("the row of " + std::string(site.name) + " names " + name +
                 ", and there is no such scenario");
      } else if ((*scenario)->expected == Verdict::pass && !shows_something.contains(name)) {
        complain("the row of " + std::string(site.name) + " names " + name +
                 ", which notices no mutant of it");
      }
    }
  }

  void complain(const std::string& text) {
    std::fprintf(stderr, "FAILED: %s\n", text.c_str());
    good_ = false;
  }

  const std::vector<MutantOutcome>& outcomes_;
  bool good_ = true;
};

constexpr const char* orders_introduction =
    "# Memory orders\n\n"
    "Printed by `byre-verify --memory-orders` from the tables in core.\n\n"
    "Each row is a step of a protocol: what it does, with which order, the other end of its\n"
    "happens-before edge, and what breaks where the order is weaker or the step is missing. The "
    "last\n"
    "column is what the model checker said to that mutant of the step.\n";

/// Of the tables above, what they are for where no row says it.
constexpr const char* orders_conclusion = R"(
## What the generations prove

A storage has the stamp of its last write, a family the stamp of the last write that it has observed.
A stamp is the number of the write and the number of its record, in one word.

1. **No two writes have one stamp.** A storage's stamp changes by `write` alone, one atomic step from a
   stamp to the next number. As two steps, two writes have one stamp.
2. **A family has observed a stamp that the storage had.** What it observes is what `load_last`,
   `load_last_again` or its own write found there, or what the family had observed that it came from.
3. **A family whose stamp is the storage's wrote last or had the last write reported**, or came from a
   family of which that is true. For the stamp is of that one write (1).
4. **What a family has not read** is a write that was reported where it was about to write itself. It
   stays until a write is reported where the family reads, or until the family writes all there is:
   `leave_unread` and `forget_unread`. Of two reads at once both may report it.

A `write` finds the last write before it in the step that takes its place. So of two families that
write at once one comes first, and the other is stale. Two counters that are compared and then bumped
do not show that (`known_wrong.counts_writes_twice`).

Of the superseded writes, the last of each record is kept with it (`write_records`). It is kept before
the step that supersedes it. So who acquires the last write finds those before it there, though their
stamps are read relaxed (`superseded_writes_are_found`, `earlier_writes_are_found`;
`known_wrong.keeps_no_superseded_write` keeps none).

None of this needs an order above relaxed: the first three are about one word, and what a family has
not read is between its own accesses. Acquire and release are for the record that a stamp names, which
is made before the write.
)";

}  // namespace

int run_memory_orders(const Options& options) {
  std::vector<Mutation> mutations = all_mutations();
  std::erase_if(mutations, [](const Mutation& mutation) { return mutation.site == nullptr; });
  const DetectionRun run{.stops_at_first = false,
                         .only_named = true,
                         .at_once = options.jobs,
                         .ended = [](const MutantOutcome&) {}};
  const std::vector<MutantOutcome> outcomes = kill(mutations, run);
  Rows rows(outcomes);
  const std::string document = orders_introduction + rows.text() + orders_conclusion;
  const bool is_current = print_or_check(document, options.file_to_check, "--memory-orders");
  return is_current && rows.are_good() ? 0 : 1;
}

}  // namespace byre::verification
