// SPDX-License-Identifier: BSL-1.0
/// The slot of an AtomicBuffer: one atomic word that refers to data, from which threads take owners
/// of the data while other threads replace it. Taking an owner is one fetch-and-add.
///
/// The count of owners is split (as in differential reference counting, see docs/protocol.md).
/// When data is put into a slot, the slot adds `stock` owners to the share word of the data in
/// advance. A load takes one of them: it adds 1 to `taken`, and the same step tells it where the
/// data is. A store replaces the address and learns `taken` in one step, and then returns the
/// owners that were not taken. So each thread that accesses data is an owner of it, and no thread
/// waits for another.
///
///   bits    field    meaning
///   0-47    address  of the header of the data; 0: the slot is empty; 1: the slot is locked
///   48-63   taken    owners that loads have taken since the address was stored, or since a refill;
///                    meaningless if the slot is empty or locked
///
///   step      caller            transition                       then
///   take      a load            taken+1                          if taken >= refill_at: refill
///   refill    a load            taken-refill_at, if the address  adds refill_at owners before;
///                               is that of its data              returns them if the step fails
///   exchange  a store           the address of other data,       returns stock-taken owners of
///                               taken=0                          the former data
///   replace   compare_exchange  as exchange, if the address is   as exchange
///                               that of the expected data
///
/// A locked slot is the fallback for data that cannot be in a slot: see atomic_cell.hpp.
///
/// Comments below name scenarios, small programs that the model checker runs: see share_word.hpp.
///
/// Invariants, for the data in a slot that is neither empty nor locked:
///
/// S1  The share word counts stock-taken owners for the slot, and one for each buffer. A thread
///     that is about to put data into the slot, or to refill it, has the owners that it added.
/// S2  taken < stock: at least one owner is left in the slot, so the data is alive while it is
///     there.
/// S3  taken < refill_at + the number of threads that have taken an owner and have not refilled.
///     If taken >= refill_at after its take, a load ends only after it has refilled the stock, or
///     has observed that taken < refill_at or that the address changed. So S2 holds if at most
///     stock-refill_at threads, 28,672, take from one slot at once. More end the program.
/// S4  A header whose address a thread compares with the slot is alive, because the thread is an
///     owner of its data. So equal addresses mean the same data (there is no ABA problem), and a
///     refill is correct even if the data was taken out of the slot and put back meanwhile.
#pragma once

#include <byre/cow/detail/header.hpp>
#include <byre/error/detail/assert.hpp>
#include <byre/sync/detail/site.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>

namespace byre::inline BYRE_ABI::cow {

enum class AtomicSlotSite : std::uint8_t {
  take,
  refill,
  exchange,
  replace,
  look,
  peek,
};

inline constexpr sync::SiteTable<AtomicSlotSite, 6> atomic_slot_sites{{{
    {"atomic_slot.take", sync::Operation::fetch_add, std::memory_order::acquire},
    {"atomic_slot.refill", sync::Operation::compare_exchange, std::memory_order::release},
    {"atomic_slot.exchange", sync::Operation::exchange, std::memory_order::acq_rel},
    {"atomic_slot.replace", sync::Operation::compare_exchange, std::memory_order::acq_rel},
    {"atomic_slot.look", sync::Operation::load, std::memory_order::acquire},
    {"atomic_slot.peek", sync::Operation::load, std::memory_order::relaxed},
}}};

/// How a slot divides its word, and how many owners it has in stock. Tests use small numbers.
struct AtomicSlotLayout {
  unsigned address_bits;     ///< the size of `address`; `taken` has the other bits of the 64
  std::uint64_t stock;       ///< the owners that a slot adds in advance
  std::uint64_t refill_at;   ///< the number of taken owners that makes a load refill the stock
  std::uint32_t max_owners;  ///< data with more owners is not put into a slot
};

/// 16 bits of count next to an address of 48 bits. A refill costs two atomic steps in 4,096 loads.
inline constexpr AtomicSlotLayout atomic_slot_layout{
    .address_bits = 48, .stock = 1 << 15, .refill_at = 1 << 12, .max_owners = sync::max_count / 2};
static_assert(atomic_slot_layout.stock - atomic_slot_layout.refill_at == 28'672 &&
                  atomic_slot_layout.refill_at == 4096,
              "the documents and the assertion of S3 contain these numbers");
static_assert(atomic_slot_layout.max_owners == 1 << 29, "the documents contain this number");

/// Thread-safety: any number of threads may call any member of one slot at once, except the
/// destructor. Nothing throws. Progress, on machines whose atomic add and exchange are one
/// instruction: take() is wait-free, one step, except for a refill, once in refill_at loads;
/// exchange() is wait-free, one step. A refill and replace() are lock-free: each repetition follows
/// a step of another thread on this slot. The program ends if S3 is violated.
template <sync::Sync Sync, AtomicSlotLayout Layout = atomic_slot_layout>
class basic_atomic_slot {
 public:
  using Header = basic_header<Sync>;

