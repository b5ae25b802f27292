// SPDX-License-Identifier: BSL-1.0
// Every view times every operation that writes: programs that read what sees the memory after a write through the view,
// and after one more write. With and without the pass they do the same, or refuse the same. Each runs in one target, by
// turns; in all of them with BYRE_FUNCTIONALIZATION_TARGETS=all in the environment.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <span>

#include "support/random.hpp"
#include "targets.hpp"
#include "tensor_programs/generate.hpp"
#include "tensor_programs/shrink.hpp"
#include "tensor_programs/user_operators.hpp"

namespace byre::test {
namespace {

std::vector<std::string> operators_of(Effect effect) {
  define_user_operators();
  std::vector<std::string> names;
  for (const functional::Operator* const op : functional::operators()) {
    if (op->effect() == effect) {
      names.push_back(op->name());
    }
  }
  return names;
}

std::span<const Target> targets_at(std::uint64_t turn) {
  static const char* const given = std::getenv("BYRE_FUNCTIONALIZATION_TARGETS");
  const std::span<const Target> all = all_targets();
  return given != nullptr && std::string(given) == "all" ? all : all.subspan(turn % all.size(), 1);
}

bool is_done(const std::string& op, const Program& program, const Outcome& outcome) {
  for (std::size_t index = 0; index < program.body.size(); ++index) {
    if (program.body[index].op == op &&
        outcome.trace.happened[index] == static_cast<char>(Happened::done)) {
      return true;
    }
  }
  return false;
}

TEST(EveryPair, of_a_view_and_a_write_does_what_it_does_in_memory) {
  constexpr std::uint64_t programs_of_each = 40;
  const std::uint64_t first = seed();
  std::uint64_t number = first;
  std::uint64_t pairs = 0;
  std::uint64_t done = 0;
  std::set<std::string> written_views;
  std::set<std::string> writes;
  for (const std::string& view : operators_of(Effect::view)) {
    for (const std::string& write : operators_of(Effect::write)) {
      ++pairs;
      std::uint64_t written = 0;
      for (const std::uint64_t end = number + programs_of_each; number < end; ++number) {
        const Program program = generate_pair(number, view, write);
        const Outcome expected = run_reference(program);
        written += is_done(view, program, expected) && is_done(write, program, expected) ? 1U : 0U;
        for (const Target& target : targets_at(number)) {
          if (!difference(expected, target.run(program)).empty()) {
            const Program smallest = shrunk(program, [&](const Program& smaller) {
              return !difference(smaller, target).empty();
            });
            FAIL() << view << " and " << write << ", BYRE_TEST_SEED=" << first << ": "
                   << difference(smallest, target) << "\n"
                   << to_string(smallest);
          }
        }
      }
      if (written != 0) {
        written_views.insert(view);
        writes.insert(write);
        ++done;
      }
    }
  }
  std::printf("%llu of %llu pairs, of %llu programs each, in %zu targets\n",
              static_cast<unsigned long long>(done), static_cast<unsigned long long>(pairs),
              static_cast<unsigned long long>(programs_of_each), targets_at(0).size());
  EXPECT_GE(done, pairs - pairs / 20) << "pairs whose operators were done one after the other";
  for (const std::string& view : operators_of(Effect::view)) {
    EXPECT_TRUE(written_views.contains(view)) << view << " was never written through";
  }
  for (const std::string& write : operators_of(Effect::write)) {
    EXPECT_TRUE(writes.contains(write)) << write << " was refused everywhere";
  }
}

}  // namespace
}  // namespace byre::test
