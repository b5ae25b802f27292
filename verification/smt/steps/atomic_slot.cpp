// SPDX-License-Identifier: BSL-1.0
// Prints the steps of a slot, from each small state of its word and with two buffers of the data.
// The slot contains the data, or something else: nothing, or the mark of a locked slot. Words of
// the slot are printed as content.taken, words of the data as the number of owners. After the
// first, second, third or fourth step, another thread runs a whole load or store, or replaces the
// data and puts it back. No operation may wait, and each has a limit of steps.
#include <byre/cow/detail/atomic_slot.hpp>

#include "steps.hpp"

namespace byre::verification {
namespace {

struct Data final : cow::basic_header<Recorded> {
  Data() : basic_header({nullptr, 0, 0, nullptr, Origin::adopted}, nullptr) {}
};

constexpr std::uint64_t buffers = 2;
constexpr unsigned address_bits = 48;
constexpr cow::AtomicSlotLayout small{
    .address_bits = address_bits, .stock = 8, .refill_at = 3, .max_owners = 100};
static_assert(cow::atomic_slot_layout.address_bits == address_bits);

/// The address of the data of the current run.
std::uint64_t data_address = 0;

std::string text(const sync::Site& site, std::uint64_t word) {
  if (!site.name.starts_with("atomic_slot.")) {
    return std::to_string(word);
  }
  const std::uint64_t address = word % (std::uint64_t{1} << address_bits);
  return (address == data_address ? "data." : "other.") + std::to_string(word >> address_bits);
}

/// One data and one slot.
template <cow::AtomicSlotLayout layout>
struct Pair {
  using Slot = cow::basic_atomic_slot<Recorded, layout>;
  using Content = typename Slot::Content;

  unsigned load() { return is_data(slot.take()); }
  unsigned look() { return is_data(slot.look()); }
  unsigned put_data() { return removed(slot.exchange(Slot::stocked(data))); }
  unsigned put_other() { return removed(slot.exchange(Slot::emptied())); }
  unsigned replace_data_by_data() { return replace(&data, Slot::stocked(data)); }
  unsigned replace_data_by_other() { return replace(&data, Slot::locked_content()); }
  unsigned replace_other_by_data() { return replace(nullptr, Slot::stocked(data)); }
  unsigned replace_other_by_other() { return replace(nullptr, Slot::locked_content()); }

  Data data;
  Slot slot;

 private:
  unsigned is_data(Content content) const { return unsigned{content.is(&data)}; }
  unsigned removed(Content content) {
    if (content.is(&data)) {
      Slot::unstock(content);
    }
    return is_data(content);
  }
  unsigned replace(const Data* expected, Content desired) {
    Content former = desired;
    const bool is_done = slot.replace(expected, desired, former);
    removed(is_done ? former : desired);
    return unsigned{is_done};
  }
};

template <cow::AtomicSlotLayout layout>
struct Operation {
  const char* name;
  unsigned (Pair<layout>::*run)();
  /// The limit of steps, if other threads change the slot at most once. A load has more if a refill
  /// is due.
  unsigned most_steps;
  bool expects_nothing = false;
};

constexpr unsigned most_steps_of_a_refill = 5;

template <cow::AtomicSlotLayout layout>
constexpr Operation<layout> operations[] = {
    {"load", &Pair<layout>::load, 1},
    {"look", &Pair<layout>::look, 1},
    {"put_data", &Pair<layout>::put_data, 3},
    {"put_other", &Pair<layout>::put_other, 2},
    {"replace_data_by_data", &Pair<layout>::replace_data_by_data, 5},
    {"replace_data_by_other", &Pair<layout>::replace_data_by_other, 4},
    {"replace_other_by_data", &Pair<layout>::replace_other_by_data, 5, true},
    {"replace_other_by_other", &Pair<layout>::replace_other_by_other, 4, true},
};

enum class Others : unsigned { rest, load, put_data, put_other, put_both };

template <cow::AtomicSlotLayout layout>
void act(Others others, Pair<layout>& pair) {
  if (others == Others::load) {
    pair.load();
  }
  if (others == Others::put_other || others == Others::put_both) {
    pair.put_other();
    for (unsigned loads = 0; loads < small.refill_at; ++loads) {
      pair.load();  // so that `taken` alone does not tell that the data has been replaced
    }
  }
  if (others == Others::put_data || others == Others::put_both) {
    pair.put_data();
  }
}

enum class Start : unsigned { data, nothing, locked };

template <cow::AtomicSlotLayout layout>
void print(const Operation<layout>& operation, Others others, unsigned after, Start start,
           std::uint64_t taken) {
  recording.clear();
  Pair<layout> pair;
  data_address = reinterpret_cast<std::uintptr_t>(&pair.data);
  const std::uint64_t address =
      start == Start::data ? data_address : std::uint64_t{start == Start::locked};
  *recording.atomics[0] = buffers + (start == Start::data ? layout.stock - taken : 0);
  *recording.atomics[1] = address + (taken << address_bits);
  recording.others = [&] { act(others, pair); };
  recording.others_after = after;
  const bool may_refill = operation.most_steps == 1 && taken + 1 >= layout.refill_at;
  recording.most_steps = operation.most_steps + (may_refill ? most_steps_of_a_refill : 0);
  recording.begin(words("atomic_slot", operation.name, layout.stock, static_cast<unsigned>(others),
                        after, static_cast<unsigned>(start), taken));
  recording.end(words((pair.*operation.run)()));
}

/// Prints all runs from this state.
template <cow::AtomicSlotLayout layout>
void print(Start start, std::uint64_t taken) {
  for (const auto& operation : operations<layout>) {
    if (start == Start::locked && operation.expects_nothing) {
      continue;
    }
    for (const auto others :
         {Others::rest, Others::load, Others::put_data, Others::put_other, Others::put_both}) {
      const unsigned loads =
          unsigned{others == Others::load} + unsigned{std::string_view(operation.name) == "load"};
      for (unsigned after = 1; after <= (others == Others::rest ? 1U : 4U); ++after) {
        if (taken + loads < layout.stock) {  // else more threads would load than may
          print<layout>(operation, others, after, start, taken);
        }
      }
    }
  }
}

template <cow::AtomicSlotLayout layout>
void print(std::initializer_list<std::uint64_t> numbers_taken) {
  for (const std::uint64_t taken : numbers_taken) {
    print<layout>(Start::data, taken);
  }
  print<layout>(Start::nothing, 0);
  print<layout>(Start::locked, 0);
}

}  // namespace

unsigned print_atomic_slot_steps() {
  recording.text = text;
  print<small>({0, 1, 2, 3, 4, 5, 6, 7});
  print<cow::atomic_slot_layout>({0, 4094, 4095, 32767});
  return recording.report_unreached(cow::atomic_slot_sites, {});
}

}  // namespace byre::verification
