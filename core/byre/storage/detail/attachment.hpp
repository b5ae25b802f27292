// SPDX-License-Identifier: BSL-1.0
/// The slot of a storage: one word in which the tensor library attaches data to the storage. A slot
/// is empty, or holds a tag (a number), or owns an attachment (an object).
#pragma once

#include <byre/sync/default.hpp>
#include <byre/sync/detail/site.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace byre::inline BYRE_ABI::detail {

enum class AttachmentSite : std::uint8_t { peek, find, attach, set_tag };

inline constexpr sync::SiteTable<AttachmentSite, 4> attachment_sites{{{
    {"attachment.peek", sync::Operation::load, std::memory_order::relaxed},
    {"attachment.find", sync::Operation::load, std::memory_order::acquire},
    {"attachment.attach", sync::Operation::compare_exchange, std::memory_order::release},
    {"attachment.set_tag", sync::Operation::compare_exchange, std::memory_order::relaxed},
}}};

/// Base class of attachments. An attachment is destroyed with its storage, on the thread that
/// releases the storage.
class BYRE_API Attachment {
 public:
  Attachment() noexcept = default;
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;
  virtual ~Attachment() = default;
};

/// The word is 0 if the slot is empty, odd if it holds a tag, and otherwise the address of the
/// attachment. Thread-safe, lock-free; reading is wait-free. Nothing throws.
template <sync::Sync Sync>
class basic_attachment_slot {
 public:
  static constexpr std::uint32_t max_tag = (std::uint32_t{1} << 31) - 1;

  basic_attachment_slot() noexcept : word_(0) {}
  basic_attachment_slot(const basic_attachment_slot&) = delete;
  basic_attachment_slot& operator=(const basic_attachment_slot&) = delete;
  ~basic_attachment_slot() {
    // Relaxed: every use of the storage happens before its destruction.
    if (const std::uintptr_t word = peek(); is_attachment(word)) [[unlikely]] {
      delete at(word);
    }
  }

  /// Cheap test for callers that rarely find an attachment. Cost: one relaxed load.
  bool has_attachment() const noexcept { return is_attachment(peek()); }

  /// The attachment, or null.
  Attachment* attachment() const noexcept {
    const std::uintptr_t word = find();
    return is_attachment(word) ? at(word) : nullptr;
  }

  /// Stores `attachment`, replacing a tag, unless the slot has an attachment already. Returns the
  /// attachment of the slot.
  Attachment& attach(std::unique_ptr<Attachment> attachment) noexcept {
    const auto mine = reinterpret_cast<std::uintptr_t>(attachment.get());
    for (;;) {
      std::uintptr_t present = find();
      if (is_attachment(present)) {
        return *at(present);
      }
      // Release pairs with find: the attachment is constructed before another thread finds it, or
      // first_attachments_race fails. If this step were split in two, the two threads of that
      // scenario would use different attachments.
      if (word_.compare_exchange_weak(present, mine,
                                      sites.at(At::attach, std::memory_order::release))) {
        return *attachment.release();
      }
    }
  }

  /// The tag; std::nullopt if the slot is empty or has an attachment.
  std::optional<std::uint32_t> tag() const noexcept {
    const std::uintptr_t word = peek();
    return is_tag(word) ? std::optional(static_cast<std::uint32_t>(word >> 1)) : std::nullopt;
  }
  bool has_tag() const noexcept { return is_tag(peek()); }

  /// Stores the tag if the slot is empty. Requires `tag` <= max_tag.
  void set_tag(std::uint32_t tag) noexcept {
    std::uintptr_t empty = 0;
    // Relaxed, pairs with nothing: the tag refers to no other memory. If this step were split in
    // two, an attachment would be lost in the scenario tags_give_way.
    while (!word_.compare_exchange_weak(empty, std::uintptr_t{tag} << 1 | 1,
                                        sites.at(At::set_tag, std::memory_order::relaxed)) &&
           empty == 0) {
    }
  }

 private:
  using At = AttachmentSite;
  static constexpr const auto& sites = attachment_sites;

  static constexpr bool is_tag(std::uintptr_t word) noexcept { return (word & 1) != 0; }
  static constexpr bool is_attachment(std::uintptr_t word) noexcept {
    return word != 0 && !is_tag(word);
  }
  static Attachment* at(std::uintptr_t word) noexcept {
    return reinterpret_cast<Attachment*>(word);
  }
  std::uintptr_t find() const noexcept {
    // Acquire pairs with attach: the attachment is fully constructed, or first_attachments_race
    // fails.
    return word_.load(sites.at(At::find, std::memory_order::acquire));
  }
  std::uintptr_t peek() const noexcept {
    // Relaxed, pairs with nothing: callers that use an attachment load it by find() instead.
    return word_.load(sites.at(At::peek, std::memory_order::relaxed));
  }

  typename Sync::template Atomic<std::uintptr_t> word_;
};

}  // namespace byre::inline BYRE_ABI::detail
