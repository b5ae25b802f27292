// SPDX-License-Identifier: BSL-1.0
/// The opaque slot of a storage: room for one thing of the library that stands on this one. The slot
/// is empty, or holds a tag, which is a number, or an attachment, which is an object.
#pragma once

#include <byre/config.hpp>
#include <byre/storage/detail/attachment_sites.hpp>
#include <byre/sync/boost.hpp>
#include <byre/sync/sync.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace byre::inline v0::detail {

/// Destroyed with the storage it is attached to, on whatever thread that is.
class BYRE_API Attachment {
 public:
  Attachment() noexcept = default;
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;
  virtual ~Attachment() = default;
};

/// The attachments of the process, by number; see attachment_table.hpp.
template <sync::Sync Sync>
struct AttachmentNumbers {
  /// Takes the attachment over. Throws std::bad_alloc, and then did not. Locks.
  static std::uint32_t add(std::unique_ptr<Attachment>& attachment);
  /// Wait-free.
  static Attachment& at(std::uint32_t number) noexcept;
  /// Destroys the attachment. Locks.
  static void remove(std::uint32_t number) noexcept;
};

/// What ships has its table in attachment.cpp.
template <>
struct BYRE_API AttachmentNumbers<sync::Boost> {
  static std::uint32_t add(std::unique_ptr<Attachment>& attachment);
  [[gnu::cold]] static Attachment& at(std::uint32_t number) noexcept;
  [[gnu::cold]] static void remove(std::uint32_t number) noexcept;
};

/// One 32-bit word: 0 is empty, up to 2^31 - 1 the number of an attachment, and from there on a tag.
/// Thread-safe. Finding an attachment is wait-free; attaching one locks.
template <sync::Sync Sync>
class basic_attachment_slot {
 public:
  static constexpr std::uint32_t max_tag = (std::uint32_t{1} << 31) - 1;

  basic_attachment_slot() noexcept : word_(0) {}
  basic_attachment_slot(const basic_attachment_slot&) = delete;
  basic_attachment_slot& operator=(const basic_attachment_slot&) = delete;
  /// Destroys the attachment.
  ~basic_attachment_slot() {
    // Relaxed: who destroys the storage comes after all use of it.
    const std::uint32_t word = word_.load(sites.at(At::peek, std::memory_order::relaxed));
    if (is_attachment(word)) [[unlikely]] {
      Numbers::remove(word);
    }
  }

  /// One load, for callers that nearly always find no attachment.
  bool has_attachment() const noexcept { return is_attachment(peek()); }

  /// Null if there is none.
  Attachment* attachment() const noexcept {
    // Acquire pairs with attach: what is found is whole, or first_attachments_race fails.
    const std::uint32_t found = word_.load(sites.at(At::find, std::memory_order::acquire));
    return is_attachment(found) ? &Numbers::at(found) : nullptr;
  }

  /// Attaches it, in place of a tag, unless there is an attachment already or another thread comes
  /// first. Returns the attachment that is there then. Throws std::bad_alloc: nothing is attached.
  Attachment& attach(std::unique_ptr<Attachment> attachment) {
    if (Attachment* const present = this->attachment()) {
      return *present;
    }
    const std::uint32_t number = Numbers::add(attachment);
    std::uint32_t present = 0;
    // Release pairs with find: the attachment comes first, or first_attachments_race fails.
    while (!word_.compare_exchange_weak(present, number,
                                        sites.at(At::attach, std::memory_order::release))) {
      if (is_attachment(present)) {
        // Its lock comes after that of the other's add: the other's attachment is whole.
        Numbers::remove(number);
        return Numbers::at(present);
      }
    }
    return Numbers::at(number);
  }

  /// Nothing in an empty slot, and beside an attachment.
  std::optional<std::uint32_t> tag() const noexcept {
    const std::uint32_t word = peek();
    return word > max_tag ? std::optional(word ^ tag_bit) : std::nullopt;
  }
  bool has_tag() const noexcept { return peek() > max_tag; }

  /// Leaves the tag, at most max_tag, in the slot if that is empty. Lock-free.
  void set_tag(std::uint32_t tag) noexcept {
    std::uint32_t empty = 0;
    // Relaxed, and pairs with nothing: the number is all there is to know.
    while (!word_.compare_exchange_weak(empty, tag | tag_bit,
                                        sites.at(At::set_tag, std::memory_order::relaxed)) &&
           empty == 0) {
    }
  }

 private:
  using At = AttachmentSite;
  using Numbers = AttachmentNumbers<Sync>;
  static constexpr const auto& sites = attachment_sites;
  static constexpr std::uint32_t tag_bit = max_tag + 1;

  static constexpr bool is_attachment(std::uint32_t word) noexcept {
    return word != 0 && word <= max_tag;
  }
  std::uint32_t peek() const noexcept {
    // Relaxed, and pairs with nothing: who is told of an attachment looks for it with find.
    return word_.load(sites.at(At::peek, std::memory_order::relaxed));
  }

  typename Sync::template Atomic<std::uint32_t> word_;
};

}  // namespace byre::inline v0::detail
