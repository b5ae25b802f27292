// SPDX-License-Identifier: BSL-1.0
// Runs all sequences of up to 9 operations on the share word and on the textbook form, without
// operations that would wait. Both forms have to return equal answers, and to count equal owners
// and copies after each operation.
#include <byre/cow/share_word.hpp>

#include <iostream>
#include <string>
#include <vector>

#include "../recording.hpp"
#include "share_lock.hpp"

namespace byre::verification {
namespace {

constexpr std::size_t most_operations = 9;

enum Operation : std::size_t { add, drop, claim, claim_at_once, finish, abandon };
constexpr std::string_view names[] = {"add", "drop", "claim", "claim-at-once", "finish", "abandon"};

/// Each operation returns true if it steals or frees.
template <class Form>
constexpr bool (*operations[])(Form&) = {
    [](Form& form) { return form.add_owner(), false; },
    [](Form& form) { return form.drop_owner(); },
    [](Form& form) { return form.claim(Wait::allowed) == Claim::steal; },
    [](Form& form) { return form.claim(Wait::never) == Claim::steal; },
    [](Form& form) { return form.finish_copy(); },
    [](Form& form) { return form.abandon_copy(), false; },
};

struct State {
  std::uint64_t owners;
  std::uint64_t copies;
  friend bool operator==(State, State) = default;

  bool allows(Operation operation) const noexcept {
    return operation == claim    ? owners >= 2 || (owners == 1 && copies == 0)
           : operation >= finish ? copies >= 1
                                 : owners >= 1;
  }
};

[[noreturn]] void fail(const std::vector<Operation>& sequence, const char* what) {
  std::cerr << "the share word and the textbook form differ in " << what << ", after:";
  for (const Operation operation : sequence) {
    std::cerr << ' ' << names[operation];
  }
  std::cerr << '\n';
  std::exit(1);
}

/// Returns the state of both forms after the sequence: no owners and no copies if the last
/// operation frees the data.
State run(const std::vector<Operation>& sequence) {
  recording.clear();
  basic_share_word<Recorded> word;
  basic_share_lock<Recorded> lock;
  bool answer = false;
  for (const Operation operation : sequence) {
    answer = operations<basic_share_word<Recorded>>[operation](word);
    if (answer != operations<basic_share_lock<Recorded>>[operation](lock)) {
      fail(sequence, "the answer");
    }
  }
  if (answer && (sequence.back() == drop || sequence.back() == finish)) {
    return {};  // freed
  }
  const std::uint64_t bits = *recording.atomics[0];
  const std::uint64_t owners = *recording.atomics[1];
  const State state{bits & 0x7FFF'FFFF, bits >> 32};
  if (state != State{owners, *recording.atomics[2] - owners} || (bits >> 31 & 1) != 0) {
    fail(sequence, "the owners and copies");
  }
  if (word.use_count() != lock.use_count()) {
    fail(sequence, "use_count()");
  }
  if (owners != 0 && word.is_unique() != lock.is_unique()) {
    fail(sequence, "is_unique()");
  }
  return state;
}

std::size_t run_all(std::vector<Operation>& sequence) {
  const State state = run(sequence);
  std::size_t count = 1;
  if (sequence.size() < most_operations) {
    for (const Operation operation : {add, drop, claim, claim_at_once, finish, abandon}) {
      if (state.allows(operation)) {
        sequence.push_back(operation);
        count += run_all(sequence);
        sequence.pop_back();
      }
    }
  }
  return count;
}

}  // namespace
}  // namespace byre::verification

int main() {
  byre::verification::recording.text = [](const byre::sync::Site&, std::uint64_t) {
    return std::string();
  };
  std::vector<byre::verification::Operation> sequence;
  std::cout << byre::verification::run_all(sequence)
            << " sequences: the share word and the textbook form agree\n";
}
