// SPDX-License-Identifier: BSL-1.0
/// SimpleFile: a file of pages to which pages are never written back. An overlay begins with a copy
/// of the pages that were written in its source.
#pragma once

#include <byre/memory/detail/mappings.hpp>
#include <byre/pages/detail/page_file.hpp>

namespace byre::inline BYRE_ABI::detail {

class SimpleFile : public PageFile {
 public:
  ~SimpleFile() override {
    if (data() != nullptr) {
      unmap(data(), nbytes());
    }
  }

  Overlay map_overlay(std::byte* source, OtherOverlays, MovedPages) noexcept final {
    std::byte* const overlay = map_privately();
    if (overlay == nullptr || source == nullptr) {
      return {overlay, 0};
    }
    const auto copied = copy_written_pages(overlay, source, nbytes());
    if (!copied) {
      unmap_overlay(overlay);
      return {nullptr, 0};
    }
    return {overlay, *copied};
  }
  void unmap_overlay(std::byte* overlay) noexcept final { unmap(overlay, nbytes()); }

 private:
  /// Maps the file privately. Returns null if the system refuses.
  virtual std::byte* map_privately() const noexcept = 0;
};

}  // namespace byre::inline BYRE_ABI::detail
