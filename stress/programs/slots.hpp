// SPDX-License-Identifier: BSL-1.0
/// Slots: a buffer, storage handle, pin or tiled buffer, each with its value in the model; and the
/// places where programs share them.
#pragma once

#include <byre/storage/pin.hpp>
#include <byre/storage/storage.hpp>
#include <byre/storage/tiles/tiled_buffer.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "model.hpp"

namespace byre::programs {

struct Nothing {};

/// The types under test, over sync::Default or another Sync (the template parameter that supplies
/// the atomic operations), with tile tables of the given fan-out. A `DuringChecks` object exists
/// while values are compared with the model.
template <sync::Sync With, std::size_t FanOut, class DuringChecks = Nothing>
struct Types {
  using Unperturbed = DuringChecks;
  using Sync = With;
  using Buffer = basic_buffer<Sync>;
  using Storage = basic_storage<Sync>;
  using Pin = basic_pin<Sync>;
  using Tiled = basic_tiled_buffer<Sync, FanOut>;
};

template <class T>
struct BufferSlot {
  using Real = typename T::Buffer;
  static constexpr const char* kind = "buffer";

  Real real;
  Value expected;

  Value* value() noexcept { return &expected; }
  void put(Real&& made, Value&& value) noexcept {
    real = std::move(made);
    expected = std::move(value);
  }
  void clear() noexcept { put(Real(), Value()); }
};

template <class T>
struct StorageSlot {
  using Real = typename T::Storage;
  static constexpr const char* kind = "storage";

  Real real;
  std::shared_ptr<Value> expected;  ///< shared by all handles of the storage

  Value* value() noexcept { return expected.get(); }
  void put(Real&& made, Value&& value) {
    real = std::move(made);
    expected = std::make_shared<Value>(std::move(value));
  }
  void clear() noexcept {
    real = Real();
    expected.reset();
  }
};

/// A pin. It either aliases the storage that it pins, or holds bytes that no thread writes.
template <class T>
struct PinSlot {
  using Real = typename T::Pin;
  static constexpr const char* kind = "pin";

  Real real;
  std::shared_ptr<Value> pinned;  ///< the pinned storage; counts as a pin and a handle
  Value kept;                     ///< the bytes that the pin holds, if it pins no storage
  bool is_writable = false;

  Value* value() noexcept { return pinned != nullptr ? pinned.get() : &kept; }
  bool is_of(const std::shared_ptr<Value>& storage) const noexcept {
    return pinned != nullptr && pinned == storage;
  }
  void put(Real&& made, Value&& value) noexcept {
    real = std::move(made);
    pinned.reset();
    kept = std::move(value);
    is_writable = false;
  }
  void put_alias(Real&& made, const std::shared_ptr<Value>& storage, bool writable) {
    ++storage->pins;
    std::shared_ptr<Value> pin(storage.get(), [storage](Value* value) { --value->pins; });
    real = std::move(made);
    pinned = std::move(pin);
    kept = {};
    is_writable = writable;
  }
  void clear() noexcept { put(Real(), Value()); }
  void move_to(PinSlot& other) {
    other.real = std::move(real);
    if (&other != this) {
      other.pinned = std::exchange(pinned, nullptr);
      other.kept = std::exchange(kept, {});
      other.is_writable = std::exchange(is_writable, false);
    }
  }
};

/// A tiled buffer and its model: the bytes, and the owners of each tile, which determine whether a
/// write copies. The table is not modeled, because users cannot observe it.
template <class T>
struct TiledSlot {
  using Real = typename T::Tiled;
  static constexpr const char* kind = "tiled buffer";

  Real real;
  Bytes bytes;
  std::vector<DataOwner> tiles;
  bool busy = false;  ///< a call on the buffer is under way

  TiledSlot* value() noexcept { return this; }
};

/// Whether a call on the slot is under way.
template <class Slot>
bool is_busy(Slot& slot) noexcept {
  return slot.value() != nullptr && slot.value()->busy;
}

/// Everything that several programs share: mailboxes, through which they pass lazy clones to each
/// other, and places, whose storages all programs read and clone at once. A storage in a place is
/// never written, only replaced.
template <class T>
class Shared {
 public:
  static constexpr std::size_t most_in_mailbox = 4;

  struct Mailbox {
    std::mutex mutex;
    std::tuple<std::vector<BufferSlot<T>>, std::vector<StorageSlot<T>>, std::vector<TiledSlot<T>>>
        values;
  };
  struct Place {
    std::shared_mutex mutex;  // locked exclusively to replace the storage
    StorageSlot<T> slot;
  };

  explicit Shared(std::size_t programs) : mailboxes(programs) {}

  void clear() {
    for (Mailbox& mailbox : mailboxes) {
      mailbox.values = {};
    }
    for (Place& place : places) {
      place.slot.clear();
    }
  }

  std::vector<Mailbox> mailboxes;
  std::array<Place, 8> places;
};

}  // namespace byre::programs
