// SPDX-License-Identifier: BSL-1.0
/// State: the slots of one program, the places that it shares with other programs, and its predictions.
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

/// The steps and sizes of a program.
struct Limits {
  Mix mix = usual_mix();
  std::size_t slots = 6;  ///< of buffers, and of storages
  std::size_t least_nbytes = 0;
  std::size_t most_nbytes = std::size_t{2} << 20;
  unsigned small_of_256 = 180;  ///< that many sizes are of at most some hundred bytes
  std::size_t budget_nbytes = std::size_t{4} << 20;  ///< then all is small
  std::size_t tile_nbytes = 16;
  bool only_pages = false;  ///< memory is in pages, or a file's
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

  /// No other thread takes part: all that is counted is this program's, and every answer can be predicted.
  bool is_only_one = true;
  /// Other programs' threads are held, and nothing is under way.
  bool others_are_held = false;
  bool is_exact() const noexcept { return is_only_one || others_are_held; }

  const stats::Counters before = stats::snapshot();
  Predictions predictions;
  std::vector<Copy> seen_copies;  ///< by sinks, as Predictions::copies
  bool sinks_throw = false;
  std::size_t thrown = 0;
  int depth = 0;               ///< of steps in the middle of others
  std::function<void()> fork;  ///< in which a child takes other steps; none: not to be done
  std::function<void()>
      steps_in_new;  ///< to run in the middle of the next change of a table of tiles

  std::vector<BufferSlot<T>> buffers{limits.slots};
  std::vector<StorageSlot<T>> storages{limits.slots};
  std::array<PinSlot<T>, 4> pins;
  std::array<TiledSlot<T>, 5> tiled;

  /// A storage does not tell its capacity; the growth of live_bytes does.
  bool knows_capacities() const noexcept { return is_only_one && BYRE_STATS != 0; }

  /// Other programs' threads take part from now on.
  void share() noexcept {
    is_only_one = false;
    faults.heap_may_be_done_without = true;
  }

  /// byre's counters so far.
  stats::Counters counted() const noexcept { return stats::snapshot() - before; }

  Allocator& choose_allocator() {
    if (limits.only_pages) {
      return paged_allocator();
    }
    Allocator* const all[] = {&default_allocator(), &memory.host,       &memory.device,
                              &memory.resource,     &paged_allocator(), &memory.host};
    return *all[choices.below(std::size(all))];
  }

  /// Small mostly; sometimes about a size where something changes: a page, what the pool recycles, what is in pages.
  std::size_t choose_nbytes() {
    constexpr std::size_t steps[] = {4096, std::size_t{64} << 10, least_paged_nbytes,
                                     std::size_t{2} << 20};
    const std::size_t choice = choices.byte();
    std::size_t nbytes = choice;
    if (choice >= 236) {
      nbytes = steps[choice % std::size(steps)] + choices.byte() * 8 - 1024;
    } else if (choice >= limits.small_of_256) {
      // The smallest of three orders of magnitude: the largest come up, and most steps take microseconds.
      const auto bits = static_cast<std::size_t>(std::bit_width(limits.most_nbytes));
      const std::size_t least =
          std::min({choices.below(bits), choices.below(bits), choices.below(bits)});
      nbytes = (std::size_t{1} << least) + choices.up_to((std::size_t{1} << least) - 1);
    }
    nbytes = std::clamp(nbytes, limits.least_nbytes, limits.most_nbytes);
    if (nbytes > budget_nbytes_ && is_only_one) {
      return limits.least_nbytes + choice;
    }
    budget_nbytes_ -= is_only_one ? nbytes : 0;
    return nbytes;
  }

  /// Each time others; to be written from `at` on.
  Bytes new_bytes(std::size_t nbytes, std::size_t at = 0) {
    Bytes bytes(nbytes);
    fill(bytes.data(), nbytes, at, ++stamp);
    return bytes;
  }

  // The model's side of steps.

  Value make(Bytes bytes, Data::Description description) {
    return {content_of(std::move(bytes)), std::make_shared<Data>(memory, std::move(description))};
  }

  /// Data that byre has just allocated for `real`. Its capacity is the growth of `live_bytes`, which is checked against
  /// what the allocator may add.
  template <class Real>
  DataOwner allocated(const Real& real, Allocator& allocator, std::size_t asked = 0) {
    const bool may_be_paged = &allocator == &paged_allocator();
    Origin origin = Origin::allocated;
    if constexpr (requires { real.origin(); }) {  // a pin does not say
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

  /// `real` was written, and did what `answer` says.
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
    if (is_only_one && source->description().read_only) {
      const bool is_last = owners_of(source) == 1 || source->description().others_data != nullptr;
      write.cause = is_last ? stats::CopyCause::read_only : stats::CopyCause::shared;
    } else if (is_only_one) {
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

  /// Where other threads take part the cause of a copy is what the sink was told. A copy of `some` pages is not
  /// predicted either.
  /// Returns how many bytes were copied.
  std::size_t learn_copy(stats::CopyCause& cause, bool some) {
    const std::size_t at = predictions.copies.size();
    if (at >= seen_copies.size()) {
      return 0;
    }
    const Copy seen = seen_copies[at];
    cause = is_only_one ? cause : seen.cause;
    if (some) {
      predictions.copy(seen.nbytes, cause);
    }
    return seen.nbytes;
  }

  /// An overlay of the data whose pages `source` is or shows.
  template <class Real>
  DataOwner overlay_of(const Real& real, const DataOwner& source) {
    const DataOwner& base =
        source->description().origin == Origin::overlay ? source->description().base : source;
    if (real.origin() != Origin::overlay || !is_in_pages(base->description().origin)) {
      fail("data of origin %d was overlaid by data of origin %d", int(source->description().origin),
           int(real.origin()));
    }
    std::size_t capacity = base->description().capacity;
    if constexpr (requires { real.capacity(); }) {
      // It may not be known whether a writable clone is of a new file.
      capacity = knows_capacities() ? capacity : real.capacity();
    }
    return std::make_shared<Data>(memory,
                                  Data::Description{.origin = Origin::overlay,
                                                    .allocator = source->description().allocator,
                                                    .capacity = capacity,
                                                    .base = base});
  }

  /// Both sides of a writable clone of data in pages are overlays; the source may have become one, or one of a new file.
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
      ++predictions.unseen_overlays;
      source.data = overlay_of(real, source.data);
    }
    if (is_cloned) {
      auto cause = stats::CopyCause::writable;
      const std::size_t copied = learn_copy(cause, true);
      predictions.clone(source.nbytes() - std::min(copied, source.nbytes()));
    }
  }

  /// Whether the system takes part, which may get over a refusal of memory.
  bool is_of_pages(const Value& value) const noexcept {
    return is_in_pages(value.origin()) || &value.allocator() == &paged_allocator();
  }

  /// Visits the value of every slot; the value of several handles more than once.
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
    // The pool rounds up, to lines or pages, and hands out what is a little larger; files have whole pages.
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
