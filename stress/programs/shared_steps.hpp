// SPDX-License-Identifier: BSL-1.0
/// Steps between programs: they pass values to other programs, and use storages that all programs
/// share.
#pragma once

#include <mutex>
#include <shared_mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "pin_steps.hpp"
#include "tile_steps.hpp"

namespace byre::programs {

/// Puts a lazy clone into the mailbox of a program, unless the mailbox is full.
template <class T, class Slot>
void hand(State<T>& state, Slot& from) {
  auto& mailbox = state.shared.mailboxes[state.choices.byte() % state.shared.mailboxes.size()];
  Slot made;
  lazy_clone(state, from, made);
  const std::lock_guard lock(mailbox.mutex);
  auto& values = std::get<std::vector<Slot>>(mailbox.values);
  if (values.size() < Shared<T>::most_in_mailbox) {
    values.push_back(std::move(made));
  }
}

template <class T, class Slot>
void take(State<T>& state, Slot& to) {
  auto& mailbox = state.shared.mailboxes[state.thread];
  Slot taken;
  {
    const std::lock_guard lock(mailbox.mutex);
    auto& values = std::get<std::vector<Slot>>(mailbox.values);
    if (values.empty()) {
      return;
    }
    taken = std::move(values.front());
    values.erase(values.begin());
  }
  to = std::move(taken);
}

template <class T>
auto& choose_place(State<T>& state) {
  return state.shared.places[state.choices.below(state.shared.places.size())];
}

/// Clones a storage that other threads clone concurrently. Therefore neither the storage nor its
/// value in the model may be written.
template <class T>
void clone_shared(State<T>& state, const StorageSlot<T>& from, StorageSlot<T>& to) {
  if (from.expected == nullptr) {
    return to.clear();
  }
  typename T::Storage made;
  const Fault fault = state.faults.during([&] { made = from.real.lazy_clone(); });
  if (fault == Fault::none) {
    Value value = state.lazy_clone(*from.expected);
    to.put(std::move(made), std::move(value));
  } else {
    count_failed_clone(state, *from.expected, std::nullopt);
  }
}

/// Reads and clones a storage through another handle. Other threads may clone and replace the
/// storage meanwhile.
template <class T>
void place_read(State<T>& state, StorageSlot<T>& to) {
  StorageSlot<T> seen;
  {
    auto& place = choose_place(state);
    const std::shared_lock lock(place.mutex);
    seen = place.slot;
  }
  if (seen.expected == nullptr) {
    return;
  }
  const typename T::Pin pin = seen.real.pin_to_read();
  state.lazy_clone(*seen.expected);
  check_value_bytes(std::as_const(seen.real), *seen.expected);
  check_value_bytes(pin, *seen.expected);
  clone_shared(state, seen, to);
}

/// Clones a storage through the handle that all threads share.
template <class T>
void place_clone(State<T>& state, StorageSlot<T>& to) {
  auto& place = choose_place(state);
  {
    const std::shared_lock lock(place.mutex);
    clone_shared(state, place.slot, to);
  }
  if (state.choices.flag()) {
    write(state, to);
  }
}

/// Replaces a shared storage by a clone. If `steals`, also clones the old storage and writes that
/// clone while other threads may still copy the data. The clone becomes the last owner when the
/// other threads have dropped their owners.
template <class T>
void place_put(State<T>& state, StorageSlot<T>& from, StorageSlot<T>& to, bool steals) {
  StorageSlot<T> made;
  lazy_clone(state, from, made);
  auto& place = choose_place(state);
  {
    const std::unique_lock lock(place.mutex);
    std::swap(place.slot, made);
  }
  if (steals) {
    // Other threads may have handles of the storage, so the storage must not be written. A clone of
    // the storage may be written.
    clone_shared(state, made, to);
    made.clear();
    write(state, to);
  }
}

}  // namespace byre::programs
