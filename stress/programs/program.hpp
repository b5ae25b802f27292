// SPDX-License-Identifier: BSL-1.0
/// Program: applies steps, chosen by bytes, to byre and to the model, which must agree after each
/// step. A fuzzer and unit tests run one program in one thread; byre-stress runs many at once,
/// which share data and pass it to each other.
///
/// Read `materialize_by()` in change_steps.hpp first: it has the rules of a write, on which most of
/// the code depends.
#pragma once

#include <byre/error/error.hpp>
#include <byre/memory/pool.hpp>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "shared_steps.hpp"

namespace byre::programs {

/// A step and its name in a mix.
template <class T>
struct Step {
  std::string_view name;
  void (*take)(State<T>& state);
};

/// A step on two slots of one kind. Both may be the same slot. `Act` is a lambda without captures.
template <class Act, class T, class Slots>
void on_two(State<T>& state, Slots& slots) {
  const std::size_t operands = state.choices.number(2);
  auto& slot = slots[operands % slots.size()];
  auto& other = slots[operands / slots.size() % slots.size()];
  if (!is_busy(slot) && !is_busy(other)) {
    trace("  %s %td with %td", slot.kind, &slot - slots.data(), &other - slots.data());
    Act()(state, slot, other);
    [[maybe_unused]] const typename T::Unperturbed unperturbed;
    check(state, slot);
    check(state, other);
  }
}

/// A step on two buffers or two storages; the input chooses which.
template <class T, class Act>
constexpr Step<T> on_values(std::string_view name, Act) {
  return {name, [](State<T>& state) {
            state.choices.flag() ? on_two<Act>(state, state.storages)
                                 : on_two<Act>(state, state.buffers);
          }};
}
template <class T, class Act>
constexpr Step<T> on_storages(std::string_view name, Act) {
  return {name, [](State<T>& state) { on_two<Act>(state, state.storages); }};
}
template <class T, class Act>
constexpr Step<T> on_tiles(std::string_view name, Act) {
  return {name, [](State<T>& state) { on_two<Act>(state, state.tiled); }};
}
/// A step on a pin, together with another pin or a storage.
template <class T, class Act>
constexpr Step<T> on_pins(std::string_view name, Act) {
  struct WithPins {
    void operator()(State<T>& state, StorageSlot<T>& storage, StorageSlot<T>&) const {
      const std::size_t choice = state.choices.byte();
      PinSlot<T>& slot = state.pins[choice % state.pins.size()];
      PinSlot<T>& other = state.pins[choice / 4 % state.pins.size()];
      check(state, slot);
      Act()(state, storage, slot, other);
      check(state, slot);
      check(state, other);
    }
  };
  return on_storages<T>(name, WithPins());
}
/// A step that affects later steps. `Act` gets a number from 0 to 3.
template <class T, class Act>
constexpr Step<T> preparing(std::string_view name, Act) {
  return {name, [](State<T>& state) { Act()(state, static_cast<int>(state.choices.below(4))); }};
}

template <class T>
std::function<void()> nested_steps(State<T>& state, int count);

/// All steps of the language. Inputs depend on their order: append new steps at the end.
template <class T>
constexpr Step<T> language[] = {
    preparing<T>("fail_allocation",
                 [](auto& s, int after) {
                   s.faults.arm(Fault::allocation, after, 1 + int(s.choices.below(2)));
                 }),
    preparing<T>("fail_copy", [](auto& s, int after) { s.faults.arm(Fault::copy, after); }),
    preparing<T>("fail_new", [](auto& s, int after) { s.faults.arm(Fault::heap, after); }),
    preparing<T>("throw_in_sink", [](auto& s, int) { s.sinks_throw = !s.sinks_throw; }),
    preparing<T>("trim_pool", [](auto&, int) { default_pool().trim(); }),
    preparing<T>("limit_pool",
                 [](auto&, int mib) { default_pool().set_limit_nbytes(std::size_t(mib) << 20); }),
    preparing<T>("nest_in_copy",
                 [](auto& s, int count) { s.faults.arm_nested_steps(nested_steps(s, count + 1)); }),
    preparing<T>("nest_in_new",
                 [](auto& s, int count) { s.steps_in_new = nested_steps(s, count + 1); }),

    on_values<T>("allocate", [](auto& s, auto& to, auto&) { allocate(s, to); }),
    on_values<T>("adopt", [](auto& s, auto& to, auto&) { adopt(s, to); }),
    on_values<T>("borrow", [](auto& s, auto& to, auto&) { borrow(s, to); }),
    on_values<T>("map", [](auto& s, auto& to, auto&) { map_file(s, to); }),
    on_values<T>("clone", [](auto& s, auto& to, auto& from) { lazy_clone(s, from, to); }),
    on_values<T>("copy", [](auto& s, auto& to, auto& from) { copy(s, from, to); }),
    on_values<T>("assign", [](auto& s, auto& to, auto& from) { assign(s, from, to); }),
    on_values<T>("move", [](auto&, auto& to, auto& from) { move_value(from, to); }),
    on_values<T>("swap", [](auto&, auto& left, auto& right) { swap_values(left, right); }),
    on_values<T>("drop", [](auto&, auto& slot, auto&) { slot.clear(); }),
    on_values<T>("materialize", [](auto& s, auto& slot, auto&) { materialize(s, slot); }),
    on_values<T>("write", [](auto& s, auto& slot, auto&) { write(s, slot); }),
    on_values<T>("write_range", [](auto& s, auto& slot, auto&) { write_range(s, slot); }),
    on_values<T>("others_write",
                 [](auto& s, auto& slot, auto&) { write_by_others(s, slot.value()); }),
    on_values<T>("resize", [](auto& s, auto& slot, auto&) { resize(s, slot); }),
    on_values<T>("shrink", [](auto& s, auto& slot, auto&) { shrink_to_fit(s, slot); }),
    on_values<T>("writable_clone",
                 [](auto& s, auto& to, auto& from) { writable_clone(s, from, to); }),

    on_pins<T>("pin", [](auto& s, auto& storage, auto& to, auto&) { pin(s, storage, to); }),
    on_pins<T>("pin_to_read",
               [](auto& s, auto& storage, auto& to, auto&) { pin_to_read(s, storage, to); }),
    on_pins<T>("write_by_pin", [](auto& s, auto&, auto& slot, auto&) { write_by_pin(s, slot); }),
    on_pins<T>("release_pin", [](auto&, auto&, auto& slot, auto&) { slot.clear(); }),
    on_pins<T>("move_pin", [](auto& s, auto&, auto& from, auto& to) { move_pin(s, from, to); }),

    on_values<T>("hand", [](auto& s, auto& from, auto&) { hand(s, from); }),
    on_values<T>("take", [](auto& s, auto& to, auto&) { take(s, to); }),
    on_storages<T>("place_read", [](auto& s, auto& to, auto&) { place_read(s, to); }),
    on_storages<T>("place_clone", [](auto& s, auto& to, auto&) { place_clone(s, to); }),
    on_storages<T>("place_put",
                   [](auto& s, auto& to, auto& from) { place_put(s, from, to, false); }),
    on_storages<T>("place_steal",
                   [](auto& s, auto& to, auto& from) { place_put(s, from, to, true); }),

    on_tiles<T>("make_tiles", [](auto& s, auto& slot, auto&) { make_tiles(s, slot); }),
    on_tiles<T>("clone_tiles", [](auto& s, auto& to, auto& from) { lazy_clone(s, from, to); }),
    on_tiles<T>("move_tiles", [](auto& s, auto& to, auto& from) { move_tiles(s, from, to); }),
    on_tiles<T>("swap_tiles", [](auto&, auto& left, auto& right) { swap_tiles(left, right); }),
    on_tiles<T>("drop_tiles", [](auto& s, auto& slot, auto&) { drop_tiles(s, slot); }),
    on_tiles<T>("write_tile", [](auto& s, auto& slot, auto&) { write_tile(s, slot); }),
    on_tiles<T>("write_tiles", [](auto& s, auto& slot, auto&) { write_tiles(s, slot); }),
    on_tiles<T>("append_tiles", [](auto& s, auto& slot, auto&) { append_tiles(s, slot); }),
    on_tiles<T>("truncate_tiles", [](auto& s, auto& slot, auto&) { truncate_tiles(s, slot); }),
    on_tiles<T>("resize_tiles", [](auto& s, auto& slot, auto&) { resize_tiles(s, slot); }),
    on_tiles<T>("read_tiles", [](auto& s, auto& slot, auto&) { read_tiles(s, slot); }),
    on_tiles<T>("compare_tiles",
                [](auto&, auto& left, auto& right) { compare_tiles(left, right); }),
    on_tiles<T>("hand_tiles", [](auto& s, auto& from, auto&) { hand(s, from); }),
    on_tiles<T>("take_tiles", [](auto& s, auto& to, auto&) { take(s, to); }),

    {"fork",
     [](State<T>& state) {  // runs other steps in a child process, if `fork` is set
       if (state.fork && state.depth == 0) {
         state.fork();
       }
     }},
    on_storages<T>("version", [](auto&, auto& slot, auto&) { ask_version(slot); }),
};

/// Chooses and takes one step.
template <class T>
void take_step(State<T>& state) {
  state.choices.begin_step();
  const auto weight_of = [&](const Step<T>& step) {
    const auto found = state.limits.mix.find(step.name);
    return found == state.limits.mix.end() ? 0 : found->second;
  };
  std::uint64_t sum = 0;
  for (const Step<T>& step : language<T>) {
    sum += weight_of(step);
  }
  std::uint64_t drawn = state.choices.number(2) % sum;
  const Step<T>* step = language<T>;
  for (; drawn >= weight_of(*step); ++step) {
    drawn -= weight_of(*step);
  }
  trace("%.*s", int(step->name.size()), step->name.data());
  step->take(state);
}

/// Returns a function that takes `count` steps in the middle of another step, as if other threads
/// took them at the worst time. Steps may be nested in these steps once more.
template <class T>
std::function<void()> nested_steps(State<T>& state, int count) {
  if (state.depth == 2) {
    return nullptr;
  }
  return [&state, count] {
    trace("  nested steps:");
    ++state.depth;
    for (int at = 0; at < count; ++at) {
      take_step(state);
    }
    --state.depth;
    trace("  end of nested steps");
  };
}

/// Used by one thread. on_copy() records the copies that this thread makes.
template <class T>
class Program {
 public:
  Program(Choices choices, Memory& memory, Shared<T>& shared, std::size_t number,
          const Limits& limits)
      : state_(choices, memory, shared, number, limits) {}

