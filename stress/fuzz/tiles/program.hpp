// SPDX-License-Identifier: BSL-1.0
/// TileProgram: a program over a few tiled buffers, each beside the model's value. The bytes of the input
/// choose every step.
#pragma once

#include <byre/error/error.hpp>
#include <byre/memory/pages.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "state.hpp"

namespace byre::fuzz {

template <std::size_t FanOut>
class TileProgram : TileState<FanOut> {
 public:
  using TileState<FanOut>::TileState;

  void run() {
    while (!input_.is_empty()) {
      step();
      check_counts();
    }
    for (Slot& slot : slots_) {
      check(slot);
      drop(slot);
    }
    check_counts();
    expect_equal("tiles that the model itself has left", live_tiles_, 0);
  }

 private:
  using State = TileState<FanOut>;
  using State::add_new_tiles;
  using State::check;
  using State::check_counts;
  using State::choose_nbytes;
  using State::choose_up_to;
  using State::choose_wait;
  using State::depth_;
  using State::end_copies;
  using State::expect_equal;
  using State::faults_;
  using State::input_;
  using State::lazy_clones_;
  using State::learn_from;
  using State::live_tiles_;
  using State::memory_;
  using State::new_bytes;
  using State::put;
  using State::shared_tiles;
  using State::slots_;
  using State::tile_nbytes_;
  using typename State::Bytes;
  using typename State::Slot;
  using typename State::Tiled;

  void step() {
    const std::size_t choice = input_.below(24);
    Slot& slot = slots_[input_.below(slots_.size())];
    if (choice < 3) {
      return prepare(choice);
    }
    Slot& other = slots_[input_.below(slots_.size())];
    if (slot.busy || other.busy) {
      return;
    }
    trace("%zu with %zu:", static_cast<std::size_t>(&slot - slots_.data()),
          static_cast<std::size_t>(&other - slots_.data()));
    step_on(choice, slot, other);
    check(slot);
    check(other);
  }

  void step_on(std::size_t choice, Slot& slot, Slot& other) {
    switch (choice) {
      case 3:
        return make(slot);
      case 4:
      case 5:
      case 6:
        return clone(other, slot);
      case 7:
        return move(other, slot);
      case 8:
        return swap_with(other, slot);
      case 9:
        return drop(slot);
      case 10:
        return write(slot);
      case 11:
        return append(slot);
      case 12:
        return truncate(slot);
      case 13:
        return resize(slot);
      case 14:
        return read(slot);
      case 15:
        return compare(slot, other);
      case 16:
        return ask_for_what_cannot_be(slot);
      default:
        return write_tile(slot);
    }
  }

  /// What later steps meet.
  void prepare(std::size_t choice) {
    const std::size_t what = input_.below(5);
    const auto after = static_cast<int>(input_.below(choice == 0 ? 12 : 4));
    trace("prepare %zu, after %d", what, after);
    switch (what) {
      case 0:
        return faults_.arm(Fault::allocation, after);
      case 1:
        return faults_.arm(Fault::copy, after);
      case 2:
        return faults_.arm(Fault::heap, after);
      default:
        nested_ = what == 3 ? Nested::in_copy_of_tile : Nested::in_copy_of_node;
        nested_count_ = after + 1;
    }
  }

  /// Takes further steps in the middle of one: they are as those of other threads, each at the worst time.
  void nested_steps(int count) {
    trace("  in the middle of it:");
    ++depth_;
    for (; count > 0; --count) {
      step();
    }
    --depth_;
    trace("  and on with it");
  }

  // Steps.

  void make(Slot& slot) {
    const std::size_t nbytes = choose_nbytes(0);
    trace("  make of %zu bytes", nbytes);
    Tiled made;
    if (faults_.during([&] { made = Tiled(nbytes, memory_, tile_nbytes_); }) == Fault::none) {
      drop(slot);
      slot.real = std::move(made);
      add_new_tiles(slot);
      slot.expected.bytes.resize(nbytes);
      learn_from(slot, 0);
    }
  }
  void clone(Slot& from, Slot& to) {
    const bool assigns = input_.below(2) != 0;
    trace("  lazy clone");
    if (assigns) {
      to.real = from.real;
    } else {
      to.real = from.real.lazy_clone();
    }
    to.expected = ModelValue(from.expected);
    ++lazy_clones_;
    if (to.real.shares_data_with(from.real) == to.expected.bytes.empty()) {
      fail("a lazy clone does not share its data, or has none to share");
    }
  }
  void move(Slot& from, Slot& to) {
    trace("  move");
    Tiled moved(std::move(from.real));
    expect_equal("bytes of what was moved", from.real.nbytes(), 0);
    from.real = Tiled(0, memory_, tile_nbytes_);
    to.real = std::move(moved);
    to.expected = std::exchange(from.expected, {});
  }
  void swap_with(Slot& other, Slot& slot) {
    trace("  swap");
    swap(slot.real, other.real);
    std::swap(slot.expected, other.expected);
  }
  void drop(Slot& slot) {
    trace("  drop");
    slot.real = Tiled(0, memory_, tile_nbytes_);
    slot.expected = {};
  }

