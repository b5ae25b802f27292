// SPDX-License-Identifier: BSL-1.0
// Prints what each operation of the shipped share word does from each small word, step by step, as
// table.pml does of the model: one line per operation, interference and word, the word written as
// owners.waiting.copies.read_only. Fails if there is a site that no operation reaches.
#include <byre/cow/share_word.hpp>

#include <cstdint>
#include <cstdio>
#include <iostream>
#include <set>
#include <string>
#include <string_view>

namespace {

using byre::sync::Step;

constexpr std::uint64_t one_owner = 1;
constexpr std::uint64_t waiting_bit = std::uint64_t{1} << 31;
constexpr std::uint64_t one_copy = std::uint64_t{1} << 32;
constexpr std::uint64_t all_copies = (waiting_bit - 1) * one_copy;
constexpr std::uint64_t read_only_bit = std::uint64_t{1} << 63;

/// What others do while an operation runs.
enum class Interference : std::uint8_t {
  quiet,              ///< nothing; while a waiter sleeps, all copies end
  somebody_clones,    ///< after the first step
  a_copy_fails,       ///< while a waiter sleeps
  copies_just_ended,  ///< all of them, before a waiter sleeps
};

std::string text(std::uint64_t word) {
  return std::to_string(word & (waiting_bit - 1)) + (word & waiting_bit ? ".1." : ".0.") +
         std::to_string((word & all_copies) / one_copy) + (word & read_only_bit ? ".1" : ".0");
}

/// The one thread, the one word, and what has been seen of it.
struct RunState {
  std::uint64_t word = 0;
  Interference interference = Interference::quiet;
  bool has_acted = false;
  std::set<std::string_view> sites;

  void saw_step(Step step, std::uint64_t before) {
    saw(step);
    std::cout << ' ' << text(before) << ' ' << text(word);
    if (interference == Interference::somebody_clones && !has_acted) {
      word += one_owner;
    }
    has_acted = true;
  }
  void saw(Step step) {
    sites.insert(step.site->name);
    std::cout << " | " << step.site->name.substr(step.site->name.find('.') + 1);
  }
  void end_copies() { word &= ~all_copies; }
  void sleep() {
    if (interference == Interference::a_copy_fails) {
      word += one_owner - one_copy;
    } else {
      end_copies();
    }
  }
};

RunState state;

/// A Sync of one thread, that prints each step.
struct Recording {
  template <class Value>
  struct Atomic {
    explicit Atomic(Value) {}
    Value load(Step step) const { return changed(step, current()); }
    void store(Value value, Step step) { changed(step, value); }
    Value fetch_add(Value value, Step step) { return changed(step, current() + value); }
    Value fetch_sub(Value value, Step step) { return changed(step, current() - value); }
    bool compare_exchange_weak(Value& expected, Value desired, Step step) {
      const bool matches = current() == expected;
      expected = changed(step, matches ? desired : current());
      return matches;
    }

   private:
    static Value current() { return static_cast<Value>(state.word); }
    static Value changed(Step step, Value after) {
      const Value before = current();
      state.word = after;
      state.saw_step(step, before);
      return before;
    }
  };
  struct SharedMutex {
    void lock(Step) {}
    void unlock(Step) {}
    void lock_shared(Step) {}
    void unlock_shared(Step) {}
  };
  template <class Value>
  struct Plain {
    explicit Plain(Value initial) : value(initial) {}
    Value get() const { return value; }
    void set(Value other) { value = other; }
    Value value;
  };
  template <class KeepWaiting>
  static void park(const void*, KeepWaiting&& keep_waiting, Step step) noexcept {
    state.saw(step);
    if (state.interference == Interference::copies_just_ended) {
      state.end_copies();
    }
    if (keep_waiting()) {
      state.sleep();
    }
  }
  static void unpark_all(const void*, Step step) noexcept { state.saw(step); }
  static inline const unsigned spin_limit = 0;
  static void pause() noexcept {}
  static consteval std::uint64_t value_of(const byre::sync::Constant& constant) noexcept {
    return constant.value;
  }
  template <class Object>
  static Object& no_destructor() noexcept {
    static Object object;
    return object;
  }
};

using Word = byre::basic_share_word<Recording>;

struct Operation {
  const char* name;
  std::uint64_t by;  ///< needs one of these in the word: an owner or a copy
  int (*run)(Word&);
};

constexpr Operation operations[] = {
    {"add_owner", one_owner, [](Word& word) { return word.add_owner(), 0; }},
    {"drop_owner", one_owner, [](Word& word) { return int{word.drop_owner()}; }},
    {"is_writable", one_owner, [](Word& word) { return int{word.is_writable()}; }},
    {"is_unique", one_owner, [](Word& word) { return int{word.is_unique()}; }},
    {"claim_or_wait", one_owner,
     [](Word& word) { return int{word.claim(byre::Wait::allowed) == byre::Claim::steal}; }},
    {"claim_at_once", one_owner,
     [](Word& word) { return int{word.claim(byre::Wait::never) == byre::Claim::steal}; }},
    {"finish_copy", one_copy, [](Word& word) { return int{word.finish_copy()}; }},
    {"abandon_copy", one_copy, [](Word& word) { return word.abandon_copy(), 0; }},
};

constexpr std::uint64_t most = 5;  // owners, and copies: the model's fields hold two more

void print(const Operation& operation, Interference interference, std::uint64_t start) {
  state.word = start;
  state.interference = interference;
  state.has_acted = false;
  std::cout << operation.name << ' ' << static_cast<int>(interference) << ' ' << text(start);
  Word word;
  const int answer = operation.run(word);
  std::cout << " = " << answer << '\n';
}

void print(const Operation& operation) {
  for (const auto interference : {Interference::quiet, Interference::somebody_clones,
                                  Interference::a_copy_fails, Interference::copies_just_ended}) {
    for (const std::uint64_t read_only : {std::uint64_t{0}, read_only_bit}) {
      for (std::uint64_t copies = operation.by == one_copy; copies <= most; ++copies) {
        for (const std::uint64_t waiting : {std::uint64_t{0}, waiting_bit}) {
          for (std::uint64_t owners = operation.by == one_owner; owners <= most; ++owners) {
            print(operation, interference, owners + waiting + copies * one_copy + read_only);
          }
        }
      }
    }
  }
}

/// The number of sites that no operation reached.
int report_unreached() {
  int unreached = 0;
  for (const auto& site : byre::cow::share_word_sites.rows) {
    // It only reads a number for people.
    if (!state.sites.contains(site.name) && site.name != "share_word.use_count") {
      std::cerr << "no operation reached " << site.name << '\n';
      ++unreached;
    }
  }
  return unreached;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    const bool asks_for_help = std::string_view(argv[1]) == "--help";
    (asks_for_help ? std::cout : std::cerr)
        << "usage: word_table\n"
           "Prints what each operation of the share word does from each small word.\n";
    return asks_for_help ? 0 : 2;
  }
  for (const Operation& operation : operations) {
    print(operation);
  }
  return report_unreached() == 0 ? 0 : 1;
}
