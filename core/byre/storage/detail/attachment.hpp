// SPDX-License-Identifier: BSL-1.0
/// Attachments: what a room above hangs on one storage, so that whoever has the storage finds it. Few
/// storages have one, and those that do not pay four bytes that were padding, and one predictable
/// branch where they are asked for it. Until there is one the four bytes have room for a note: a number
/// that the room above knows the meaning of.
#pragma once

#include <byre/config.hpp>
#include <byre/error/detail/assert.hpp>
#include <byre/storage/detail/attachment_sites.hpp>
#include <byre/sync/detail/boost_shared_mutex.hpp>
#include <byre/sync/sync.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace byre::inline v0 {

/// By which a room that finds an attachment knows whether it is its own.
enum class AttachmentKind : std::uint8_t { lineage, other };

/// Destroyed with the storage it is attached to, on whatever thread that is.
class BYRE_API Attachment {
 public:
  Attachment() noexcept = default;
  explicit Attachment(AttachmentKind kind) noexcept : kind_(kind) {}
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;
  virtual ~Attachment() = default;

  AttachmentKind kind() const noexcept { return kind_; }

 private:
  const AttachmentKind kind_ = AttachmentKind::other;
};

namespace detail {

inline constexpr std::uint32_t most_attachments = (std::uint32_t{1} << 31) - 1;

/// The attachments of all storages by their numbers, which are from 1 on and used again.
///
/// A number is given out and taken back under the lock. What a number stands for is written before it
/// is known to anybody and read by those who know it, so that at() needs no step of its own.
template <sync::Sync Sync>
class basic_attachment_table {
 public:
  basic_attachment_table() noexcept = default;
  basic_attachment_table(const basic_attachment_table&) = delete;
  basic_attachment_table& operator=(const basic_attachment_table&) = delete;
  ~basic_attachment_table() {
    for (const Segment& segment : segments_) {
      delete[] segment.get();
    }
  }

  /// Takes the attachment over. Throws std::bad_alloc, and then did not. Locks.
  std::uint32_t add(std::unique_ptr<Attachment>& attachment) {
    const Guard guard(lock_);
    std::uint32_t number = first_free_.get();
    if (number == 0) {
      number = next_.get();
      BYRE_ASSERT(number <= most_attachments, "there are 2^31 storages with attachments");
      cell(number, Make::yes);
      next_.set(number + 1);
    } else {
      first_free_.set(cell(number).next_free.get());
    }
    cell(number).attachment.set(attachment.release());
    return number;
  }

  /// Wait-free.
  Attachment& at(std::uint32_t number) const noexcept { return *cell(number).attachment.get(); }

  /// Destroys the attachment, and frees its number. Locks.
  void remove(std::uint32_t number) noexcept {
    delete cell(number).attachment.get();
    const Guard guard(lock_);
    cell(number).next_free.set(first_free_.get());
    first_free_.set(number);
  }

 private:
  using At = AttachmentSite;

  struct Cell {
    typename Sync::template Plain<Attachment*> attachment{nullptr};
    typename Sync::template Plain<std::uint32_t> next_free{0};
  };

  struct Segment : Sync::template Plain<Cell*> {
    Segment() noexcept : Sync::template Plain<Cell*>(nullptr) {}
  };

  class Guard {
   public:
    explicit Guard(typename Sync::SharedMutex& lock) : lock_(lock) {
      lock_.lock(attachment_sites.at(At::lock));
    }
    ~Guard() { lock_.unlock(attachment_sites.at(At::unlock)); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    typename Sync::SharedMutex& lock_;
  };

  /// Segments double, and never move: number 1 is in the first, 2 and 3 are in the second.
  enum class Make : bool { no, yes };
  Cell& cell(std::uint32_t number, Make make = Make::no) const {
    const auto segment = static_cast<std::size_t>(std::bit_width(number) - 1);
    const std::uint32_t count = std::uint32_t{1} << segment;
    if (make == Make::yes && segments_[segment].get() == nullptr) {
      segments_[segment].set(new Cell[count]);
    }
    return segments_[segment].get()[number - count];
  }

