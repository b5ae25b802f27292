// SPDX-License-Identifier: BSL-1.0
#include "pairs.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "../runner/job.hpp"
#include "../scenarios/device_queue.hpp"
#include "../scenarios/paged_buffers.hpp"
#include "marked.hpp"

namespace byre::verification {
namespace {

/// Two owners do all that owners do, and the scheduler chooses what fails.
template <template <class> class Share>
class EveryOperation {
 public:
  static constexpr unsigned threads = 2;

  EveryOperation() { buffers_.memory.set_faults(Faults::allocations); }

  void thread(unsigned index) {
    auto& buffer = buffers_[index];
    if (index == 0) {
      auto clone = buffer;
      expect(clone.use_count() != 0, "owners are counted");
    }
    const Wait wait = rl::rand(2) == 0 ? Wait::allowed : Wait::never;
    try {
      write(buffer, index, wait);
      static_cast<void>(buffer.is_unique());
    } catch (const OutOfMemory&) {
    }
    drop(buffer);
  }

  void saw(const sync::Site& site, std::uint64_t) { seen_pairs.step(site); }

 private:
  SharedBuffers<Marked<Share>::template type, threads> buffers_;
};

/// What only data in pages does: two owners of an overlay write.
class EveryOperationOfPages {
 public:
  static constexpr unsigned threads = 2;

  EveryOperationOfPages() {
    buffers_[0] = paged_buffer_of<Word>(7, files_);
    const auto file = buffers_[0];
    write_page(buffers_[0], 8);
    buffers_[1] = buffers_[0];
  }

  void thread(unsigned index) {
    write_page(buffers_[index], index);
    drop(buffers_[index]);
  }

  void saw(const sync::Site& site, std::uint64_t) { seen_pairs.step(site); }

 private:
  template <class Sync>
  using Word = Marked<basic_share_word>::type<Sync>;

