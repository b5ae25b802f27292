// SPDX-License-Identifier: BSL-1.0
/// AtomicTiles: an AtomicBuffer for tiled buffers. A load shares all tiles with the content; a
/// thread that loads, writes some tiles and stores copies only these tiles.
#pragma once

#include <byre/storage/atomic_buffer.hpp>
#include <byre/storage/tiles/tiled_buffer.hpp>

#include <cstddef>
#include <new>
#include <utility>

namespace byre::inline BYRE_ABI {

namespace detail {

/// A header whose data is a Value, which is never written.
template <class Value, sync::Sync Sync>
class basic_boxed final : public cow::basic_header<Sync> {
  using Header = cow::basic_header<Sync>;

 public:
  /// Throws OutOfMemory if there is no memory; `value` is unchanged then.
  static Header* create(Value&& value) {
    Header* const header = new (std::nothrow) basic_boxed(std::move(value));
    if (header == nullptr) {
      throw OutOfMemory(sizeof(basic_boxed), "heap, for a tiled buffer");
    }
    return header;
  }

 private:
  explicit basic_boxed(Value&& value) noexcept
      : Header({.data = &value_,
                .nbytes = sizeof(Value),
                .capacity = sizeof(Value),
                .allocator = &default_allocator(),
                .origin = Origin::adopted,
                .read_only = true},
               [](Header& self) noexcept { delete static_cast<basic_boxed*>(&self); }),
        value_(std::move(value)) {}
  ~basic_boxed() = default;

  Value value_;
};

/// The buffer in the cell is a box: a buffer whose data is one tiled buffer.
template <sync::Sync S, std::size_t FanOut>
struct AtomicValue<basic_tiled_buffer<S, FanOut>> {
  using Tiles = basic_tiled_buffer<S, FanOut>;
  using Buffer = basic_buffer<S>;
  using Cell = basic_atomic_cell<S>;

  static Tiles load(const Cell& cell, CallSite site) noexcept {
    return clone_of(load_box(cell, site), site);
  }
  static Buffer to_buffer(Tiles&& value, CallSite) {
    return Cell::to_buffer(basic_boxed<Tiles, S>::create(std::move(value)));
  }
  static Tiles clone(const Tiles& value, CallSite site) noexcept { return value.lazy_clone(site); }
  static void clear(Tiles&) noexcept {}
  static void restore(Tiles& value, const Buffer& box) noexcept {
    value = std::move(const_cast<Tiles&>(*tiles_in(box)));  // no other thread has the box
  }
  struct Receiver {
    static Tiles receive(const Buffer& box, CallSite site) noexcept { return clone_of(box, site); }
  };
  static bool are_equal(const Tiles& left, const Tiles& right) noexcept {
    return left.shares_data_with(right) || (left.nbytes() == 0 && right.nbytes() == 0);
  }
  static bool compare_exchange(Cell& cell, const Tiles& expected, Buffer& desired,
                               CallSite site) noexcept {
    const Buffer box = load_box(cell, site);
    return is_in(box, expected) && cell.compare_exchange(box, desired, site);
  }
  static bool holds(const Cell& cell, const Tiles& value) noexcept {
    return is_in(load_box(cell, CallSite{}), value);
  }
  static void wait(const Cell& cell, const Tiles& value) noexcept {
    for (;;) {
      const Buffer box = load_box(cell, CallSite{});
      if (!is_in(box, value)) {
        return;
      }
      cell.wait(box);
    }
  }

 private:
  static Buffer load_box(const Cell& cell, CallSite site) noexcept {
    return cell.template load<Reported::no>(site);
  }
  /// Null if the cell contained no box, which stands for an empty tiled buffer.
  static const Tiles* tiles_in(const Buffer& box) noexcept {
    return reinterpret_cast<const Tiles*>(box.data());
  }
  static Tiles clone_of(const Buffer& box, CallSite site) noexcept {
    const Tiles* const tiles = tiles_in(box);
    return tiles == nullptr ? Tiles() : Tiles(*tiles, site);
  }
  static bool is_in(const Buffer& box, const Tiles& value) noexcept {
    const Tiles* const tiles = tiles_in(box);
    return tiles == nullptr ? value.nbytes() == 0 : are_equal(*tiles, value);
  }
};

}  // namespace detail

/// See basic_atomic. In addition: a member that stores allocates a small block for the size and the
/// table, and throws OutOfMemory if there is no memory; the content is unchanged then. Two tiled
/// buffers are equal if they share their whole table (TiledBuffer::shares_data_with()), or if both
/// have no bytes. A load costs four atomic steps.
using AtomicTiles = basic_atomic<TiledBuffer>;

}  // namespace byre::inline BYRE_ABI
