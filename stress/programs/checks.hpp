// SPDX-License-Identifier: BSL-1.0
/// Compares byre with the model: one value, two values, or all counters.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

#include "state.hpp"

namespace byre::programs {

/// Compares numbers or enumerators.
template <class Found, class Expected>
void expect_equal(const char* what, Found found, Expected expected) {
  if (static_cast<long long>(found) != static_cast<long long>(expected)) {
    fail("%s: %lld, expected %lld", what, static_cast<long long>(found),
         static_cast<long long>(expected));
  }
}

/// Compares bytes with those at `offset` of a value.
inline void check_bytes(std::span<const std::byte> found, const Bytes& expected,
                        std::size_t offset = 0) {
  if (found.empty() || std::memcmp(found.data(), &expected[offset], found.size()) == 0) {
    return;
  }
  const auto differs =
      std::mismatch(found.begin(), found.end(), expected.begin() + std::ptrdiff_t(offset));
  const auto at = static_cast<std::size_t>(differs.second - expected.begin());
  std::uint64_t stamp = 0;
  if (offset == 0 && at / 8 * 8 + 8 <= found.size()) {
    stamp = stamp_at(found.data(), at);
  }
  // The stamp of a word names the program and the number of the write, provided that a single write
  // wrote the whole word.
  fail("byte %zu of %zu is %02x, expected %02x; its word was written by write %llu of program %llu",
       at, expected.size(), std::to_integer<unsigned>(*differs.first),
       std::to_integer<unsigned>(*differs.second),
       static_cast<unsigned long long>(stamp & 0xFF'FFFF'FFFF),
       static_cast<unsigned long long>(stamp >> 40));
}

template <class Real>
void check_value_bytes(const Real& real, const Value& value) {
  expect_equal("nbytes", real.nbytes(), value.nbytes());
  if (value.bytes != nullptr) {
    check_bytes({real.data(), real.nbytes()}, *value.bytes);
  }
  if (value.data == nullptr && real.data() != nullptr) {
    fail("data() of an empty value is not null");
  }
  if (value.has_other_writers() && real.data() != value.data->description().others_data) {
    fail("data() is not the foreign memory");
  }
}

template <class T, class Real>
void check_value(const State<T>& state, const Real& real, const Value& value) {
  check_value_bytes(real, value);
  if (state.is_exact()) {
    const bool knows_overlays = state.knows_overlays_of(value);
    if (knows_overlays) {
      expect_equal("is_unique", real.is_unique(), is_alone(value.data));
    }
    if (knows_overlays || value.origin() != Origin::mapped) {
      const std::size_t owners = owners_of(value.data);
      const std::size_t counted = real.use_count();
      if (value.data == nullptr || !value.data->has_versions || counted < owners) {
        expect_equal("use_count", counted, owners);
      } else if (counted > 2 * owners) {
        fail("use_count: %zu, expected at most two for each of %zu owners", counted, owners);
      }
    }
  }
  expect_equal("origin", real.origin(), value.origin());
  expect_equal("is_read_only", real.is_read_only(), value.is_read_only());
  if (&real.allocator() != &value.allocator()) {
    fail("the allocator is the %s, expected the %s", real.allocator().name(),
         value.allocator().name());
  }
  if (value.data != nullptr && value.origin() == Origin::allocated) {
    expect_equal("data() modulo 64", reinterpret_cast<std::uintptr_t>(real.data()) % data_alignment,
                 0);
  }
}

template <class T>
void check(const State<T>& state, BufferSlot<T>& slot) {
  if (slot.expected.busy) {
    return;
  }
  check_value(state, slot.real, slot.expected);
  expect_equal("capacity", slot.real.capacity(),
               slot.expected.data == nullptr ? 0 : slot.expected.data->description().capacity);
}

template <class T>
void check(const State<T>& state, StorageSlot<T>& slot) {
  if (slot.expected == nullptr) {
    check_value(state, slot.real, {});
  } else if (!slot.expected->busy) {
    check_value(state, slot.real, *slot.expected);
  }
  expect_equal("is_pinned", slot.real.is_pinned(),
               slot.expected != nullptr && slot.expected->pins != 0);
  if (state.is_exact()) {
    expect_equal("handle_count", slot.real.handle_count(), slot.expected.use_count());
  }
}

template <class T>
void check(const State<T>& state, PinSlot<T>& slot) {
  const typename T::Pin& real = slot.real;
  check_value_bytes(real, *slot.value());
  expect_equal("is_writable of a pin", real.is_writable(), slot.is_writable);
  if (real.mutable_data() != (slot.is_writable ? real.data() : nullptr)) {
    fail("mutable_data() of a pin is wrong");
  }
  for (const StorageSlot<T>& storage : state.storages) {
    if (slot.is_of(storage.expected) && !storage.expected->busy &&
        storage.real.data() != real.data()) {
      fail("the data() of a pin and of its storage differ");
    }
  }
}

template <class T>
void check(const State<T>& state, const TiledSlot<T>& slot) {
  if (slot.busy) {
    return;
  }
  const std::size_t tile_nbytes = state.limits.tile_nbytes;
  expect_equal("nbytes", slot.real.nbytes(), slot.bytes.size());
  expect_equal("tile_count", slot.real.tile_count(), slot.tiles.size());
  for (std::size_t index = 0; index < slot.tiles.size(); ++index) {
    const std::span<const std::byte> tile = slot.real.tile(index);
    const std::size_t begin = index * tile_nbytes;
    if (tile.data() != slot.tiles[index]->description().tile) {
      fail("tile %zu is not at the expected address", index);
    }
    expect_equal("bytes of a tile", tile.size(), std::min(tile_nbytes, slot.bytes.size() - begin));
    check_bytes(tile, slot.bytes, begin);
  }
  for (const TiledSlot<T>& other : state.tiled) {
    if (!other.busy && slot.real.shares_data_with(other.real) &&
        (slot.tiles != other.tiles || slot.bytes != other.bytes)) {
      fail("shares_data_with is true, but the tiles or bytes differ");
    }
  }
}

template <class Slots>
void check_sharing_of(Slots& slots) {
  for (auto& left : slots) {
    for (auto& right : slots) {
      const Value* const value = left.value();
      const Value* const others = right.value();
      const bool expected = value != nullptr && others != nullptr && value->data != nullptr &&
                            value->data == others->data;
      expect_equal("shares_data_with", left.real.shares_data_with(right.real), expected);
    }
  }
}

/// Checks all slots, alone and in pairs. Must not be called within a step.
template <class T>
void check_slots(State<T>& state) {
  const auto check_all = [&](auto& slots) {
    for (auto& slot : slots) {
      check(state, slot);
    }
  };
  check_all(state.buffers);
  check_all(state.storages);
  check_all(state.pins);
  check_all(state.tiled);
  check_sharing_of(state.buffers);
  check_sharing_of(state.storages);
}

/// Checks the counters of byre. `sum` is the sum of the predictions of all programs.
inline void check_counters(const stats::Counters& found, const Predictions& sum) {
  const stats::Counters& expected = sum.counters;
  const auto expect = [](const char* what, std::int64_t is, std::int64_t least, std::int64_t more) {
    if (is < least || is > least + more) {
      fail("%s: %lld counted, expected %lld", what, static_cast<long long>(is),
           static_cast<long long>(least));
    }
  };
  expect("lazy clones", found.lazy_clones, expected.lazy_clones, 0);
  expect("copies", found.copies, expected.copies, 0);
  expect("overlays", found.overlays, expected.overlays, sum.unreported_overlays);
  expect("steals", found.steals, expected.steals, sum.unreported_steals);
  expect("bytes copied", found.bytes_copied, expected.bytes_copied, 0);
  expect("bytes not copied", found.bytes_not_copied, expected.bytes_not_copied, 0);
}

/// Checks the copies of one program and, if no other program runs, all counters. Must not be called
/// within a step.
template <class T>
void check_predictions(State<T>& state) {
  if (BYRE_STATS != 0 && state.seen_copies != state.predictions.copies) {
    fail("sinks were called for %zu copies, expected %zu, or the copies differ",
         state.seen_copies.size(), state.predictions.copies.size());
  }
  state.seen_copies.clear();
  state.predictions.copies.clear();
  if (!state.is_only_program) {
    return;
  }
  state.memory.check();
  if (BYRE_STATS == 0) {
    return;
  }
  const stats::Counters found = state.counted();
  check_counters(found, state.predictions);
  expect_equal("waits", found.waits, 0);
  expect_equal("live_bytes", found.live_bytes, state.memory.live_bytes.load());
  expect_equal("pooled_bytes", stats::snapshot().pooled_bytes, default_pool().idle_nbytes());
}

}  // namespace byre::programs
