// SPDX-License-Identifier: BSL-1.0
/// Steps on pins of storages, to write and to read, and writes through their pointers, on byre and
/// on the model.
#pragma once

#include <optional>
#include <utility>

#include "size_steps.hpp"

namespace byre::programs {

template <class T>
void pin(State<T>& state, StorageSlot<T>& from, PinSlot<T>& to) {
  typename T::Pin made;
  if (!materialize_by(state, from, [&](Wait wait) { made = from.real.pin(wait); })) {
    return;
  }
  if (from.expected != nullptr) {
    to.put_alias(std::move(made), from.expected, true);
  } else {
    to.put(std::move(made), {});
  }
}

template <class T>
void pin_to_read(State<T>& state, StorageSlot<T>& from, PinSlot<T>& to) {
  const auto make = [](const typename T::Storage& source) { return source.pin_to_read(); };
  const Value* const source = from.value();
  if (source == nullptr || (source->pins == 0 && !source->has_other_writers())) {
    return clone(state, from, to, make);
  }
  const bool is_alias = source->pins != 0 || !source->is_read_only();
  if (!is_alias && source->origin() == Origin::borrowed) {
    return clone(state, from, to, make);
  }
  typename T::Pin made;
  if (state.faults.during([&] { made = make(from.real); }) != Fault::none) {
    fail("a pin of memory with other writers failed");
  }
  if (is_alias) {
    to.put_alias(std::move(made), from.expected, false);
  } else {
    to.put(std::move(made), Value{source->bytes, source->data});
  }
}

/// Writes through the pointer of the pin if the pin is writable; otherwise writes as other code
/// would. Does nothing while a call on the storage is under way.
template <class T>
void write_by_pin(State<T>& state, PinSlot<T>& slot) {
  Value& value = *slot.value();
  if (value.busy || value.nbytes() == 0) {
    return;
  }
  if (!slot.is_writable) {
    return write_by_others(state, &value);
  }
  const RangeWrite written(state, value.nbytes());
  written.put(slot.real.mutable_data());
  written.put(value);
}

template <class T>
void move_pin(State<T>& state, PinSlot<T>& from, PinSlot<T>& to) {
  if (state.choices.flag()) {
    return from.move_to(to);
  }
  from.real.swap(to.real);
  from.pinned.swap(to.pinned);
  std::swap(from.kept, to.kept);
  std::swap(from.is_writable, to.is_writable);
}

}  // namespace byre::programs
