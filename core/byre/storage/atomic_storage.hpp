// SPDX-License-Identifier: BSL-1.0
/// AtomicStorage: an AtomicBuffer for storages. It contains the data of a storage, not its
/// identity: each load returns a new storage, which shares the data until either is written.
#pragma once

#include <byre/storage/atomic_buffer.hpp>
#include <byre/storage/storage.hpp>

#include <utility>

namespace byre::inline BYRE_ABI {

namespace detail {

template <sync::Sync S>
struct AtomicValue<basic_storage<S>> {
  using Storage = basic_storage<S>;
  using Buffer = basic_buffer<S>;
  using Cell = basic_atomic_cell<S>;

  static Storage load(const Cell& cell, CallSite site) {
    Receiver receiver;
    return receiver.receive(cell.template load<Reported::yes>(site), site);
  }
  /// Another handle, so that to_buffer() clones the bytes.
  static Storage clone(const Storage& value, CallSite) noexcept { return value; }
  static Buffer to_buffer(Storage&& value, CallSite site) {
    return !value           ? Buffer()
           : is_sole(value) ? value.identity_->take_buffer()
                            : value.clone_buffer(site);
  }
  static void restore(Storage& value, Buffer&& buffer) noexcept {
    // to_buffer() has either taken the bytes, which left none, or cloned them.
    if (value && Cell::are_equal(value.identity_->buffer, Buffer())) {
      value.identity_->buffer = std::move(buffer);
    }
  }
  static void clear(Storage& value) noexcept { value = Storage(); }
  struct Receiver {
    Storage storage{Buffer()};
    Storage receive(Buffer&& buffer, CallSite) noexcept {
      if (Cell::are_equal(buffer, Buffer())) {
        return Storage();
      }
      storage.identity_->buffer = std::move(buffer);
      return std::move(storage);
    }
  };
  static bool are_equal(const Storage& left, const Storage& right) noexcept {
    return with_buffer(left, [&](const Buffer& buffer) {
      return with_buffer(right,
                         [&](const Buffer& other) { return Cell::are_equal(buffer, other); });
    });
  }
  static bool compare_exchange(Cell& cell, const Storage& expected, Buffer& desired,
                               CallSite site) noexcept {
    return with_buffer(expected, [&](const Buffer& buffer) {
      return cell.compare_exchange(buffer, desired, site);
    });
  }
  static bool holds(const Cell& cell, const Storage& value) noexcept {
    return with_buffer(value, [&](const Buffer& buffer) { return cell.holds(buffer); });
  }
  static void wait(const Cell& cell, const Storage& value) noexcept {
    with_buffer(value, [&](const Buffer& buffer) { cell.wait(buffer); });
  }

 private:
  /// Whether no code can write the storage through another handle. Each pin has a handle, too.
  static bool is_sole(const Storage& storage) noexcept { return storage.handle_count() == 1; }

  template <class Use>
  static auto with_buffer(const Storage& storage, const Use& use) noexcept {
    return storage ? use(storage.identity_->buffer) : use(Buffer());
  }
};

}  // namespace detail

/// See basic_atomic. In addition:
///
/// - store(), exchange() and compare_exchange() take the data out of a storage whose only handle
///   they get as an rvalue. Otherwise they store a lazy clone, so later writes through other
///   handles do not show in a load. Pinned memory is then copied, because the holder of the pin may
///   write it, and so are borrowed and aliased memory. Throws the errors of Storage::lazy_clone().
/// - A member that returns a storage allocates its identity first, and throws OutOfMemory if there
///   is no memory; the content is unchanged then.
/// - If the content is empty, a load returns an empty handle.
using AtomicStorage = basic_atomic<Storage>;

}  // namespace byre::inline BYRE_ABI
