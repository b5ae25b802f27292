// SPDX-License-Identifier: BSL-1.0
// Prints the steps of each operation of the share word, from every word of up to 5 owners and 5
// copies. Words are printed as owners.waiting.copies.read_only. Only a claim that may wait may park
// or pause. The program fails if another operation parks or pauses, or takes more than
// most_steps_without_a_wait steps.
#include <byre/cow/share_word.hpp>

#include <string_view>

#include "../../known_wrong/published_protocols.hpp"
#include "steps.hpp"

namespace byre::verification {
namespace {

constexpr std::uint64_t one_owner = 1;
constexpr std::uint64_t waiting_bit = std::uint64_t{1} << 31;
constexpr std::uint64_t one_copy = std::uint64_t{1} << 32;
constexpr std::uint64_t all_copies = (waiting_bit - 1) * one_copy;
constexpr std::uint64_t read_only_bit = std::uint64_t{1} << 63;
constexpr std::uint64_t several = 2;  // the owners in a step that adds or removes several

/// The actions of other threads while an operation runs.
enum class Interference : std::uint8_t {
  quiet,              ///< none, except that all copies end while a waiter sleeps
  another_clones,     ///< another owner makes a lazy clone after the first step
  a_copy_fails,       ///< one copy fails while a waiter sleeps
  copies_just_ended,  ///< all copies end before a waiter sleeps
};

std::string text(std::uint64_t word) {
  return std::to_string(word & (waiting_bit - 1)) + (word & waiting_bit ? ".1." : ".0.") +
         std::to_string((word & all_copies) / one_copy) + (word & read_only_bit ? ".1" : ".0");
}

using ShareWord = basic_share_word<Recorded>;

template <class Word>
struct Operation {
  const char* name;
  std::uint64_t by;  ///< one_owner or one_copy: the word must count a caller of this kind
  int (*run)(Word&);
  bool may_wait = false;
  std::uint64_t least = 1;  ///< the word must count so many
};

template <class Word>
constexpr Operation<Word> operations[] = {
    {"add_owner", one_owner, [](Word& word) { return word.add_owner(), 0; }},
    {"add_owners", one_owner, [](Word& word) { return word.add_owners(several), 0; }},
    {"drop_owners", one_owner, [](Word& word) { return word.drop_owners(several), 0; }, false,
     several + 1},
    {"drop_owner", one_owner, [](Word& word) { return int{word.drop_owner()}; }},
    {"is_writable", one_owner, [](Word& word) { return int{word.is_writable()}; }},
    {"is_unique", one_owner, [](Word& word) { return int{word.is_unique()}; }},
    {"claim_or_wait", one_owner,
     [](Word& word) { return int{word.claim(Wait::allowed) == Claim::steal}; }, true},
    {"claim_at_once", one_owner,
     [](Word& word) { return int{word.claim(Wait::never) == Claim::steal}; }},
    {"claim_in_order", one_owner,
     [](Word& word) { return int{word.claim_in_order() == Claim::steal}; }},
    {"finish_copy", one_copy, [](Word& word) { return int{word.finish_copy()}; }},
    {"abandon_copy", one_copy, [](Word& word) { return word.abandon_copy(), 0; }},
    {"is_sole_copier", one_copy, [](Word& word) { return int{word.is_sole_copier()}; }},
    {"add_copy", one_copy, [](Word& word) { return word.add_copy(), 0; }},
};

/// The steps are a load and a compare-exchange, and both again if another thread has taken a step
/// in between. Other threads take at most one step.
constexpr unsigned most_steps_without_a_wait = 4;
constexpr std::uint64_t most = 5;  // the limit of owners and of copies

void interfere(Interference interference, std::uint64_t& word) {
  const auto end_copies = [&word] { word &= ~all_copies; };
  recording.asleep = end_copies;
  switch (interference) {
    case Interference::quiet:
      break;
    case Interference::another_clones:
      recording.others = [&word] { word += one_owner; };
      break;
    case Interference::a_copy_fails:
      recording.asleep = [&word] { word += one_owner - one_copy; };
      break;
    case Interference::copies_just_ended:
      recording.before_check = end_copies;
      break;
  }
}

/// Brings the word to these numbers by calling operations. A wrong form may also count copies
/// outside the word. The operations update that count too, so a wait for the copies is detected.
template <class Word>
void bring_to(Word& word, std::uint64_t owners, std::uint64_t copies) {
  const std::uint64_t kept = owners != 0 ? owners : 1;
  for (std::uint64_t number = 1; number < kept + copies; ++number) {
    word.add_owner();
  }
  for (std::uint64_t copy = 0; copy < copies; ++copy) {
    static_cast<void>(word.claim(Wait::never));
  }
  if (owners == 0) {
    static_cast<void>(word.drop_owner());
  }
  if (*recording.atomics[0] != owners + copies * one_copy) {
    recording.fail("starts at " + text(*recording.atomics[0]));
  }
}

template <class Word>
void print(const Operation<Word>& operation, Interference interference, std::uint64_t start) {
  recording.clear();
  Word word;
  recording.line = std::string(operation.name) + ' ' +
                   std::to_string(static_cast<int>(interference)) + ' ' + text(start);
  recording.may_wait = operation.may_wait;
  if (!operation.may_wait) {
    recording.most_steps = most_steps_without_a_wait;
  }
  bring_to(word, start & (waiting_bit - 1), (start & all_copies) / one_copy);
  *recording.atomics[0] = start;
  interfere(interference, *recording.atomics[0]);
  recording.begin(recording.line);
  const int answer = operation.run(word);
  recording.end(std::to_string(answer));
}

template <class Word>
void print(const Operation<Word>& operation) {
  for (const auto interference : {Interference::quiet, Interference::another_clones,
                                  Interference::a_copy_fails, Interference::copies_just_ended}) {
    for (const std::uint64_t read_only : {std::uint64_t{0}, read_only_bit}) {
      for (std::uint64_t copies = operation.by == one_copy; copies <= most; ++copies) {
        for (const std::uint64_t waiting : {std::uint64_t{0}, waiting_bit}) {
          std::uint64_t owners = operation.by == one_owner ? operation.least : 0;
          for (; owners <= most; ++owners) {
            print(operation, interference, owners + waiting + copies * one_copy + read_only);
          }
        }
      }
    }
  }
}

template <class Word>
void print() {
  for (const auto& operation : operations<Word>) {
    print(operation);
  }
}

/// `drop_waits`: prints the steps of a wrong form whose drop waits for copies. The program then
/// fails.
unsigned print_share_word_steps(bool drop_waits) {
  recording.text = [](const sync::Site&, std::uint64_t word) { return text(word); };
  drop_waits ? print<DropWaitsForCopies<Recorded>>() : print<ShareWord>();
  // use_count() returns a number for information only, so no operation above calls it.
  return recording.report_unreached(cow::share_word_sites, {"share_word.use_count"});
}

}  // namespace
}  // namespace byre::verification

int main(int argc, char** argv) {
  using namespace byre::verification;
  const bool drop_waits = argc == 2 && std::string_view(argv[1]) == "--drop-waits";
  const unsigned unreached = print_share_word_steps(drop_waits) + print_atomic_slot_steps() +
                             print_ref_count_steps() + print_bucket_steps();
  return unreached == 0 ? 0 : 1;
}