  CellFiles files_;
  CheckedBuffer<Word> buffers_[threads];
};

/// What only data of a device does: two owners write in order.
class EveryOperationInOrder
    : public DeviceBuffers<2, CopiesEnd::in_order, Marked<basic_share_word>::type> {
 public:
  void thread(unsigned index) {
    if (is_device(index)) {
      device_.run();
    } else {
      submit_write(index);
    }
  }

  void after() { device_.run(); }

  /// Of the word's steps: those of the lock about them are checked by what a parallel loop does.
  void saw(const sync::Site& site, std::uint64_t) {
    if (site.name.starts_with("share_word.")) {
      seen_pairs.step(site);
    }
  }
};

constexpr std::uint64_t executions_to_observe = 20'000;

void observe(int output) {
  prepare_searches();
  for (const Scenario& every_operation : {unlisted_scenario<EveryOperation<basic_share_word>>({}),
                                          unlisted_scenario<EveryOperation<basic_share_lock>>({}),
                                          unlisted_scenario<EveryOperationOfPages>({}),
                                          unlisted_scenario<EveryOperationInOrder>({})}) {
    Search search{.bound = preemptions(3)};
    search.most_executions = executions_to_observe;
    if (const Found found = every_operation.search(search); is_failure(found.verdict)) {
      test::write_all(output,
                      "! " + std::string(to_string(found.verdict)) + ": " + found.message + '\n');
    }
  }
  for (const StepPair& pair : seen_pairs) {
    test::write_all(output, std::string(pair.first->name) + ' ' +
                                std::string(pair.second == nullptr ? "-" : pair.second->name) +
                                '\n');
  }
}

constexpr std::string_view needed = "what follows needs the answer of the first step";
constexpr std::string_view holds_a_step =
    "the second step is part of the first, which asks it whether to wait";
constexpr std::string_view not_always =
    "the first step may be the last of its operation: whether the second follows was decided "
    "before "
    "both";
constexpr std::string_view two_loads =
    "two loads, neither of which decides whether the other is made: the answer of is_unique, once "
    "true, stays so, and the compare-exchange that follows fails where the other is old";

bool follows_always(const StepPair& pair, const std::vector<StepPair>& pairs) {
  return std::ranges::none_of(pairs, [&](const StepPair& other) {
    return other.first == pair.first && other.second != pair.second;
  });
}

bool may_be_last(const sync::Site& site, const std::vector<StepPair>& pairs) {
  return std::ranges::any_of(
      pairs, [&](const StepPair& pair) { return pair.first == &site && pair.second == nullptr; });
}

std::string_view why_not_swapped(const StepPair& pair, const std::vector<StepPair>& pairs) {
  using enum sync::Operation;
  if (pair.first->operation == park) {
    return holds_a_step;
  }
  if (!swapped(*pair.first, *pair.second)) {
    return pair.first->name == "share_lock.is_unique" && pair.second->operation == load ? two_loads
                                                                                        : needed;
  }
  if (pair.first->operation == load && !follows_always(pair, pairs)) {
    return needed;
  }
  return may_be_last(*pair.first, pairs) ? not_always : std::string_view();
}

void expect_all_steps(const std::vector<StepPair>& pairs) {
  for (const auto& table : site_tables()) {
    for (const sync::Site& site : table) {
      const bool seen = std::ranges::any_of(
          pairs, [&](const StepPair& pair) { return pair.first == &site || pair.second == &site; });
      // Operations of the other types are one step each, or store what they have loaded.
      if (!seen && site.name.starts_with("share_")) {
        throw std::runtime_error("no operation was seen to take the step " +
                                 std::string(site.name));
      }
    }
  }
}

}  // namespace

std::vector<AdjacentSteps> observe_adjacent_steps() {
  std::vector<StepPair> pairs;
  std::string trouble;
  test::run_in_children(
      1, 1,
      {.work = [](std::size_t, int output) { observe(output); },
       .line =
           [&](std::size_t, const std::string& line) {
             if (line[0] == '!') {
               trouble = line;
             }
             const std::size_t space = line.find(' ');
             pairs.push_back({find_site(line.substr(0, space)), find_site(line.substr(space + 1))});
           },
       .ended =
           [&](std::size_t, test::Exit exit) {
             if (!exit.is_success() || !trouble.empty()) {
               throw std::runtime_error("running every operation failed" + trouble);
             }
           }});
  expect_all_steps(pairs);
  std::vector<AdjacentSteps> adjacent;
  for (const StepPair& pair : pairs) {
    if (pair.second != nullptr) {
      adjacent.push_back({pair.first, pair.second, why_not_swapped(pair, pairs)});
    }
  }
  std::ranges::sort(adjacent, {}, [](const AdjacentSteps& steps) {
    return std::pair(steps.first->name, steps.second->name);
  });
  return adjacent;
}

std::vector<Mutation> swaps_of(const std::vector<AdjacentSteps>& adjacent) {
  std::vector<Mutation> mutations;
  for (const AdjacentSteps& steps : adjacent) {
    if (steps.not_swapped.empty()) {
      mutations.push_back(swapped(*steps.first, *steps.second).value());
    }
  }
  return mutations;
}

Mutation find_swap(const sync::Site& site, const sync::Site& next) {
  const std::vector<AdjacentSteps> adjacent = observe_adjacent_steps();
  const std::vector<Mutation> swaps = swaps_of(adjacent);
  std::string names;
  for (const Mutation& swap : swaps) {
    if (swap.site == &site && swap.next == &next) {
      return swap;
    }
    names += (names.empty() ? "" : ", ") + swap.name();
  }
  const auto steps = std::ranges::find_if(adjacent, [&](const AdjacentSteps& candidate) {
    return candidate.first == &site && candidate.second == &next;
  });
  throw std::invalid_argument((steps != adjacent.end()
                                   ? std::string(steps->not_swapped)
                                   : std::string(next.name) + " never follows " +
                                         std::string(site.name) + " within one operation") +
                              "; the swaps there are: " + names);
}

}  // namespace byre::verification
