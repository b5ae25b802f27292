// SPDX-License-Identifier: BSL-1.0
/// The cell of an AtomicBuffer: a place for a buffer, which threads load and replace at once. Data
/// that lazy clones share by one atomic add is in a slot, without a lock; other data is held under
/// a lock.
///
/// Data is *held* if it does not fit a slot (basic_atomic_slot::fits()): borrowed and aliased
/// memory, which a load has to copy while no thread replaces it; a header whose address has more
/// than 48 bits; and data with more than 2^29 owners. The slot is then locked, `held_` has the
/// header, and loads and stores take the lock of the cell's address.
///
///   content      slot      held_
///   empty        empty     null
///   fitting      address   null
///   held         locked    address
///   handed over  other     address, until the store that replaced the locked slot takes it out
///
/// C1  A thread changes `held_` only under the lock. It locks the slot only under the lock and only
///     if `held_` is null, and then sets `held_` to an address. So if the slot is locked, `held_`
///     is null only while the thread that locked the slot still holds the lock.
/// C2  A store of fitting data replaces the content of the slot without the lock. If the slot was
///     locked, the value of `held_` belongs to that store. By C1 no other store can lock the slot
///     until that store has taken the value out.
#pragma once

#include <byre/cow/detail/atomic_slot.hpp>
#include <byre/memory/budget_exceeded.hpp>
#include <byre/observe/detail/observer.hpp>
#include <byre/storage/buffer.hpp>
#include <byre/sync/detail/lock_table.hpp>

#include <cstdint>
#include <utility>

namespace byre::inline BYRE_ABI::detail {

enum class AtomicCellSite : std::uint8_t {
  held,
  set_held,
  park_to_hold,
  wake_to_hold,
  count_store,
  version,
  park,
  notify,
};

inline constexpr sync::SiteTable<AtomicCellSite, 8> atomic_cell_sites{{{
    {"atomic_cell.held", sync::Operation::load, std::memory_order::acquire},
    {"atomic_cell.set_held", sync::Operation::store, std::memory_order::release},
    {"atomic_cell.park_to_hold", sync::Operation::park, std::memory_order::seq_cst},
    {"atomic_cell.wake_to_hold", sync::Operation::unpark, std::memory_order::seq_cst},
    {"atomic_cell.count_store", sync::Operation::fetch_add, std::memory_order::release},
    {"atomic_cell.version", sync::Operation::load, std::memory_order::acquire},
    {"atomic_cell.park", sync::Operation::park, std::memory_order::seq_cst},
    {"atomic_cell.notify", sync::Operation::unpark, std::memory_order::seq_cst},
}}};

/// Whether a load is reported to observers as a lazy clone.
enum class Reported : bool { no, yes };

/// Thread-safety: any number of threads may call any member of one cell at once, except the
/// destructor. Errors and progress: those of basic_atomic (atomic_buffer.hpp).
template <sync::Sync Sync, class Slot = cow::basic_atomic_slot<Sync>>
class basic_atomic_cell {
 public:
  using Buffer = basic_buffer<Sync>;

  constexpr basic_atomic_cell() noexcept : held_(0), version_(0) {}
  explicit basic_atomic_cell(Buffer&& buffer, CallSite site) noexcept : basic_atomic_cell() {
    put(std::move(buffer), site);
  }
  basic_atomic_cell(const basic_atomic_cell&) = delete;
  basic_atomic_cell& operator=(const basic_atomic_cell&) = delete;
  ~basic_atomic_cell() { put(Buffer(), CallSite{}); }

  /// A buffer that becomes the owner in place of the caller; empty if `header` is null.
  static Buffer to_buffer(cow::basic_header<Sync>* header) noexcept {
    return header == nullptr ? Buffer() : Buffer(header);
  }

  /// A lazy clone of the content; a copy if the content is borrowed or aliased memory.
  template <Reported reported>
  Buffer load(CallSite site) const {
    for (;;) {
      const Content content = slot_.take();
      if (!content.is_locked()) [[likely]] {
        Header* const header = content.header();
        if (header == nullptr) {
          return Buffer();
        }
        if constexpr (reported == Reported::yes) {
          stats::detail::report_clone(*header, site, [] {});
        }
        return Buffer(header);
      }
      // The clone may be a copy, which asks for bytes only if the lock is not held.
      Buffer clone;
      if (detail::within_budget(nullptr, [&] { return clone_held(clone, site); })) {
        return clone;
      }
    }
  }