  void write_tile(Slot& slot) {
    std::vector<TileOwner>& tiles = slot.expected.tiles;
    if (tiles.empty()) {
      return;
    }
    const std::size_t index = input_.number(2) % tiles.size();
    const Wait wait = choose_wait(slot, index * tile_nbytes_, 1);
    trace("  write of tile %zu, may%s wait", index, wait == Wait::never ? " not" : "");
    // From when it is copied the writer is no owner, until that fails.
    TileOwner copied;
    const auto in_copy_of_tile = [&](int count) {
      copied = std::exchange(tiles[index], nullptr);
      ++copied->copies_under_way;
      nested_steps(count);
    };
    std::span<std::byte> bytes;
    const Fault fault = with_nested_steps(slot, !is_alone(tiles[index]), in_copy_of_tile,
                                          [&] { bytes = slot.real.mutable_tile(index, wait); });
    if (copied != nullptr) {
      --copied->copies_under_way;
      tiles[index] = std::move(copied);
    }
    if (fault != Fault::none) {
      return;
    }
    if (was_copied_in_nest_ || !is_alone(tiles[index])) {
      end_copies(slot, std::array{index});
    }
    const std::size_t begin = index * tile_nbytes_;
    expect_equal("bytes of a tile to write", bytes.size(),
                 std::min(tile_nbytes_, slot.expected.bytes.size() - begin));
    if (bytes.data() != slot.real.tile(index).data()) {
      fail("a tile to write is not where the tile to read is");
    }
    const Bytes written = new_bytes(1 + input_.below(std::min<std::size_t>(bytes.size(), 256)));
    const std::size_t at = bytes.size() - written.size();
    std::copy(written.begin(), written.end(), bytes.begin() + std::ptrdiff_t(at));
    put(slot, begin + at, written);
  }

  void write(Slot& slot) {
    const std::size_t offset = choose_up_to(slot.expected.bytes.size());
    const Bytes written = new_bytes(choose_up_to(slot.expected.bytes.size() - offset));
    const Wait wait = choose_wait(slot, offset, written.size());
    trace("  write of %zu bytes from %zu on", written.size(), offset);
    const std::vector<std::size_t> shared = shared_tiles(slot, offset, written.size());
    const Fault fault = faults_.during([&] { slot.real.write(offset, written, wait); });
    end_write(slot, fault, shared, offset, written);
  }
  /// All tiles are copied before the first byte is written; what fails later leaves some bytes written.
  void end_write(Slot& slot, Fault fault, std::span<const std::size_t> shared, std::size_t offset,
                 std::span<const std::byte> written) {
    const std::size_t copies = faults_.copies();
    end_copies(slot, shared.first(std::min(copies, shared.size())));
    std::size_t parts = copies - std::min(copies, shared.size());
    if (fault != Fault::none && copies < shared.size()) {
      return;
    }
    while (!written.empty()) {
      const std::size_t part_nbytes =
          std::min(written.size(), tile_nbytes_ - offset % tile_nbytes_);
      if (parts == 0) {
        if (fault != Fault::copy) {
          fail("%zu bytes were not written", written.size());
        }
        put(slot, offset, Bytes(part_nbytes / 2, FaultyAllocator::half_copied));
        return;
      }
      put(slot, offset, written.first(part_nbytes));
      written = written.subspan(part_nbytes);
      offset += part_nbytes;
      --parts;
    }
    if (fault != Fault::none || parts != 0) {
      fail("a write of all bytes failed, or made %zu copies more", parts);
    }
  }

  void append(Slot& slot) {
    const std::size_t before = slot.expected.bytes.size();
    const Bytes written = new_bytes(choose_nbytes(before) - before);
    const Wait wait = choose_wait(slot, before, written.size());
    trace("  append of %zu bytes", written.size());
    const std::vector<std::size_t> shared = shared_tiles(slot, before, written.size());
    const Fault fault = faults_.during([&] { slot.real.append(written, wait); });
    if (fault == Fault::none) {
      add_new_tiles(slot);
      slot.expected.bytes.resize(before + written.size());
      end_write(slot, fault, shared, before, written);
    } else {
      end_copies(slot, std::span(shared).first(std::min(faults_.copies(), shared.size())));
    }
  }
  void truncate(Slot& slot) {
    const std::size_t nbytes = choose_up_to(slot.expected.bytes.size());
    const Wait wait = choose_wait(slot, 0, 0);
    trace("  truncate to %zu bytes", nbytes);
    if (with_nested_steps(slot, false, {}, [&] { slot.real.truncate(nbytes, wait); }) ==
        Fault::none) {
      end_shrink(slot, nbytes);
    }
  }
  void end_shrink(Slot& slot, std::size_t nbytes) {
    slot.expected.bytes.resize(nbytes);
    slot.expected.tiles.resize(slot.real.tile_count());
  }
  void resize(Slot& slot) {
    const std::size_t before = slot.expected.bytes.size();
    const std::size_t nbytes = choose_nbytes(0);
    const Wait wait = choose_wait(slot, 0, 0);
    trace("  resize to %zu bytes", nbytes);
    if (faults_.during([&] { slot.real.resize(nbytes, wait); }) != Fault::none) {
      return;
    }
    if (nbytes < before) {
      return end_shrink(slot, nbytes);
    }
    add_new_tiles(slot);
    slot.expected.bytes.resize(nbytes);
    learn_from(slot, before);
  }