  mutable std::array<Segment, 32> segments_;
  typename Sync::template Plain<std::uint32_t> next_{1};
  typename Sync::template Plain<std::uint32_t> first_free_{0};
  typename Sync::SharedMutex lock_;
};

/// Room for one attachment, in the storage, or for a note until there is one. Finding it is wait-free;
/// attaching one locks.
template <sync::Sync Sync>
class basic_attachment_slot {
 public:
  basic_attachment_slot() noexcept : number_(0) {}
  basic_attachment_slot(const basic_attachment_slot&) = delete;
  basic_attachment_slot& operator=(const basic_attachment_slot&) = delete;
  /// Destroys what is attached.
  ~basic_attachment_slot() {
    // Relaxed: who destroys the storage comes after all use of it.
    const std::uint32_t number = number_.load(sites.at(At::ask, std::memory_order::relaxed));
    if (is_attachment(number)) [[unlikely]] {
      remove(number);
    }
  }

  /// One load, for those who nearly always find none.
  bool has_one() const noexcept {
    // Relaxed, and pairs with nothing: who is told that there is one looks for it with find.
    return is_attachment(number_.load(sites.at(At::ask, std::memory_order::relaxed)));
  }

  /// Null if there is none.
  Attachment* find() const noexcept {
    // Acquire pairs with attach: what is found is whole, or first_attachments_race fails.
    const std::uint32_t found = number_.load(sites.at(At::find, std::memory_order::acquire));
    return is_attachment(found) ? at(found) : nullptr;
  }

  /// Attaches it, unless there is one already or another thread comes first; answers the one that is
  /// there then. What was noted is gone. Throws std::bad_alloc: nothing is attached.
  Attachment& attach(std::unique_ptr<Attachment> attachment) {
    if (Attachment* const attached = find()) {
      return *attached;
    }
    const std::uint32_t number = table().add(attachment);
    std::uint32_t present = 0;
    // Release pairs with find: the attachment comes first, or first_attachments_race fails.
    while (!number_.compare_exchange_weak(present, number,
                                          sites.at(At::attach, std::memory_order::release))) {
      if (is_attachment(present)) {
        // Its lock comes after that of the other's add: the other's attachment is whole.
        table().remove(number);
        return table().at(present);
      }
    }
    return table().at(number);
  }

  /// What was noted last, of 31 bits; 0 for nothing, or once there is an attachment.
  std::uint32_t noted() const noexcept {
    // Relaxed, and pairs with nothing: the number is all there is to know.
    const std::uint32_t number = number_.load(sites.at(At::read_note, std::memory_order::relaxed));
    return number > most_attachments ? number ^ note_bit : 0;
  }

  /// Whether that was noted last. Of 0 never.
  bool is_noted(std::uint32_t noted) const noexcept {
    // Relaxed, and pairs with nothing: the number is all there is to know.
    return number_.load(sites.at(At::read_note, std::memory_order::relaxed)) == (noted | note_bit);
  }

  /// Notes it, unless there is an attachment, or another note than `present`, what noted() said.
  void note(std::uint32_t present, std::uint32_t noted) noexcept {
    const std::uint32_t before = present == 0 ? 0 : present | note_bit;
    std::uint32_t found = before;
    // Relaxed, and pairs with nothing: the number is all there is to know.
    while (!number_.compare_exchange_weak(found, noted | note_bit,
                                          sites.at(At::note, std::memory_order::relaxed)) &&
           found == before) {
    }
  }

 private:
  using At = AttachmentSite;
  using Table = basic_attachment_table<Sync>;
  static constexpr const auto& sites = attachment_sites;
  static constexpr std::uint32_t note_bit = most_attachments + 1;

  static constexpr bool is_attachment(std::uint32_t number) noexcept {
    return number != 0 && number <= most_attachments;
  }
  static Table& table() noexcept { return Sync::template no_destructor<Table>(); }
  // Functions of their own: those that find no attachment need not make room for them.
  [[gnu::noinline, gnu::cold]] static Attachment* at(std::uint32_t number) noexcept {
    return &table().at(number);
  }
  [[gnu::noinline, gnu::cold]] static void remove(std::uint32_t number) noexcept {
    table().remove(number);
  }

  /// Of an attachment, or a note and its bit.
  typename Sync::template Atomic<std::uint32_t> number_;
};

}  // namespace detail

/// Defined in attachment.cpp.
template <>
BYRE_API detail::basic_attachment_table<sync::Boost>
    sync::detail::TheOne<detail::basic_attachment_table<sync::Boost>>::object;

}  // namespace byre::inline v0