  State<T>& state() noexcept { return state_; }
  bool is_over() const noexcept { return state_.choices.is_empty(); }

  /// One step, and the steps nested in it.
  void step() {
    Program* const outer = std::exchange(current(), this);
    take_step(state_);
    check_predictions(state_);
    current() = outer;
  }
  void run(std::size_t steps) {
    for (; steps != 0 && !is_over(); --steps) {
      step();
    }
  }

  /// Releases all values: first the storages, then their pins, which keep the bytes alive. Checks
  /// that the counters of byre agree with the model.
  void end() {
    check_slots(state_);
    const auto clear = [](auto& slots) {
      for (auto& slot : slots) {
        slot.clear();
      }
    };
    clear(state_.buffers);
    clear(state_.storages);
    for (PinSlot<T>& slot : state_.pins) {
      check(state_, slot);
    }
    clear(state_.pins);
    for (TiledSlot<T>& slot : state_.tiled) {
      drop_tiles(state_, slot);
    }
    if (state_.is_only_program) {
      state_.shared.clear();
      check_predictions(state_);
      if (state_.memory.live_bytes != 0 || state_.memory.count_mapped_files() != 0) {
        fail("the model still has data, or a file is still mapped");
      }
    }
  }

  /// Install this as a copy sink while programs run, once for all programs.
  static void on_copy(const stats::CopyEvent& event) {
    Program* const program = current();
    if (program == nullptr) {
      return;
    }
    const Faults::Pause pause;
    State<T>& state = program->state_;
    state.seen_copies.push_back({event.nbytes, event.cause});
    if (state.sinks_throw) {
      ++state.thrown;
      throw std::runtime_error("the sink is full");
    }
  }

 private:
  static Program*& current() noexcept {
    static constinit thread_local Program* program = nullptr;
    return program;
  }

  State<T> state_;
};

}  // namespace byre::programs
