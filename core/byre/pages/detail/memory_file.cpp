// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/pages/detail/page_file.hpp>

#include <byre/memory/detail/mappings.hpp>
#include <byre/memory/pages.hpp>
#include <byre/pages/detail/memory_files.hpp>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace byre::inline BYRE_ABI::detail {
namespace {

/// Frees the memory of the pages of a shared mapping.
void free_memory(std::byte* data, std::size_t nbytes) noexcept {
  if (!system::free_file_pages(data, nbytes)) {
    system::unlock(data, nbytes);
    system::free_file_pages(data, nbytes);
  }
}

}  // namespace

std::size_t alignment_for(std::size_t nbytes) noexcept {
  return nbytes >= huge_page_nbytes ? huge_page_nbytes : page_nbytes;
}

/// Populating one small page of each huge page, and collapsing afterwards, is many times faster
/// than populating all small pages.
bool make_present(std::byte* data, std::size_t nbytes) noexcept {
  const std::size_t in_huge_pages = nbytes / huge_page_nbytes * huge_page_nbytes;
  for (std::size_t at = 0; at < in_huge_pages; at += huge_page_nbytes) {
    if (!system::populate(data + at, 1)) {
      return false;
    }
  }
  if (in_huge_pages != 0) {
    system::collapse(data, in_huge_pages);  // if refused, small pages work too
  }
  return true;
}

MemoryFile::~MemoryFile() {
  files().remove(*this);  // must be first, or a concurrent fork would map the file again
  if (data() != nullptr && state_.value() != FileState::lost) {
    if (state_.value() == FileState::shared) {
      free_memory(data(), nbytes());  // no child maps the file; refused if it was exported
    }
    unmap(data(), nbytes());
  }
  if (range_.arena != nullptr) {
    files().put_back_range(*this);
  }
}

bool MemoryFile::map(std::size_t nbytes, Present present) {
  if (!files().take_range(*this, nbytes)) {
    return false;
  }
  std::byte* const data = map_range(nbytes, system::Writes::to_file);
  if (data == nullptr) {
    return false;
  }
  set_mapping(data, nbytes);
  files().add(*this);
  return present == Present::when_touched || make_present(data, nbytes);
}

std::byte* map_aligned(const Descriptor& file, std::int64_t offset, std::size_t nbytes,
                       system::Writes writes) noexcept {
  const std::size_t whole = system::in_whole_pages(nbytes);
  std::byte* const reserved = map_pages(0, whole, alignment_for(whole), system::Access::none);
  if (reserved == nullptr) {
    return nullptr;
  }
  std::byte* const mapping = system::map_memory_file(file, offset, nbytes, writes, reserved);
  if (mapping == nullptr) {
    unmap(reserved, whole);
  }
  return mapping;
}

std::byte* MemoryFile::map_range(std::size_t nbytes, system::Writes writes) const noexcept {
  return map_aligned(range_.arena->file(), range_.offset, nbytes, writes);
}

/// Replaces the mapping at `place` with a private mapping of this file. Requires that the former
/// mapping shows this file, mapped with `former`, or another file with equal bytes. For other
/// threads, the replacement is a single step. Returns false and changes nothing if the system
/// refuses.
bool MemoryFile::make_private(std::byte* place, system::Writes former) noexcept {
  constexpr auto only_here = system::Writes::private_to_mapping;
  const std::size_t size = nbytes();
  std::byte* const fresh = range_.arena->map(range_, only_here, nullptr);
  if (fresh == nullptr) {
    return false;
  }
  // With strict overcommit accounting, the system charges a move for both places, and unmaps the
  // target before it refuses the move. The probe detects in advance that a move would be refused.
  std::byte* const probe = range_.arena->map(range_, only_here, nullptr);
  if (probe == nullptr) {
    system::unmap(fresh, size);
    return false;
  }
  system::unmap(probe, size);
  if (system::move_mapping(fresh, size, place)) {
    return true;
  }
  system::unmap(fresh, size);
  if (range_.arena->map(range_, former, place) == place) {
    return former == only_here;
  }
  // The file is sealed: the system refuses to map it for writes to the file.
  return range_.arena->map(range_, only_here, place) == place;
}

void MemoryFile::set_owned_by(const void* owners, bool (*is_owned)(const void*)) noexcept {
  const sync::Lock lock(files().mutex());
  owners_ = owners;
  is_owned_ = is_owned;
}

FileForOthers MemoryFile::open_for_others() noexcept {
  const FileState state = state_.value();
  const bool may_change = state == FileState::shared;
  if (!is_exportable() || !(may_change || state == FileState::forked)) {
    return {};
  }
  return {system::open_for_others(range_.arena->file(), system::Writers::mappings), may_change};
}

bool MemoryFile::is_open_elsewhere() noexcept {
  return state_.value() == FileState::shared && system::is_open_elsewhere(range_.arena->file());
}

bool MemoryFile::wait_until_closed_elsewhere(void (*unlock)(void* context) noexcept,
                                             void* context) noexcept {
  if (!is_open_elsewhere()) {
    return true;
  }
  const Descriptor file = system::duplicate_of(range_.arena->file());
  unlock(context);
  return system::wait_until_closed_elsewhere(file);
}

std::unique_ptr<PageFile> create_memory_file(std::size_t nbytes, Present present) try {
  const std::size_t alignment = page_nbytes;
  auto file = std::make_unique<MemoryFile>();
  return file->map((nbytes + alignment - 1) / alignment * alignment, present) ? std::move(file)
                                                                              : nullptr;
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("a memory file");
}

}  // namespace byre::inline BYRE_ABI::detail
