// SPDX-License-Identifier: BSL-1.0
/// Steps on tiled buffers, on byre and on the model.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "change_steps.hpp"

namespace byre::programs {

template <class T>
DataOwner tile_at(State<T>& state, const TiledSlot<T>& slot, std::size_t index) {
  return std::make_shared<Data>(state.memory,
                                Data::Description{.allocator = &state.memory.tiles,
                                                  .capacity = state.limits.tile_nbytes,
                                                  .tile = slot.real.tile(index).data()});
}

/// Adds the new tiles to the model, and copies the bytes from `offset` on from byre, because they
/// are indeterminate.
template <class T>
void end_growth(State<T>& state, TiledSlot<T>& slot, std::size_t offset) {
  while (slot.tiles.size() < slot.real.tile_count()) {
    slot.tiles.push_back(tile_at(state, slot, slot.tiles.size()));
  }
  slot.bytes.resize(slot.real.nbytes());
  slot.real.for_each_part(offset, slot.bytes.size() - offset, [&](std::span<const std::byte> part) {
    std::copy(part.begin(), part.end(), slot.bytes.begin() + std::ptrdiff_t(offset));
    offset += part.size();
  });
}
template <class T>
void end_shrink(TiledSlot<T>& slot, std::size_t nbytes) {
  slot.bytes.resize(nbytes);
  slot.tiles.resize(slot.real.tile_count());
}

/// Updates the model: a tile of the range was copied if its address has changed. Fails if an
/// unshared tile was copied. Returns the number of copies.
template <class T>
std::size_t end_copies(State<T>& state, TiledSlot<T>& slot, std::size_t first, std::size_t last,
                       stats::CopyCause cause = stats::CopyCause::shared,
                       bool has_to_copy = false) {
  std::size_t copies = 0;
  for (std::size_t index = first; index < std::min(last, slot.tiles.size()); ++index) {
    DataOwner& tile = slot.tiles[index];
    if (slot.real.tile(index).data() == tile->description().tile) {
      state.predictions.unreported_steals += state.is_only_program ? 0 : 1;
      continue;
    }
    if (state.is_only_program && is_alone(tile) && !has_to_copy) {
      fail("tile %zu was copied but was not shared", index);
    }
    if (!has_to_copy) {  // otherwise the cause was determined when the copy began
      cause = owners_of(tile) == 1 ? stats::CopyCause::pending : stats::CopyCause::shared;
    }
    tile = tile_at(state, slot, index);
    state.learn_copy(cause, false);
    state.predictions.copy(state.limits.tile_nbytes, cause);
    ++copies;
  }
  return copies;
}

/// The number of tiles of a range that are shared. Exact only if no other program runs.
template <class T>
std::size_t count_shared(const TiledSlot<T>& slot, std::size_t first, std::size_t last) {
  return static_cast<std::size_t>(
      std::count_if(slot.tiles.begin() + std::ptrdiff_t(std::min(first, slot.tiles.size())),
                    slot.tiles.begin() + std::ptrdiff_t(std::min(last, slot.tiles.size())),
                    [](const DataOwner& tile) { return !is_alone(tile); }));
}

template <class T>
Wait choose_wait(State<T>& state, const TiledSlot<T>& slot, std::size_t first, std::size_t last) {
  // A step that is nested in the copy of a tile or node must not wait for that copy.
  bool must_not = state.depth != 0;
  for (std::size_t index = first; index < std::min(last, slot.tiles.size()); ++index) {
    must_not = must_not || (state.is_only_program && would_wait(slot.tiles[index]));
  }
  return state.choices.flag() || must_not ? Wait::never : Wait::allowed;
}

/// Sizes of a few tiles or of tens of tiles; sometimes of so many tiles that the table needs one
/// more level, even with wide nodes.
template <class T>
std::size_t choose_nbytes_of_tiles(State<T>& state, std::size_t least) {
  const std::size_t tile_nbytes = state.limits.tile_nbytes;
  const std::size_t choice = state.choices.byte();
  const std::size_t tiles = choice == 255 && tile_nbytes == 1 ? 1030
                            : choice < 200                    ? choice % 10
                                                              : choice % 80;
  return std::max(least, tiles * tile_nbytes + state.choices.up_to(tile_nbytes - 1));
}

/// Makes a call. The steps in `steps_in_new`, if there are any, run when the call allocates a node.
template <class T, class Call>
Fault change_tiles(State<T>& state, TiledSlot<T>& slot, Call call) {
  // The headers of page-sized tiles are allocated on the heap, too, when the tile has already been
  // claimed. The steps would run in the allocation of such a header, not of a node.
  if (state.limits.tile_nbytes < page_nbytes) {
    state.faults.steps_in_new = std::exchange(state.steps_in_new, nullptr);
  }
  slot.busy = true;
  const Fault fault = state.faults.during(call);
  slot.busy = false;
  return fault;
}

template <class T>
void make_tiles(State<T>& state, TiledSlot<T>& slot) {
  const std::size_t nbytes = choose_nbytes_of_tiles(state, 0);
  trace("  of %zu bytes", nbytes);
  typename T::Tiled made;
  const Faults::WithoutSteps without_steps(state.faults);
  if (state.faults.during([&] {
        made = typename T::Tiled(nbytes, state.memory.tiles, state.limits.tile_nbytes);
      }) == Fault::none) {
    slot.real = std::move(made);
    slot.tiles.clear();
    slot.bytes.clear();
    end_growth(state, slot, 0);
  }
}

template <class T>
void lazy_clone(State<T>& state, TiledSlot<T>& from, TiledSlot<T>& to) {
  if (state.choices.flag()) {
    to.real = from.real;
  } else {
    to.real = from.real.lazy_clone();
  }
  to.bytes = Bytes(from.bytes);
  to.tiles = std::vector<DataOwner>(from.tiles);
  state.predictions.clone(to.bytes.size());
  if (to.real.shares_data_with(from.real) == to.bytes.empty()) {
    fail("shares_data_with of a lazy clone is wrong");
  }
}

template <class T>
void drop_tiles(State<T>& state, TiledSlot<T>& slot) {
  slot.real = typename T::Tiled(0, state.memory.tiles, state.limits.tile_nbytes);
  slot.bytes.clear();
  slot.tiles.clear();
}

template <class T>
void move_tiles(State<T>& state, TiledSlot<T>& from, TiledSlot<T>& to) {
  typename T::Tiled moved(std::move(from.real));
  expect_equal("bytes of a moved-from tiled buffer", from.real.nbytes(), 0);
  from.real = typename T::Tiled(0, state.memory.tiles, state.limits.tile_nbytes);
  to.real = std::move(moved);
  to.bytes = std::exchange(from.bytes, {});
  to.tiles = std::exchange(from.tiles, {});
}

template <class T>
void swap_tiles(TiledSlot<T>& left, TiledSlot<T>& right) {
  swap(left.real, right.real);
  left.bytes.swap(right.bytes);
  left.tiles.swap(right.tiles);
}

template <class T>
void write_tile(State<T>& state, TiledSlot<T>& slot) {
  if (slot.tiles.empty()) {
    return;
  }
  const std::size_t index = state.choices.up_to(slot.tiles.size() - 1);
  const Wait wait = choose_wait(state, slot, index, index + 1);
  trace("  tile %zu, may%s wait", index, wait == Wait::never ? " not" : "");
  // From the start of its copy the writer is no longer an owner, unless the copy fails.
  DataOwner copied;
  auto cause = stats::CopyCause::shared;
  const auto begin_copy = [&](DataOwner& tile) {
    cause = owners_of(tile) == 1 ? stats::CopyCause::pending : stats::CopyCause::shared;
    copied = std::exchange(tile, nullptr);
    ++copied->copies;
  };
  if (state.is_only_program) {
    state.faults.before_nested_steps = [&] { begin_copy(slot.tiles[index]); };
  }
  std::span<std::byte> bytes;
  const Fault fault =
      change_tiles(state, slot, [&] { bytes = slot.real.mutable_tile(index, wait); });
  if (copied == nullptr && fault == Fault::none && state.is_only_program &&
      !is_alone(slot.tiles[index])) {
    begin_copy(slot.tiles[index]);
  }
  const bool has_to_copy = copied != nullptr;
  if (has_to_copy) {
    --copied->copies;
    slot.tiles[index] = std::move(copied);
  }
  if (fault != Fault::none) {
    return;
  }
  if ((end_copies(state, slot, index, index + 1, cause, has_to_copy) == 0) == has_to_copy &&
      state.is_only_program) {
    fail("tile %zu was written in place although it is shared", index);
  }
  const std::size_t begin = index * state.limits.tile_nbytes;
  expect_equal("bytes of a tile to write", bytes.size(),
               std::min(state.limits.tile_nbytes, slot.bytes.size() - begin));
  if (bytes.data() != slot.real.tile(index).data()) {
    fail("mutable_tile() and tile() return different addresses");
  }
  const std::size_t nbytes = 1 + state.choices.below(std::min<std::size_t>(bytes.size(), 256));
  const std::size_t at = bytes.size() - nbytes;
  const Bytes written = state.new_bytes(nbytes, begin + at);
  std::copy(written.begin(), written.end(), bytes.begin() + std::ptrdiff_t(at));
  std::copy(written.begin(), written.end(), slot.bytes.begin() + std::ptrdiff_t(begin + at));
}

/// Checks a write of several tiles. byre copies all tiles before it writes the first byte: if a
/// tile cannot be copied, no byte is written. If the copy of the new bytes fails later, each byte
/// is the old byte, the new byte, or the byte that a failed copy leaves.
template <class T>
void end_write_of_tiles(State<T>& state, TiledSlot<T>& slot, Fault fault, std::size_t shared,
                        std::size_t offset, const Bytes& written) {
  const std::size_t first = offset / state.limits.tile_nbytes;
  const std::size_t last =
      written.empty() ? first : (offset + written.size() - 1) / state.limits.tile_nbytes + 1;
  const std::size_t copied = end_copies(state, slot, first, last);
  if (state.is_only_program && copied != std::min(state.faults.copies(), shared)) {
    fail("%zu tiles were copied, of %zu shared ones", copied, shared);
  }
  const auto bytes = slot.bytes.begin() + std::ptrdiff_t(offset);
  if (fault == Fault::none) {
    std::copy(written.begin(), written.end(), bytes);
  } else if (fault == Fault::copy && (copied == shared || !state.is_only_program)) {
    Bytes found(written.size());
    slot.real.read(offset, found);
    for (std::size_t at = 0; at < found.size(); ++at) {
      if (found[at] != bytes[std::ptrdiff_t(at)] && found[at] != written[at] &&
          found[at] != TrackedAllocator::half_copied) {
        fail("byte %zu of a failed write is neither the old nor the new byte", offset + at);
      }
    }
    std::copy(found.begin(), found.end(), bytes);
  }
}

template <class T>
void write_tiles(State<T>& state, TiledSlot<T>& slot) {
  const std::size_t offset = state.choices.up_to(slot.bytes.size());
  const Bytes written = state.new_bytes(state.choices.up_to(slot.bytes.size() - offset), offset);
  const std::size_t first = offset / state.limits.tile_nbytes;
  const std::size_t last =
      written.empty() ? first : (offset + written.size() - 1) / state.limits.tile_nbytes + 1;
  const Wait wait = choose_wait(state, slot, first, last);
  trace("  %zu bytes from %zu on", written.size(), offset);
  const std::size_t shared = count_shared(slot, first, last);
  const Faults::WithoutSteps without_steps(state.faults);
  const Fault fault = state.faults.during([&] { slot.real.write(offset, written, wait); });
  end_write_of_tiles(state, slot, fault, shared, offset, written);
}

template <class T>
void append_tiles(State<T>& state, TiledSlot<T>& slot) {
  const std::size_t before = slot.bytes.size();
  const Bytes written = state.new_bytes(choose_nbytes_of_tiles(state, before) - before, before);
  const std::size_t first = before / state.limits.tile_nbytes;
  const Wait wait = choose_wait(state, slot, first, first + 1);
  trace("  %zu bytes", written.size());
  const std::size_t shared = written.empty() ? 0 : count_shared(slot, first, first + 1);
  const Faults::WithoutSteps without_steps(state.faults);
  const Fault fault = state.faults.during([&] { slot.real.append(written, wait); });
  if (fault != Fault::none) {
    end_copies(state, slot, first, first + 1);
    return;
  }
  end_growth(state, slot, before);
  end_write_of_tiles(state, slot, fault, shared, before, written);
}

template <class T>
void truncate_tiles(State<T>& state, TiledSlot<T>& slot) {
  const std::size_t nbytes = state.choices.up_to(slot.bytes.size());
  const Wait wait = choose_wait(state, slot, 0, 0);
  trace("  to %zu bytes", nbytes);
  if (change_tiles(state, slot, [&] { slot.real.truncate(nbytes, wait); }) == Fault::none) {
    end_shrink(slot, nbytes);
  }
}

template <class T>
void resize_tiles(State<T>& state, TiledSlot<T>& slot) {
  const std::size_t before = slot.bytes.size();
  const std::size_t nbytes = choose_nbytes_of_tiles(state, 0);
  const Wait wait = choose_wait(state, slot, 0, 0);
  trace("  to %zu bytes", nbytes);
  const Faults::WithoutSteps without_steps(state.faults);
  if (state.faults.during([&] { slot.real.resize(nbytes, wait); }) != Fault::none) {
    return;
  }
  if (nbytes < before) {
    end_shrink(slot, nbytes);
  } else {
    end_growth(state, slot, before);
  }
}

template <class T>
void read_tiles(State<T>& state, TiledSlot<T>& slot) {
  const std::size_t offset = state.choices.up_to(slot.bytes.size());
  Bytes found(state.choices.up_to(slot.bytes.size() - offset));
  trace("  of %zu bytes from %zu on", found.size(), offset);
  const Faults::WithoutSteps without_steps(state.faults);
  if (state.faults.during([&] { slot.real.read(offset, found); }) == Fault::none) {
    check_bytes(found, slot.bytes, offset);
  }
}

template <class T>
void compare_tiles(TiledSlot<T>& left, TiledSlot<T>& right) {
  std::vector<std::size_t> found;
  for_each_difference(left.real, right.real, [&](std::size_t index) { found.push_back(index); });
  std::vector<std::size_t> expected;
  for (std::size_t index = 0; index < std::max(left.tiles.size(), right.tiles.size()); ++index) {
    const bool shared = index < left.tiles.size() && index < right.tiles.size() &&
                        left.tiles[index] == right.tiles[index];
    if (!shared) {
      expected.push_back(index);
    }
    if (left.real.shares_tile_with(right.real, index) != shared) {
      fail("shares_tile_with is wrong for tile %zu", index);
    }
  }
  if (found != expected) {
    fail("for_each_difference visited %zu tiles, expected %zu", found.size(), expected.size());
  }
}

}  // namespace byre::programs