  void read(Slot& slot) {
    const std::size_t offset = choose_up_to(slot.expected.bytes.size());
    Bytes found(choose_up_to(slot.expected.bytes.size() - offset));
    trace("  read of %zu bytes from %zu on", found.size(), offset);
    if (faults_.during([&] { slot.real.read(offset, found); }) == Fault::none &&
        !std::equal(found.begin(), found.end(),
                    slot.expected.bytes.begin() + std::ptrdiff_t(offset))) {
      fail("other bytes are read");
    }
  }
  void compare(Slot& left, Slot& right) {
    trace("  compare");
    std::vector<std::size_t> found;
    for_each_difference(left.real, right.real, [&](std::size_t index) { found.push_back(index); });
    const std::vector<TileOwner>& left_tiles = left.expected.tiles;
    const std::vector<TileOwner>& right_tiles = right.expected.tiles;
    std::vector<std::size_t> expected;
    for (std::size_t index = 0; index < std::max(left_tiles.size(), right_tiles.size()); ++index) {
      const bool shared = index < left_tiles.size() && index < right_tiles.size() &&
                          left_tiles[index] == right_tiles[index];
      if (!shared) {
        expected.push_back(index);
      }
      if (left.real.shares_tile_with(right.real, index) != shared) {
        fail("shares_tile_with is wrong of tile %zu", index);
      }
    }
    if (found != expected) {
      fail("for_each_difference names %zu tiles, not the %zu that differ", found.size(),
           expected.size());
    }
  }
  void ask_for_what_cannot_be(Slot& slot) {
    trace("  what cannot be");
    const std::size_t nbytes = slot.expected.bytes.size();
    const std::size_t beyond = input_.number(1);
    std::byte one{};
    const std::function<void()> calls[] = {
        [&] { static_cast<void>(slot.real.tile(slot.expected.tiles.size() + beyond)); },
        [&] { slot.real.mutable_tile(slot.expected.tiles.size() + beyond); },
        [&] { slot.real.truncate(nbytes + 1 + beyond); },
        [&] { slot.real.read(nbytes + beyond, std::span(&one, 1)); },
        [&] { slot.real.write(nbytes + beyond, std::span(&one, 1)); },
        [&] { slot.real.resize(max_nbytes + 1 + beyond); },
        [&] { for_each_difference(slot.real, Tiled(), [](std::size_t) {}); },
    };
    try {
      calls[input_.below(std::size(calls))]();
    } catch (const InvalidArgument&) {
      return;
    }
    fail("what cannot be was not refused");
  }

  /// A call with the steps that are to be nested in it, if any.
  Fault with_nested_steps(Slot& slot, bool copies_tile,
                          const std::function<void(int)>& in_copy_of_tile,
                          const std::function<void()>& call) {
    const int count = nested_count_;
    bool ran_in_copy = false;
    // The header of a tile of pages is on the heap, too, and the tile is claimed by then.
    if (depth_ < 2 && nested_ == Nested::in_copy_of_node && tile_nbytes_ < page_nbytes) {
      faults_.arm_steps_in_new([&, count] { nested_steps(count); });
      nested_ = Nested::none;
    } else if (depth_ < 2 && nested_ == Nested::in_copy_of_tile && copies_tile) {
      faults_.arm_nested_steps([&, count] {
        ran_in_copy = true;
        in_copy_of_tile(count);
      });
      nested_ = Nested::none;
    }
    slot.busy = true;
    const Fault fault = faults_.during(call);
    slot.busy = false;
    faults_.arm_nested_steps(nullptr);
    faults_.arm_steps_in_new(nullptr);
    was_copied_in_nest_ = ran_in_copy;
    return fault;
  }

  enum class Nested : std::uint8_t { none, in_copy_of_tile, in_copy_of_node };

  Nested nested_ = Nested::none;
  int nested_count_ = 0;
  bool was_copied_in_nest_ = false;  ///< by the last call with nested steps
};

}  // namespace byre::fuzz