  Buffer exchange(Buffer&& desired, CallSite site) noexcept {
    Buffer former = put(std::move(desired), site);
    count_store();
    return former;
  }

  /// As exchange(), if the content and `expected` are equal; `desired` is empty then. Otherwise
  /// changes nothing and returns false.
  bool compare_exchange(const Buffer& expected, Buffer& desired, CallSite site) noexcept {
    Header* const header = become_content(desired, site);
    Buffer former;
    if (!replace(header_of(expected), header, former)) {
      if (BYRE_CHECKS && header != nullptr && header->share().is_unique()) {
        header->becomes_unique(site);  // undoes becomes_shared()
      }
      desired = to_buffer(header);
      return false;
    }
    count_store();
    return true;
  }

  /// Whether the buffers share their data, or both are empty.
  static bool are_equal(const Buffer& left, const Buffer& right) noexcept {
    return header_of(left) == header_of(right);
  }

  /// Whether the content and `buffer` are equal.
  bool holds(const Buffer& buffer) const noexcept {
    const Header* const header = header_of(buffer);
    for (;;) {
      const Content content = slot_.look();
      if (!content.is_locked()) {
        return content.is(header);
      }
      if (const Header* const now = held()) {
        return now == header;
      }
      // Another thread has just locked the slot and is about to set held_, or it has unlocked the
      // slot meanwhile.
      Sync::pause();
    }
  }

  /// Returns as soon as !holds(buffer).
  void wait(const Buffer& buffer) const noexcept {
    const auto keep_waiting = [&]() noexcept { return holds(buffer); };
    for (unsigned spins = 0; keep_waiting(); ++spins) {
      if (spins < Sync::spin_limit) {
        Sync::pause();
      } else {
        // Pairs with notify. Without this wait, waits_end spins.
        Sync::park(this, keep_waiting, sites.at(At::park));
      }
    }
  }
  void notify() const noexcept {
    // Pairs with park. Without it, waits_end hangs.
    Sync::unpark_all(this, sites.at(At::notify));
  }

  std::uint64_t version() const noexcept {
    // Acquire pairs with count_store: a load that follows reads the content of each store that the
    // result counts, or that of a later store, or versions_count_stores fails.
    return version_.load(sites.at(At::version, acquire));
  }

 private:
  using Header = typename Slot::Header;
  using Content = typename Slot::Content;
  using Lock = sync::detail::AddressLock<Sync>;
  using At = AtomicCellSite;
  static constexpr const auto& sites = atomic_cell_sites;
  static constexpr auto acquire = std::memory_order::acquire;
  static constexpr auto release = std::memory_order::release;

  /// A buffer that is an owner of the held data in place of `held_`.
  struct HeldBuffer {
    explicit HeldBuffer(Header* header) noexcept : buffer(header) {}
    ~HeldBuffer() { buffer.give_up_header(); }
    HeldBuffer(const HeldBuffer&) = delete;
    HeldBuffer& operator=(const HeldBuffer&) = delete;

    Buffer buffer;
  };

  static Header* header_of(const Buffer& buffer) noexcept {
    return buffer.has_data() ? &buffer.header() : nullptr;
  }
  /// The header of `buffer`, which is empty afterwards; null if it is empty.
  static Header* become_content(Buffer& buffer, CallSite site) noexcept {
    if (!buffer.has_data()) {
      return nullptr;
    }
    Header* const header = buffer.give_up_header();
    if (header->is_shareable()) {
      header->becomes_shared(site);
    }
    return header;
  }
  /// The content for a step of the slot.
  static Content stocked(Header* header) noexcept {
    return header == nullptr ? Slot::emptied() : Slot::stocked(*header);
  }
  /// The header of `content`, without the stock except for one owner; null if it is empty.
  static Header* unstocked(Content content) noexcept {
    if (content.is_empty()) {
      return nullptr;
    }
    Slot::unstock(content);
    return content.header();
  }
  static bool fits(const Header* header) noexcept {
    return header == nullptr || Slot::fits(*header);
  }

  /// Clones the held content, unless the slot has other content by now.
  [[gnu::cold, gnu::noinline]] bool clone_held(Buffer& clone, CallSite site) const {
    const Lock lock(this);
    if (!slot_.look().is_locked()) {
      return false;
    }
    const HeldBuffer content_held(held());
    clone = content_held.buffer.lazy_clone(site);
    return true;
  }

