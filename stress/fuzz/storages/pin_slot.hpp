// SPDX-License-Identifier: BSL-1.0
/// PinSlot: a pin of a storage beside what the model has of it. It is an alias of the storage that it pins, or
/// reads what nobody writes.
#pragma once

#include <byre/storage/pin.hpp>

#include <memory>
#include <utility>

#include "model.hpp"

namespace byre::fuzz {

struct PinSlot {
  using Real = Pin;
  static constexpr const char* kind = "pin";

  Pin real;
  std::shared_ptr<Value> pinned;  ///< counts as a pin and as a handle
  Value kept;                     ///< what it has if it pins nothing
  bool is_writable = false;

  Value* value() noexcept { return pinned != nullptr ? pinned.get() : &kept; }
  bool is_of(const std::shared_ptr<Value>& storage) const noexcept {
    return pinned != nullptr && pinned == storage;
  }

  void put(Pin&& made, Value&& value) noexcept {
    real = std::move(made);
    pinned.reset();
    kept = std::move(value);
    is_writable = false;
  }
  void put_alias(Pin&& made, const std::shared_ptr<Value>& storage, bool writable) {
    ++storage->pins;
    std::shared_ptr<Value> pin(storage.get(), [storage](Value* value) { --value->pins; });
    real = std::move(made);
    pinned = std::move(pin);
    kept = {};
    is_writable = writable;
  }
  void clear() noexcept { put(Pin(), Value()); }

  void move_to(PinSlot& other) {
    other.real = std::move(real);
    if (&other != this) {
      other.pinned = std::exchange(pinned, nullptr);
      other.kept = std::exchange(kept, {});
      other.is_writable = std::exchange(is_writable, false);
    }
  }
  void swap(PinSlot& other) {
    real.swap(other.real);
    pinned.swap(other.pinned);
    std::swap(kept, other.kept);
    std::swap(is_writable, other.is_writable);
  }
};

}  // namespace byre::fuzz
