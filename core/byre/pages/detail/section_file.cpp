// SPDX-License-Identifier: BSL-1.0
/// Data of paged_allocator() on Windows: one section for each file.
#include <byre/pages/detail/simple_file.hpp>
#include <byre/system/detail/sections.hpp>

#include <memory>
#include <new>

namespace byre::inline BYRE_ABI::detail {
namespace {

using system::Writes;

class SectionFile final : public SimpleFile {
 public:
  explicit SectionFile(std::size_t nbytes) noexcept : section_(nbytes) {
    if (section_) {
      set_mapping(section_.map(Writes::to_file), nbytes);
    }
  }

 private:
  std::byte* map_privately() const noexcept override {
    return section_.map(Writes::private_to_mapping);
  }

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
