// SPDX-License-Identifier: BSL-1.0
/// The table of attachments: few storages have one, so a storage keeps a number of four bytes, which
/// were padding, and the pointers are here.
#pragma once

#include <byre/error/detail/assert.hpp>
#include <byre/storage/detail/attachment.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace byre::inline v0::detail {

/// The attachments of all storages by their numbers, which are from 1 on and used again.
///
/// A number is given out and taken back under the lock. What a number stands for is written before it
/// is known to anybody and read by those who know it, so that at() needs no step of its own.
template <sync::LockingSync Sync>
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

  /// Takes the attachment, unless it throws std::bad_alloc.
  std::uint32_t add(std::unique_ptr<Attachment>& attachment) {
    std::unique_ptr<Cell[]> room;  // made while nothing is locked: the heap may call what uses byre
    for (std::size_t lacking = segments_.size();;) {
      {
        const Guard guard(lock_);
        const std::uint32_t free = first_free_.get();
        const std::uint32_t number = free != 0 ? free : next_.get();
        BYRE_ASSERT(number <= basic_attachment_slot<Sync>::max_tag,
                    "there are 2^31 storages with attachments");
        Segment& segment = segments_[segment_of(number)];
        Cell* cells = segment.get();
        // Another thread may have made it meanwhile, or taken all that there was room for.
        if (cells == nullptr && lacking == segment_of(number)) {
          segment.set(cells = room.release());
        }
        if (cells != nullptr) {
          Cell& cell = cells[place_of(number)];
          if (free != 0) {
            first_free_.set(cell.next_free.get());
          } else {
            next_.set(number + 1);
          }
          cell.attachment.set(attachment.release());
          return number;
        }
        lacking = segment_of(number);
      }
      room = std::make_unique<Cell[]>(std::size_t{1} << lacking);
    }
  }

  /// Wait-free.
  Attachment& at(std::uint32_t number) const noexcept { return *cell(number).attachment.get(); }

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
    explicit Guard(typename Sync::ProcessMutex& lock) : lock_(lock) {
      lock_.lock(attachment_sites.at(At::lock));
    }
    ~Guard() { lock_.unlock(attachment_sites.at(At::unlock)); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    typename Sync::ProcessMutex& lock_;
  };

  /// Segments double, and never move: number 1 is in the first, 2 and 3 are in the second.
  static std::size_t segment_of(std::uint32_t number) noexcept {
    return static_cast<std::size_t>(std::bit_width(number) - 1);
  }
  static std::size_t place_of(std::uint32_t number) noexcept {
    return number - (std::uint32_t{1} << segment_of(number));
  }
  Cell& cell(std::uint32_t number) const noexcept {
    return segments_[segment_of(number)].get()[place_of(number)];
  }

  std::array<Segment, 32> segments_;
  typename Sync::template Plain<std::uint32_t> next_{1};
  typename Sync::template Plain<std::uint32_t> first_free_{0};
  typename Sync::ProcessMutex lock_;
};

template <sync::Sync Sync>
std::uint32_t AttachmentNumbers<Sync>::add(std::unique_ptr<Attachment>& attachment) {
  return Sync::template no_destructor<basic_attachment_table<Sync>>().add(attachment);
}
template <sync::Sync Sync>
Attachment& AttachmentNumbers<Sync>::at(std::uint32_t number) noexcept {
  return Sync::template no_destructor<basic_attachment_table<Sync>>().at(number);
}
template <sync::Sync Sync>
void AttachmentNumbers<Sync>::remove(std::uint32_t number) noexcept {
  Sync::template no_destructor<basic_attachment_table<Sync>>().remove(number);
}

}  // namespace byre::inline v0::detail
