// SPDX-License-Identifier: BSL-1.0
/// Overwritten: the writes of one storage that others have replaced as its last. A report may be of
/// one of these, where the last write is silenced or an earlier one is to be thrown for.
#pragma once

#include <byre/shadow/overwritten_sites.hpp>
#include <byre/shadow/place_list.hpp>
#include <byre/shadow/write_mark.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>

namespace byre::inline v0::shadow {

/// Places, each with the mark of the last write there that was replaced.
///
/// Invariant: a mark is only ever replaced by a later one.
/// A write is noted before the one that replaces it is made: so who knows of the storage's last
/// write finds here the last of each other place, unless there was no memory for it.
///
/// Thread-safe; lock-free. Places are few: a look goes through all of them.
template <sync::Sync Sync>
class basic_overwritten {
 public:
  /// The write is about to be replaced by one at another place.
  void note(WriteMark write) noexcept {
    const auto [mark, is_new] = marks_.add(write.place(), write.word());
    if (mark != nullptr && !is_new) {
      raise(*mark, write);
    }
  }

  /// Calls `visit(write)` for each that came after `known` and before `last`, in no order.
  template <class Visit>
  void for_each_between(WriteMark known, WriteMark last, const Visit& visit) const {
    marks_.for_each([&](const Mark& mark) {
      const WriteMark write(noted(mark));
      if (write.generation() > known.generation() && write.generation() < last.generation()) {
        visit(write);
      }
    });
  }

 private:
  using At = OverwrittenSite;
  static constexpr const auto& sites = overwritten_sites;

  using Mark = typename Sync::template Atomic<std::uint64_t>;

  static std::uint64_t noted(const Mark& mark) noexcept {
    // Relaxed, and pairs with nothing: who is told of a write comes after what was noted before it.
    return mark.load(sites.at(At::noted, std::memory_order::relaxed));
  }

  static void raise(Mark& mark, WriteMark write) noexcept {
    std::uint64_t found = noted(mark);
    // Relaxed, and pairs with nothing: of one place the later mark is the larger.
    while (found < write.word() &&
           !mark.compare_exchange_weak(found, write.word(),
                                       sites.at(At::raise, std::memory_order::relaxed))) {
    }
  }

  basic_place_list<Sync, Mark> marks_;
};

}  // namespace byre::inline v0::shadow
