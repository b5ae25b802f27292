// SPDX-License-Identifier: BSL-1.0
/// The steps of those who keep pointers: pins of storages, to write and to read, and writes by their pointers or
/// by the lenders' own. On byre and on the model.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "change_steps.hpp"
#include "checks.hpp"
#include "create_steps.hpp"
#include "target_state.hpp"

namespace byre::fuzz {

inline void pin(TargetState& target, StorageSlot& from, PinSlot& to) {
  trace("storage: pin");
  Pin made;
  const std::optional<Materialized> answer =
      become_alone(target, from, [&](Wait wait) { made = from.real.pin(wait); });
  if (!answer) {
    return;
  }
  if (from.expected != nullptr) {
    to.put_alias(std::move(made), from.expected, true);
  } else {
    to.put(std::move(made), {});
  }
}

/// What needs no memory.
template <class Call>
void expect_no_fault(TargetState& target, const char* what, Call call) {
  if (target.faults.during(call) != Fault::none) {
    fail("%s failed", what);
  }
}

inline void pin_to_read(TargetState& target, StorageSlot& from, PinSlot& to) {
  trace("storage: pin to read");
  const auto make = [](const Storage& source) { return source.pin_to_read(); };
  const Value* const source = from.value();
  if (source == nullptr || (source->pins == 0 && !source->has_others())) {
    return clone(target, from, to, make);
  }
  const bool is_alias = source->pins != 0 || !source->is_read_only();
  if (!is_alias && source->origin() == Origin::borrowed) {
    return clone(target, from, to, make);
  }
  Pin made;
  expect_no_fault(target, "a pin of what others write", [&] { made = make(from.real); });
  if (is_alias) {
    to.put_alias(std::move(made), from.expected, false);
  } else {
    to.put(std::move(made), Value{source->bytes, source->data});
  }
}

/// By the pin's pointer, if it may write, or else by others. Neither while a call on the storage is under way.
inline void write_by_pointer(TargetState& target, PinSlot& slot) {
  trace("pin: write by its pointer");
  Value& value = *slot.value();
  if (value.busy || value.bytes.empty()) {
    return;
  }
  if (!slot.is_writable) {
    return write_by_others(target, value);
  }
  const Written written(target, value.bytes.size());
  written.put(slot.real.mutable_data());
  written.put(value.bytes.data());
}

inline void release(PinSlot& slot) {
  trace("pin: release");
  slot.clear();
}

/// Pins the storage, or does something to a pin; by the input's choice.
inline void keep_pointer(TargetState& target, StorageSlot& storage) {
  const std::size_t choice = target.input.byte();
  PinSlot& slot = target.pins[choice % target.pins.size()];
  PinSlot& other = target.pins[choice / 4 % target.pins.size()];
  check(slot, target.storages);
  switch (choice / 16 % 8) {
    case 0:
    case 1:
      pin(target, storage, slot);
      break;
    case 2:
    case 3:
      pin_to_read(target, storage, slot);
      break;
    case 4:
    case 5:
      write_by_pointer(target, slot);
      break;
    case 6:
      release(slot);
      break;
    default:
      trace("pin: %s", choice < 128 ? "move" : "swap");
      choice < 128 ? slot.move_to(other) : slot.swap(other);
      check(other, target.storages);
  }
  check(slot, target.storages);
}

/// A clone of ordinary memory, which is a copy; pointers to the source stay valid.
template <class Slot>
void writable_clone(TargetState& target, Slot& from, Slot& to) {
  trace("%s: writable_clone", Slot::kind);
  const auto make = [](typename Slot::Real& source) { return source.writable_clone(); };
  Value* const source = from.value();
  if (source == nullptr || source->data == nullptr) {
    return clone(target, from, to, make);
  }
  if (!become_alone(target, from, [&](Wait wait) { from.real.materialize(wait); })) {
    return;
  }
  const std::byte* const place = std::as_const(from.real).data();
  typename Slot::Real made;
  source->busy = true;
  const Fault fault = target.faults.during([&] { made = make(from.real); });
  source->busy = false;
  if (std::as_const(from.real).data() != place) {
    fail("%s: writable_clone moved its source", Slot::kind);
  }
  if (fault == Fault::none) {
    Value value = value_of_clone(target, *source, stats::CopyCause::writable);
    to.put(std::move(made), std::move(value));
  } else if (fault == Fault::heap) {
    count_vain_clone(target, *source, stats::CopyCause::writable);
  }
}

/// Nobody keeps a pointer to a buffer.
inline void keep_pointer(TargetState& target, BufferSlot& slot) {
  write(target, slot);
}

template <class Slot>
void let_others_write(TargetState& target, Slot& slot) {
  trace("%s: memory that others write", Slot::kind);
  if (slot.value() != nullptr) {
    write_by_others(target, *slot.value());
  }
}

}  // namespace byre::fuzz
