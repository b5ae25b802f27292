// SPDX-License-Identifier: BSL-1.0
/// State: the slots of one program, the places that it shares with other programs, and its
/// predictions.
#pragma once

#include <byre/memory/pages.hpp>
#include <byre/memory/pool.hpp>
#include <byre/pages/paged_allocator.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "choices.hpp"
#include "faults.hpp"
#include "mix.hpp"
#include "slots.hpp"

namespace byre::programs {

/// The steps of a program, and limits of its sizes.
struct Limits {
  Mix mix = usual_mix();
  std::size_t slots = 6;  ///< number of buffers, and number of storages
  std::size_t least_nbytes = 0;
  std::size_t most_nbytes = std::size_t{2} << 20;
  unsigned small_of_256 = 180;  ///< the number of sizes, among 256, that are below 256 bytes
  std::size_t budget_nbytes = std::size_t{4}
                              << 20;  ///< after sizes with this sum, new sizes are small
  std::size_t tile_nbytes = 16;
  bool only_pages = false;  ///< all memory is in pages or a mapped file
};

template <class T>
struct State {
  State(Choices bytes, Memory& from, Shared<T>& with, std::size_t number, const Limits& of)
      : choices(bytes),
        memory(from),
        shared(with),
        thread(number),
        limits(of),
        stamp((std::uint64_t{number} << 40) + number * 37) {
    for (auto& slot : tiled) {
      slot.real = typename T::Tiled(0, memory.tiles, limits.tile_nbytes);
    }
  }

  Choices choices;
  Memory& memory;
  Shared<T>& shared;
  const std::size_t thread;
  const Limits limits;
  Faults faults;

  /// No other thread runs a program, so all counts are those of this program, and every result can
  /// be predicted.
  bool is_only_program = true;
  /// The threads of other programs are paused, and no operation is under way.
  bool others_are_paused = false;
  bool is_exact() const noexcept { return is_only_program || others_are_paused; }

  const stats::Counters before = stats::snapshot();
  Predictions predictions;
  std::vector<Copy> seen_copies;  ///< recorded by sinks; compared with Predictions::copies
  bool sinks_throw = false;
  std::size_t thrown = 0;
  int depth = 0;                       ///< nesting depth of steps
  std::function<void()> fork;          ///< runs other steps in a child; empty: no forks
  std::function<void()> steps_in_new;  ///< run in the middle of the next change of a tile table

  std::vector<BufferSlot<T>> buffers{limits.slots};
  std::vector<StorageSlot<T>> storages{limits.slots};
  std::array<PinSlot<T>, 4> pins;
  std::array<TiledSlot<T>, 5> tiled;

  /// A storage does not expose its capacity. If this returns true, the model derives the capacity
  /// from the growth of the counter live_bytes.
  bool knows_capacities() const noexcept { return is_only_program && BYRE_STATS != 0; }

  /// From now on, other threads run programs, too.
  void share() noexcept {
    is_only_program = false;
    faults.may_continue_without_heap = true;
  }

  /// What byre has counted since this program began.
  stats::Counters counted() const noexcept { return stats::snapshot() - before; }

  Allocator& choose_allocator() {
    if (limits.only_pages) {
      return paged_allocator();
    }
    Allocator* const all[] = {&default_allocator(), &memory.host,       &memory.device,
                              &memory.resource,     &paged_allocator(), &memory.host};
    return *all[choices.below(std::size(all))];
  }

  /// Mostly small sizes; sometimes sizes near a threshold: a page, the largest block that the pool
  /// recycles in a thread, or the smallest data in pages.
  std::size_t choose_nbytes() {
    constexpr std::size_t steps[] = {4096, std::size_t{64} << 10, least_paged_nbytes,
                                     std::size_t{2} << 20};
    const std::size_t choice = choices.byte();
    std::size_t nbytes = choice;
    if (choice >= 236) {
      nbytes = steps[choice % std::size(steps)] + choices.byte() * 8 - 1024;
    } else if (choice >= limits.small_of_256) {
      // The smallest of three random orders of magnitude: large sizes occur, but most steps take
      // microseconds.
      const auto bits = static_cast<std::size_t>(std::bit_width(limits.most_nbytes));
      const std::size_t least =
          std::min({choices.below(bits), choices.below(bits), choices.below(bits)});
      nbytes = (std::size_t{1} << least) + choices.up_to((std::size_t{1} << least) - 1);
    }
    nbytes = std::clamp(nbytes, limits.least_nbytes, limits.most_nbytes);
    if (nbytes > budget_nbytes_ && is_only_program) {
      return limits.least_nbytes + choice;
    }
    budget_nbytes_ -= is_only_program ? nbytes : 0;
    return nbytes;
  }

