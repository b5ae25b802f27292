// SPDX-License-Identifier: BSL-1.0
#if defined(__linux__)

#include <byre/memory/detail/mappings.hpp>
#include <byre/pages/detail/memory_files.hpp>
#include <byre/sync/detail/no_destructor.hpp>

#include <sys/mman.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace byre::inline BYRE_ABI::detail {

MemoryFiles& files() noexcept {
  return sync::no_destructor<MemoryFiles>();
}

std::int64_t MemoryFiles::pinned_nbytes() noexcept {
  MemoryFiles& all = files();
  const sync::Lock lock(all.mutex_);
  std::size_t nbytes = 0;
  for (const MemoryFile& file : all.files_) {
    nbytes += file.is_owned_ == nullptr || file.is_owned_(file.owners_) ? 0 : file.nbytes();
  }
  return static_cast<std::int64_t>(nbytes);
}

bool MemoryFiles::take_range(MemoryFile& file, std::size_t nbytes) {
  std::unique_ptr<PageArena> made;  // allocated without the lock
  for (;;) {
    {
      const sync::Lock lock(mutex_);
      if (arena_ != nullptr && !arena_->is_open()) {
        retire_arena();
      }
      if (arena_ == nullptr) {
        arena_ = std::move(made);
      }
      if (arena_ != nullptr) {
        return arena_->take(file.range_, nbytes, alignment_for(nbytes));
      }
    }
    made = PageArena::create();
    if (made == nullptr) {
      return false;
    }
  }
}

void MemoryFiles::put_back_range(MemoryFile& file) noexcept {
  PageArena* const arena = file.range_.arena;
  const bool is_over = [&] {
    const sync::Lock lock(mutex_);
    return arena->put_back(file.range_);
  }();
  if (is_over) {
    delete arena;
  }
}

/// Takes no new ranges from the arena any more. When its last range is returned, put_back_range()
/// deletes the arena.
void MemoryFiles::retire_arena() noexcept {
  arena_->retire();
  if (arena_->is_empty()) {
    arena_.reset();
  } else {
    arena_.release();
  }
}

void MemoryFiles::before_fork() noexcept {
  mutex_.lock();
  bool is_any_shared = false;
  for (MemoryFile& file : files_) {
    if (file.state_ == FileState::shared) {
      // If only overlays map the file, data() is unused, and after the fork no process writes the
      // file.
      const bool is_private = file.has_only_overlays_ || file.make_private(file.data(), MAP_SHARED);
      file.state_ = is_private ? FileState::forked : FileState::shared;
      is_any_shared |= !is_private;
    }
  }
  int ends[2];
  if (is_any_shared && ::pipe2(ends, O_CLOEXEC) == 0) {
    copies_end_ = Descriptor(ends[0]);
    copying_ = Descriptor(ends[1]);
  }
  if (arena_ != nullptr) {
    retire_arena();
  }
}

void MemoryFiles::in_parent() noexcept {
  copying_.close();
  char nothing = 0;
  while (copies_end_.number() >= 0 && ::read(copies_end_.number(), &nothing, 1) < 0 &&
         errno == EINTR) {
  }
  copies_end_.close();
  mutex_.unlock();
}

void MemoryFiles::in_child() noexcept {
  for (MemoryFile& file : files_) {
    if (file.state_ == FileState::shared) {
      const bool is_copied = copying_.number() >= 0 && file.replace_with_copies();
      file.state_ = is_copied ? FileState::copied : FileState::lost;
      if (!is_copied) {
        file.lose();
      }
    }
  }
  copies_end_.close();
  copying_.close();
  mutex_.unlock();
}

/// Called in a child while its parent waits. Returns false if the system lacks memory for all
/// copies.
bool MemoryFile::replace_with_copies() noexcept {
  const auto replace = [this](std::byte* pages) noexcept {
    void* const copy =
        ::mmap(nullptr, nbytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED) {
      return false;
    }
    std::memcpy(copy, pages, nbytes());
    if (::mremap(copy, nbytes(), nbytes(), MREMAP_MAYMOVE | MREMAP_FIXED, pages) == pages) {
      return true;
    }
    ::munmap(copy, nbytes());
    return false;
  };
  return replace(data()) &&
         std::all_of(overlays_.begin(), overlays_.end(),
                     [&](const OverlayNode& overlay) noexcept { return replace(overlay.data); });
}

void MemoryFile::lose() noexcept {
  lose_pages(data(), nbytes());
  for (const OverlayNode& overlay : overlays_) {
    lose_pages(overlay.data, nbytes());
  }
}

}  // namespace byre::inline BYRE_ABI::detail

#endif
