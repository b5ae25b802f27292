// SPDX-License-Identifier: BSL-1.0
/// Data of paged_allocator() on Windows: one section for each file. An overlay begins with a copy
/// of the pages that were written in its source; pages are never written back to the section.
#include <byre/memory/detail/mappings.hpp>
#include <byre/pages/detail/page_file.hpp>
#include <byre/system/detail/sections.hpp>

#include <memory>
#include <new>

namespace byre::inline BYRE_ABI::detail {
namespace {

using system::Writes;

class SectionFile final : public PageFile {
 public:
  explicit SectionFile(std::size_t nbytes) noexcept : section_(nbytes) {
    if (section_) {
      set_mapping(section_.map(Writes::to_file), nbytes);
    }
  }
  ~SectionFile() override {
    if (data() != nullptr) {
      unmap(data(), nbytes());
    }
  }

  Overlay map_overlay(std::byte* source, OtherOverlays, MovedPages) noexcept override {
    std::byte* const overlay = section_.map(Writes::private_to_mapping);
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
  void unmap_overlay(std::byte* overlay) noexcept override { unmap(overlay, nbytes()); }

 private:
  const system::Section section_;
};

}  // namespace

std::unique_ptr<PageFile> create_memory_file(std::size_t nbytes, Present) try {
  auto file = std::make_unique<SectionFile>(nbytes);
  return file->data() == nullptr ? nullptr : std::move(file);
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("creating a file of pages");
}

/// Only forked processes lose pages.
bool is_lost(const void*) noexcept {
  return false;
}

}  // namespace byre::inline BYRE_ABI::detail