  /// Bytes to write at offset `at`. They differ at each call.
  Bytes new_bytes(std::size_t nbytes, std::size_t at = 0) {
    Bytes bytes(nbytes);
    fill(bytes.data(), nbytes, at, ++stamp);
    return bytes;
  }

  // The functions below are the parts of steps that update the model.

  Value make(Bytes bytes, Data::Description description) {
    return {content_of(std::move(bytes)), std::make_shared<Data>(memory, std::move(description))};
  }

  /// Models data that byre has just allocated for `real`. Its capacity is the growth of
  /// `live_bytes`, which is checked against what the allocator may add.
  template <class Real>
  DataOwner allocated(const Real& real, Allocator& allocator, std::size_t asked = 0) {
    const bool may_be_paged = &allocator == &paged_allocator();
    Origin origin = Origin::allocated;
    if constexpr (requires { real.origin(); }) {  // a pin has no origin()
      origin = real.origin();
    }
    if (origin != Origin::allocated && !(origin == Origin::paged && may_be_paged)) {
      fail("new memory is of origin %d", int(origin));
    }
    return std::make_shared<Data>(
        memory, Data::Description{.origin = origin,
                                  .allocator = &allocator,
                                  .capacity = new_capacity(real, allocator, asked)});
  }

  Value lazy_clone(const Value& source) {
    if (source.data != nullptr) {
      predictions.clone(source.nbytes());
    }
    return {source.bytes, source.data};
  }

  /// Updates the model: `real` was written, with the result `write.answer`.
  template <class Real>
  void end_write(const Real& real, Value& value, Write&& write) {
    value.busy = false;
    if (write.answer == Materialized::already_unique) {
      return;
    }
    if (write.answer == Materialized::stole) {
      ++predictions.counters.steals;
      return;
    }
    Allocator& allocator =
        write.source != nullptr ? *write.source->description().allocator : value.allocator();
    DataOwner source = write.source != nullptr ? std::move(write.source) : std::move(value.data);
    if (is_only_program && source->description().read_only) {
      const bool is_last = owners_of(source) == 1 || source->description().others_data != nullptr;
      write.cause = is_last ? stats::CopyCause::read_only : stats::CopyCause::shared;
    } else if (is_only_program) {
      --source->copies;
    }
    if (write.answer == Materialized::overlaid) {
      value.data = overlay_of(real, source);
      ++predictions.counters.overlays;
      learn_copy(write.cause, true);
      return;
    }
    source.reset();
    value.data = allocated(real, allocator);
    learn_copy(write.cause, false);
    predictions.copy(value.nbytes(), write.cause);
  }

  /// If other threads run programs, the model takes the cause of a copy from the sink. If `some` is
  /// true (some pages were copied), it also takes their number from the sink. Returns the number of
  /// bytes that were copied.
  std::size_t learn_copy(stats::CopyCause& cause, bool some) {
    const std::size_t at = predictions.copies.size();
    if (at >= seen_copies.size()) {
      return 0;
    }
    const Copy seen = seen_copies[at];
    cause = is_only_program ? cause : seen.cause;
    if (some) {
      predictions.copy(seen.nbytes, cause);
    }
    return seen.nbytes;
  }

