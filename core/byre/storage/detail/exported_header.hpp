// SPDX-License-Identifier: BSL-1.0
/// Access to the headers of buffers, for data that is shared with other processes.
#pragma once

#include <byre/pages/detail/overlay.hpp>
#include <byre/storage/storage.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace byre::inline BYRE_ABI::detail {

struct ExportedHeader {
  using Header = cow::basic_header<sync::Default>;
  using Paged = cow::basic_paged<sync::Default>;
  using Overlay = cow::basic_overlay<sync::Default>;

  /// Reports to a checked build that a thread reads the buffer, as long as the result exists.
  static auto access(const Buffer& buffer, CallSite site) noexcept {
    return buffer.monitor_.is_cloned(site);
  }
  /// The header of a buffer with data, which is shared with other processes from now on if it is in
  /// pages.
  template <sync::Sync Sync>
  static cow::basic_header<Sync>& share(const basic_buffer<Sync>& buffer, CallSite site) noexcept {
    cow::basic_header<Sync>& header = buffer.header();
    if (header.has_pages()) {
      header.becomes_shared(site);
    }
    return header;
  }

  /// A buffer over the first `nbytes` bytes of a file that no owner writes.
  static Buffer over(std::unique_ptr<PageFile> file, std::size_t nbytes, Allocator& allocator) {
    const Header::Description description{file->data(), nbytes,         file->nbytes(),
                                          &allocator,   Origin::mapped, true};
    return Buffer(Paged::create(description, std::move(file)));
  }

  /// Maps an overlay in place of the mapped file of `buffer`. Returns false if the system refuses.
  static bool overlay(Buffer& buffer) {
    Header* const overlay = Overlay::create(buffer.header()).first;
    if (overlay != nullptr) {
      buffer.adopt_header(overlay);
    }
    return overlay != nullptr;
  }

  /// The data whose file a buffer shows, or null. It exists as long as the buffer is not written.
  static Paged* paged_of(const Buffer& buffer) noexcept {
    return buffer.header().has_pages() ? &Overlay::base_of(buffer.header()) : nullptr;
  }

  /// Requires a nonempty handle.
  static const Buffer& buffer_of(const Storage& storage) noexcept {
    return storage.identity_->buffer;
  }
};

}  // namespace byre::inline BYRE_ABI::detail
