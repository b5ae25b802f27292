// SPDX-License-Identifier: BSL-1.0
// All sequences of up to 9 operations that need not wait, on the share word and on the textbook form: both give the
// same answers, and count the same owners and copies after each.
#include <byre/cow/share_word.hpp>

#include <iostream>
#include <string>
#include <vector>

#include "../recording.hpp"
#include "share_lock.hpp"

namespace byre::verification {
namespace {

constexpr std::size_t most_operations = 9;

enum class Operation : std::uint8_t { add, drop, claim, claim_at_once, finish, abandon };
constexpr Operation operations[] = {Operation::add,    Operation::drop,
                                    Operation::claim,  Operation::claim_at_once,
                                    Operation::finish, Operation::abandon};
constexpr std::string_view names[] = {"add", "drop", "claim", "claim-at-once", "finish", "abandon"};

struct State {
  std::uint64_t owners;
  std::uint64_t copies;
  friend bool operator==(State, State) = default;

  bool allows(Operation operation) const noexcept {
    switch (operation) {
      case Operation::claim:
        return owners >= 2 || (owners == 1 && copies == 0);
      case Operation::finish:
      case Operation::abandon:
        return copies >= 1;
      default:
        return owners >= 1;
    }
  }
};

/// Steals, or frees.
template <class Form>
bool answer_of(Form& form, Operation operation) {
  switch (operation) {
    case Operation::add:
      form.add_owner();
      return false;
    case Operation::drop:
      return form.drop_owner();
    case Operation::claim:
      return form.claim(Wait::allowed) == Claim::steal;
    case Operation::claim_at_once:
      return form.claim(Wait::never) == Claim::steal;
    case Operation::finish:
      return form.finish_copy();
    case Operation::abandon:
      form.abandon_copy();
      return false;
  }
  return false;
}

[[noreturn]] void fail(const std::vector<Operation>& sequence, const char* what) {
  std::cerr << "the share word and the textbook form differ in " << what << ", after:";
  for (const Operation operation : sequence) {
    std::cerr << ' ' << names[static_cast<std::size_t>(operation)];
  }
  std::cerr << '\n';
  std::exit(1);
}

/// The state that both forms are in after the sequence; nothing counted if its last operation frees.
State run(const std::vector<Operation>& sequence) {
  recording.clear();
  basic_share_word<Recorded> word;
  basic_share_lock<Recorded> lock;
  bool answer = false;
  for (const Operation operation : sequence) {
    answer = answer_of(word, operation);
    if (answer != answer_of(lock, operation)) {
      fail(sequence, "the answer");
    }
  }
  if (answer && (sequence.back() == Operation::drop || sequence.back() == Operation::finish)) {
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
    for (const Operation operation : operations) {
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
            << " sequences, with equal answers and states\n";
}