  /// Models an overlay. `source` is the data in pages, or another overlay of it.
  template <class Real>
  DataOwner overlay_of(const Real& real, const DataOwner& source) {
    const DataOwner& base =
        source->description().origin == Origin::overlay ? source->description().base : source;
    if (real.origin() != Origin::overlay || !is_in_pages(base->description().origin)) {
      fail("a write to data of origin %d returned overlaid, but created data of origin %d",
           int(source->description().origin), int(real.origin()));
    }
    std::size_t capacity = base->description().capacity;
    if constexpr (requires { real.capacity(); }) {
      // Without exact counters, the model does not know whether a writable clone created a new page
      // file with another capacity.
      capacity = knows_capacities() ? capacity : real.capacity();
    }
    return std::make_shared<Data>(memory,
                                  Data::Description{.origin = Origin::overlay,
                                                    .allocator = source->description().allocator,
                                                    .capacity = capacity,
                                                    .base = base});
  }

  /// After a writable clone of data in pages, both sides are overlays. The source may have become
  /// an overlay of its own page file or of a new one.
  template <class Real>
  void end_writable_clone(Value& source, const Real& real, bool is_cloned,
                          std::int64_t live_bytes_before) {
    const std::int64_t grown = knows_capacities() ? counted().live_bytes - live_bytes_before : 0;
    predictions.counters.overlays += is_cloned ? 1 : 0;
    if (source.origin() != Origin::overlay) {
      ++predictions.counters.overlays;
      source.data = overlay_of(real, source.data);
    } else if (grown > 0 && is_cloned) {
      ++predictions.counters.overlays;
      const auto file = std::make_shared<Data>(
          memory, Data::Description{.origin = Origin::paged,
                                    .allocator = source.data->description().allocator,
                                    .capacity = static_cast<std::size_t>(grown)});
      source.data = overlay_of(real, file);
    } else if (!knows_capacities()) {
      ++predictions.unreported_overlays;
      source.data = overlay_of(real, source.data);
    }
    if (is_cloned) {
      auto cause = stats::CopyCause::writable;
      const std::size_t copied = learn_copy(cause, true);
      predictions.clone(source.nbytes() - std::min(copied, source.nbytes()));
    }
  }

  /// Whether the value is, or may be, in pages. A call on such a value may succeed although the
  /// heap refused memory.
  bool is_of_pages(const Value& value) const noexcept {
    return is_in_pages(value.origin()) || &value.allocator() == &paged_allocator();
  }

  /// Whether the model knows all overlays of the data. Without counters, or if other programs count
  /// too, it cannot tell whether a writable clone moved its source to a new page file.
  bool knows_overlays_of(const Value& value) const noexcept {
    return !is_in_pages(value.origin()) || knows_capacities();
  }

  /// Visits the value of every slot. A value that several handles share is visited several times.
  template <class Visit>
  void for_each_value(const Visit& visit) {
    const auto visit_all = [&](auto& slots) {
      for (auto& slot : slots) {
        if (slot.value() != nullptr) {
          visit(*slot.value());
        }
      }
    };
    visit_all(buffers);
    visit_all(storages);
    visit_all(pins);
  }

 private:
  template <class Real>
  std::size_t new_capacity(const Real& real, const Allocator& allocator, std::size_t asked) const {
    const std::size_t nbytes = real.nbytes();
    if (!knows_capacities()) {
      if constexpr (requires { real.capacity(); }) {
        return real.capacity();
      }
      return nbytes;
    }
    const std::int64_t grown = counted().live_bytes - memory.live_bytes;
    asked = std::max(asked, nbytes);
    // The pool rounds up to lines or pages, and may hand out a slightly larger block; page files
    // have whole pages.
    const bool is_rounded = &allocator == &default_allocator() || &allocator == &paged_allocator();
    const std::size_t most = is_rounded ? asked + asked / 4 + page_nbytes : asked;
    if (grown < static_cast<std::int64_t>(nbytes) || grown > static_cast<std::int64_t>(most)) {
      fail("live_bytes grew by %lld for %zu bytes from the %s", static_cast<long long>(grown),
           nbytes, allocator.name());
    }
    return static_cast<std::size_t>(grown);
  }

  std::uint64_t stamp;
  std::size_t budget_nbytes_ = limits.budget_nbytes;
};

}  // namespace byre::programs