  /// A value of the word.
  class Content {
   public:
    constexpr explicit Content(std::uint64_t word) noexcept : word_(word) {}

    bool is_locked() const noexcept { return address() == locked; }
    bool is_empty() const noexcept { return address() == 0; }
    /// The header of the data; null if the slot is empty. Requires that the slot is not locked.
    Header* header() const noexcept {
      return reinterpret_cast<Header*>(static_cast<std::uintptr_t>(address()));
    }
    bool is(const Header* header) const noexcept { return address() == address_of(header); }
    std::uint64_t taken() const noexcept { return word_ >> Layout.address_bits; }
    std::uint64_t word() const noexcept { return word_; }

   private:
    std::uint64_t address() const noexcept { return word_ & (one_taken - 1); }

    std::uint64_t word_;
  };

  constexpr basic_atomic_slot() noexcept : word_(0) {}
  basic_atomic_slot(const basic_atomic_slot&) = delete;
  basic_atomic_slot& operator=(const basic_atomic_slot&) = delete;

  /// Whether data of this header may be in a slot: the address has to fit, lazy clones have to be
  /// able to share the data, and the count of owners must have room for a stock.
  static bool fits(const Header& header) noexcept {
    return (address_of(&header) >> Layout.address_bits) == 0 && header.is_shareable() &&
           header.share().use_count() < Layout.max_owners;
  }

  /// The content for a step that puts data into a slot: turns the one owner of the caller into a
  /// stock. Requires fits().
  static Content stocked(Header& header) noexcept {
    header.share().add_owners(Layout.stock - 1);
    return Content(address_of(&header));
  }
  static Content emptied() noexcept { return Content(0); }
  static Content locked_content() noexcept { return Content(locked); }
  /// The `expected` for which replace() replaces the content of a locked slot.
  static const Header* locked_header() noexcept { return Content(locked).header(); }

  /// Returns the owners of `content` that were not taken, except one, which the caller receives.
  static void unstock(Content content) noexcept {
    if (const std::uint64_t rest = Layout.stock - content.taken() - 1; rest != 0) {
      content.header()->share().drop_owners(rest);
    }
  }

  /// Takes an owner of the data in the slot, which the caller receives. Takes nothing if the slot
  /// is empty or locked.
  Content take() noexcept {
    // Acquire pairs with exchange and replace: the writes of the data by the storing thread happen
    // before the reads of the caller, or loads_race_a_store fails. Acquire pairs with refill: the
    // owner that was taken was added before the caller drops it, or loads_refill fails. If this
    // were a load and a store, loads_race_loads would fail: both loads take one owner. If this
    // changed the word of an empty slot otherwise, loads_of_nothing would fail.
    const Content before{word_.fetch_add(one_taken, sites.at(At::take, acquire))};
    if (before.taken() + 1 >= Layout.refill_at && !before.is_empty() && !before.is_locked())
        [[unlikely]] {
      BYRE_ASSERT(before.taken() + 1 < Layout.stock,
                  "more than 28,672 threads load from one AtomicBuffer at once: let each thread "
                  "keep its load, and check it by holds()");
      refill(*before.header());
    }
    return before;
  }

