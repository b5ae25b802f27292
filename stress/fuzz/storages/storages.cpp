// SPDX-License-Identifier: BSL-1.0
/// Programs over buffers and storages: the input's bytes choose every step, and byre has to do what
/// the model of eager copies does.
#include <byre/error/error.hpp>
#include <byre/memory/pool.hpp>

#include <functional>
#include <stdexcept>

#include "change_steps.hpp"
#include "checks.hpp"
#include "create_steps.hpp"
#include "pin_steps.hpp"
#include "refused_steps.hpp"
#include "type_specific_steps.hpp"

namespace byre::fuzz {
namespace {

constinit std::size_t warnings = 0;

class Program {
 public:
  explicit Program(Input input) : target_(input) {}

  void run() {
    while (!target_.input.is_empty()) {
      step();
      check_predictions(target_, seen_copies_);
    }
    for (BufferSlot& slot : target_.buffers) {
      check(slot);
    }
    for (StorageSlot& slot : target_.storages) {
      check(slot);
    }
    check_pins();
    check_sharing(target_);
    end();
  }

 private:
  void check_pins() {
    for (PinSlot& slot : target_.pins) {
      check(slot, target_.storages);
    }
  }

  /// Everything is released, and was counted. What was pinned is there as long as its pins.
  void end() {
    for (BufferSlot& slot : target_.buffers) {
      slot.clear();
    }
    for (StorageSlot& slot : target_.storages) {
      slot.clear();
    }
    check_pins();
    for (PinSlot& slot : target_.pins) {
      slot.clear();
    }
    check_predictions(target_, seen_copies_);
    if (target_.model.counted().live_bytes != 0) {
      fail("the model itself has data left");
    }
    if (target_.has_mapped && count_mapped_files() != 0) {
      fail("a file is still mapped");
    }
    if (warnings != thrown_) {
      fail("%zu warnings, and sinks threw %zu times", warnings, thrown_);
    }
  }

  void step() {
    const std::uint8_t choice = target_.input.byte();
    if (choice % 8 == 0) {
      prepare();
    } else if (choice % 8 < 5) {
      step_on(choice / 8, target_.buffers);
    } else {
      step_on(choice / 8, target_.storages);
    }
  }

  /// What later steps meet.
  void prepare() {
    const std::size_t choice = target_.input.below(8);
    const int after = static_cast<int>(target_.input.below(4));
    trace("prepare %zu, after %d", choice, after);
    switch (choice) {
      case 0:
        return target_.faults.arm(Fault::allocation, after);
      case 1:
        return target_.faults.arm(Fault::copy, after);
      case 2:
        return target_.faults.arm(Fault::heap, after);
      case 3:
        sinks_throw_ = !sinks_throw_;
        return;
      case 4:
        return default_pool().trim();
      case 5:
        return default_pool().set_limit_nbytes(static_cast<std::size_t>(after) << 20);
      default:
        // Nested steps run during a copy; they may be nested once more.
        if (depth_ < 2) {
          target_.faults.arm_nested_steps([this, after] { nested_steps(after + 1); });
        }
    }
  }

  void nested_steps(int steps) {
    trace("  in the middle of the copy:");
    ++depth_;
    for (int at = 0; at < steps; ++at) {
      step();
    }
    --depth_;
    trace("  and on with it");
  }

  template <class Slots>
  void step_on(std::size_t choice, Slots& slots) {
    const std::size_t operands = target_.input.byte();
    auto& slot = slots[operands % slots.size()];
    auto& other = slots[operands / slots.size() % slots.size()];
    if (is_busy(slot) || (needs_other(choice) && is_busy(other))) {
      return;
    }
    step_on(choice, slot, other);
    check(slot);
    check(other);
  }

  static bool needs_other(std::size_t choice) noexcept {
    return (choice % 16 >= 4 && choice % 16 <= 8) || choice % 16 == 13;
  }

  template <class Slot>
  void step_on(std::size_t choice, Slot& slot, Slot& other) {
    switch (choice) {
      case 15:
      case 31:
        return keep_pointer(target_, slot);
      case 17:
        return adopt_with_others(target_, slot);
      case 29:
        return writable_clone(target_, other, slot);
      case 27:
        return shrink_to_fit(target_, slot);
      case 30:
        return let_others_write(target_, slot);
      default:
        return step_on_values(choice, slot, other);
    }
  }

  template <class Slot>
  void step_on_values(std::size_t choice, Slot& slot, Slot& other) {
    switch (choice % 16) {
      case 0:
        return allocate(target_, slot);
      case 1:
        return adopt(target_, slot);
      case 2:
        return borrow(target_, slot);
      case 3:
        return map_file(target_, slot);
      case 4:
      case 5:
        return lazy_clone(target_, other, slot);
      case 6:
        return copy(target_, other, slot);
      case 7:
        return move_value(other, slot);
      case 8:
        return swap_values(other, slot);
      case 9:
        return drop(slot);
      case 10:
        return materialize(target_, slot);
      case 11:
        return resize(target_, slot);
      case 12:
        return ask_for_what_cannot_be(target_, slot);
      case 13:
        return special(target_, other, slot);
      default:
        return write(target_, slot);
    }
  }

  void on_copy(const stats::CopyEvent& event) {
    const Faults::Pause pause(target_.faults);
    seen_copies_.push_back({event.nbytes, event.cause});
    if (sinks_throw_) {
      ++thrown_;
      throw std::runtime_error("the sink is full");
    }
  }

  TargetState target_;
  std::vector<Copy> seen_copies_;
  bool sinks_throw_ = false;
  std::size_t thrown_ = 0;
  int depth_ = 0;
  stats::InstalledSink sink_{[this](const stats::CopyEvent& event) { on_copy(event); }};
};

/// Every program finds the process alike: an empty pool, and made what a thread's first buffer makes.
void prepare_process() {
  static const bool first_time = [] {
    set_warning_handler([](const char*) noexcept { ++warnings; });
    Buffer::allocate(1);
    mappable_files();
    return true;
  }();
  static_cast<void>(first_time);
  default_pool().set_limit_nbytes(std::size_t{4} << 20);
  default_pool().trim();
  warnings = 0;
}

}  // namespace

const char* const target_name = "storages";

}  // namespace byre::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t nbytes) {
  byre::fuzz::prepare_process();
  byre::fuzz::Program(byre::fuzz::Input(bytes, nbytes)).run();
  return 0;
}
