// SPDX-License-Identifier: BSL-1.0
/// Interning: equal values get one small number, and a number gives its value back. Nothing is ever
/// taken out.
#pragma once

#include <byre/shadow/intern_sites.hpp>
#include <byre/sync/sync.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

namespace byre::inline v0::shadow {

/// Values in segments that double and never move, and a list of them for each of some buckets. The
/// first segment has 2^FirstBits values.
///
/// Invariants:
///   1. A number is taken once, and its value written by who took it before it is in a list. None is
///      above MostValues.
///   2. What is in a list stays there, and does not change.
///   3. Of equal values one is in a list: who pushes has seen all that is there.
///
/// Thread-safe; lock-free. Wait-free for a value that is there already. Numbers are from 1 on.
template <sync::Sync Sync, class Value, unsigned Buckets, std::uint32_t MostValues,
          unsigned FirstBits = 5>
class basic_intern_table {
 public:
  constexpr basic_intern_table() noexcept = default;
  basic_intern_table(const basic_intern_table&) = delete;
  basic_intern_table& operator=(const basic_intern_table&) = delete;
  ~basic_intern_table() {
    for (const Word& segment : segments_) {
      delete[] node_at(segment.load(sites.at(At::use_segment, std::memory_order::relaxed)));
    }
  }

  /// The number of the value; 0 if it has none yet. Wait-free.
  std::uint32_t find(const Value& value, std::size_t hash) const noexcept {
    // Acquire pairs with push: values in the list are whole, or values_are_interned_once fails.
    const std::uint32_t first =
        buckets_[hash % Buckets].load(sites.at(At::look, std::memory_order::acquire));
    return find(value, first, 0);
  }

  /// The number of the value; 0 if it has none and there is no memory or no number left.
  std::uint32_t number_of(const Value& value, std::size_t hash) noexcept {
    Number& bucket = buckets_[hash % Buckets];
    // Acquire pairs with push: values in the list are whole, or values_are_interned_once fails.
    std::uint32_t first = bucket.load(sites.at(At::look, std::memory_order::acquire));
    if (const std::uint32_t found = find(value, first, 0)) {
      return found;
    }
    Node* node = nullptr;
    const std::uint32_t number = take(node);
    if (number == 0) {
      return 0;
    }
    node->value = value;
    node->next.set(first);
    std::uint32_t expected = first;
    // Release pairs with look: the value is written before it is found, or values_are_interned_once
    // fails.
    while (!bucket.compare_exchange_weak(expected, number,
                                         sites.at(At::push, std::memory_order::release))) {
      if (expected != first) {
        // Acquire pairs with push: what came in between is whole, or values_are_interned_once fails.
        expected = bucket.load(sites.at(At::look_again, std::memory_order::acquire));
        if (const std::uint32_t found = find(value, expected, first)) {
          return found;  // the number taken is left unused
        }
        first = expected;
        node->next.set(first);
      }
    }
    return number;
  }

  /// The value of a number that number_of gave, to this thread or to one that this one came after.
  const Value& at(std::uint32_t number) const noexcept { return node(number).value; }

 private:
  using At = InternSite;
  static constexpr const auto& sites = intern_sites;

  using Word = typename Sync::template Atomic<std::uint64_t>;
  using Number = typename Sync::template Atomic<std::uint32_t>;

  struct Node {
    Value value{};
    typename Sync::template Plain<std::uint32_t> next{0};
  };

  struct Zeroed : Number {
    constexpr Zeroed() noexcept : Number(0) {}
  };
  struct Empty : Word {
    constexpr Empty() noexcept : Word(0) {}
  };

  static Node* node_at(std::uint64_t address) noexcept {
    return reinterpret_cast<Node*>(static_cast<std::uintptr_t>(address));
  }

  struct Position {
    std::size_t segment;
    std::size_t index;
    std::size_t segment_size;
  };
  static Position position_of(std::uint32_t number) noexcept {
    const std::uint32_t shifted = number - 1 + (std::uint32_t{1} << FirstBits);
    const auto bits = static_cast<std::size_t>(std::bit_width(shifted)) - 1;
    const std::size_t size = std::size_t{1} << bits;
    return {bits - FirstBits, shifted - size, size};
  }

  const Node& node(std::uint32_t number) const noexcept {
    const Position position = position_of(number);
    // Relaxed, and pairs with nothing: who knows the number knows of the segment.
    const std::uint64_t segment =
        segments_[position.segment].load(sites.at(At::use_segment, std::memory_order::relaxed));
    return node_at(segment)[position.index];
  }

  /// Among the numbers from `first` on, up to `end`.
  std::uint32_t find(const Value& value, std::uint32_t first, std::uint32_t end) const noexcept {
    for (std::uint32_t number = first; number != end; number = node(number).next.get()) {
      if (node(number).value == value) {
        return number;
      }
    }
    return 0;
  }

  /// A new number, whose node is nobody else's yet.
  std::uint32_t take(Node*& node) noexcept {
    // Relaxed, and pairs with nothing: it keeps the count near its end, however often it is tried.
    if (taken_.load(sites.at(At::taken, std::memory_order::relaxed)) >= MostValues) {
      return 0;
    }
    // Relaxed, and pairs with nothing: whose number it is, it is.
    const std::uint32_t number =
        taken_.fetch_add(1, sites.at(At::take, std::memory_order::relaxed)) + 1;
    if (number > MostValues) {
      return 0;  // others took the last ones
    }
    const Position position = position_of(number);
    Node* const segment = make_segment(position);
    if (segment == nullptr) {
      return 0;  // and the number is left unused
    }
    node = &segment[position.index];
    return number;
  }

  Node* make_segment(const Position& position) noexcept {
    Word& segment = segments_[position.segment];
    // Acquire pairs with install_segment: nodes are made before they are written, or
    // values_are_interned_once fails.
    if (const std::uint64_t present =
            segment.load(sites.at(At::find_segment, std::memory_order::acquire))) {
      return node_at(present);
    }
    auto* const made = new (std::nothrow) Node[position.segment_size];
    if (made == nullptr) {
      return nullptr;
    }
    std::uint64_t none = 0;
    // Release pairs with find_segment: nodes are made before they are written.
    while (
        !segment.compare_exchange_weak(none, reinterpret_cast<std::uintptr_t>(made),
                                       sites.at(At::install_segment, std::memory_order::release))) {
      if (none != 0) {
        delete[] made;
        // Acquire pairs with install_segment: the nodes of who came first are made.
        return node_at(segment.load(sites.at(At::find_installed, std::memory_order::acquire)));
      }
    }
    return made;
  }

  /// One more than the segment of MostValues.
  static constexpr auto segment_count =
      static_cast<std::size_t>(std::bit_width(MostValues - 1 + (std::uint32_t{1} << FirstBits))) -
      FirstBits;

  std::array<Zeroed, Buckets> buckets_{};
  std::array<Empty, segment_count> segments_{};
  Zeroed taken_;
};

}  // namespace byre::inline v0::shadow