  /// Puts `content` into the slot and returns what was there. The caller receives the owners of
  /// both stocks, and calls unstock().
  Content exchange(Content content) noexcept {
    // Release pairs with take: see there. Acquire pairs with exchange and replace: the former data
    // was put into the slot before the caller returns its stock, or stores_race_stores fails.
    // Acquire pairs with refill: the owners of a refill were added before the caller returns the
    // stock, or a_store_races_a_refill fails. If this were a load and a store, a load in between
    // would take an owner that the caller then returns: loads_race_a_store would fail.
    return Content(word_.exchange(content.word(), sites.at(At::exchange, acq_rel)));
  }

  /// As exchange(), if the slot contains data of `expected`, or is empty and `expected` is null.
  /// Otherwise changes nothing. `former` becomes what was in the slot.
  bool replace(const Header* expected, Content content, Content& former) noexcept {
    std::uint64_t now = peek();
    while (Content(now).is(expected)) {
      // Release pairs with take, or replacements_race fails. Acquire pairs with exchange and
      // replace: what the storing thread did happens before the return, even if the caller got its
      // owner of `expected` elsewhere, or stored_data_is_replaced and replacements_are_replaced
      // fail. Acquire pairs with refill, or a_replacement_races_a_refill fails. If this were a load
      // and a store, two callers would replace one content: replacements_race would fail.
      if (word_.compare_exchange_weak(now, content.word(), sites.at(At::replace, acq_rel))) {
        former = Content(now);
        return true;
      }
    }
    former = Content(now);
    return false;
  }

  /// The present content.
  Content look() const noexcept {
    // Acquire pairs with exchange and replace: if a caller finds that the data was replaced, all
    // that the storing thread did before the store happens before the return, or waits_end fails.
    return Content(word_.load(sites.at(At::look, acquire)));
  }

 private:
  using At = AtomicSlotSite;
  static constexpr const auto& sites = atomic_slot_sites;
  static constexpr auto relaxed = std::memory_order::relaxed;
  static constexpr auto acquire = std::memory_order::acquire;
  static constexpr auto release = std::memory_order::release;
  static constexpr auto acq_rel = std::memory_order::acq_rel;

  static constexpr std::uint64_t one_taken = std::uint64_t{1} << Layout.address_bits;
  static constexpr std::uint64_t locked = 1;  // no address: headers are aligned

  static_assert(Layout.stock <= std::uint64_t{1} << (64 - Layout.address_bits),
                "taken must not overflow");
  static_assert(Layout.refill_at >= 1 && Layout.refill_at < Layout.stock);

  static std::uint64_t address_of(const Header* header) noexcept {
    return reinterpret_cast<std::uintptr_t>(header);
  }

  std::uint64_t peek() const noexcept {
    // Relaxed, and pairs with nothing: the result is only the expected value of the
    // compare-exchange that follows. If that fails, it supplies the next expected value.
    return word_.load(sites.at(At::peek, relaxed));
  }

  /// Adds `refill_at` owners to the stock, unless another thread has done so, or the data is no
  /// longer in the slot. The caller is an owner of the data.
  [[gnu::cold, gnu::noinline]] void refill(Header& header) noexcept {
    header.share().add_owners(Layout.refill_at);
    std::uint64_t now = peek();
    while (Content(now).is(&header) && Content(now).taken() >= Layout.refill_at) {
      // Release pairs with take and exchange: the owners are added before any of them is dropped,
      // or loads_refill and a_store_races_a_refill fail. If this were a load and a store, or left
      // out, loads_refill would fail.
      if (word_.compare_exchange_weak(now, now - Layout.refill_at * one_taken,
                                      sites.at(At::refill, release))) {
        return;
      }
    }
    header.share().drop_owners(Layout.refill_at);
  }

  typename Sync::template Atomic<std::uint64_t> word_;
};

}  // namespace byre::inline BYRE_ABI::cow