  Buffer put(Buffer&& desired, CallSite site) noexcept {
    Header* const header = become_content(desired, site);
    if (!fits(header)) [[unlikely]] {
      Buffer former;
      hold(
          header, [](const Header*) { return true; }, former);
      return former;
    }
    const Content former = slot_.exchange(stocked(header));
    return to_buffer(former.is_locked() ? take_held() : unstocked(former));
  }

  bool replace(const Header* expected, Header* header, Buffer& former) noexcept {
    if (!fits(header)) [[unlikely]] {
      return hold(
          header, [=](const Header* content) { return content == expected; }, former);
    }
    const Content desired = stocked(header);
    for (;;) {
      Content replaced = desired;
      if (slot_.replace(expected, desired, replaced)) [[likely]] {
        former = to_buffer(unstocked(replaced));
        return true;
      }
      if (!replaced.is_locked()) {
        break;
      }
      const Unlocked unlocked = unlock(expected, desired);
      if (unlocked == Unlocked::yes) {
        former = to_buffer(take_held());
        return true;
      }
      if (unlocked == Unlocked::other_content) {
        break;
      }
    }
    unstocked(desired);
    return false;
  }

  /// The result of unlock().
  enum class Unlocked : std::uint8_t {
    yes,
    other_content,
    already,  ///< by another store
  };

  /// Puts `desired` into a locked slot if the held data is that of `expected`. The held data then
  /// belongs to the caller (C2).
  [[gnu::cold, gnu::noinline]] Unlocked unlock(const Header* expected, Content desired) noexcept {
    const Lock lock(this);
    if (!slot_.look().is_locked()) {
      return Unlocked::already;
    }
    if (held() != expected) {
      return Unlocked::other_content;
    }
    Content replaced = desired;
    return slot_.replace(Slot::locked_header(), desired, replaced) ? Unlocked::yes
                                                                   : Unlocked::already;
  }

  /// Makes `header` the held content, if `replaces(header of the content)`. Requires that `header`
  /// does not fit, so it is not null.
  template <class Replaces>
  [[gnu::cold, gnu::noinline]] bool hold(Header* header, const Replaces& replaces,
                                         Buffer& former) noexcept {
    for (;;) {
      {
        const Lock lock(this);
        Content content = slot_.look();
        if (content.is_locked()) {
          Header* const replaced = held();
          if (!replaces(replaced)) {
            return false;
          }
          set_held(header);
          former = to_buffer(replaced);
          return true;
        }
        if (!replaces(content.header())) {
          return false;
        }
        // The slot may contain other data at this address by now. `replaces` accepts it, too: it
        // accepts any content, or only data that the caller owns.
        if (held() == nullptr && slot_.replace(content.header(), Slot::locked_content(), content)) {
          set_held(header);
          former = to_buffer(unstocked(content));
          return true;
        }
      }
      // Another store is about to take the held data out (C2). Pairs with wake_to_hold. Without
      // this wait, held_data_is_handed_over spins.
      Sync::park(
          &held_, [this]() noexcept { return held() != nullptr && !slot_.look().is_locked(); },
          sites.at(At::park_to_hold));
    }
  }

  /// Takes out the held data, which belongs to the calling store (C2).
  [[gnu::cold, gnu::noinline]] Header* take_held() noexcept {
    Header* former;
    {
      const Lock lock(this);
      former = held();
      set_held(nullptr);
    }
    // Pairs with park_to_hold. Without it, held_data_is_handed_over hangs.
    Sync::unpark_all(&held_, sites.at(At::wake_to_hold));
    return former;
  }

  Header* held() const noexcept {
    // Acquire pairs with set_held, for holds(), which does not take the lock: if the held data was
    // replaced, all that the storing thread did before the store happens before the return, or
    // waits_for_held_data_end fails.
    return reinterpret_cast<Header*>(
        static_cast<std::uintptr_t>(held_.load(sites.at(At::held, acquire))));
  }
  void set_held(Header* header) noexcept {
    // Release pairs with held, or waits_for_held_data_end fails. Without this store,
    // held_data_is_handed_over fails.
    held_.store(reinterpret_cast<std::uintptr_t>(header), sites.at(At::set_held, release));
  }
  void count_store() noexcept {
    // Release pairs with version, or versions_count_stores fails. If this were a load and a store,
    // stores_race_stores would fail.
    version_.fetch_add(1, sites.at(At::count_store, release));
  }

  mutable Slot slot_;
  typename Sync::template Atomic<std::uint64_t> held_;
  typename Sync::template Atomic<std::uint64_t> version_;
};

}  // namespace byre::inline BYRE_ABI::detail
