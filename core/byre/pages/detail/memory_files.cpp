// SPDX-License-Identifier: BSL-1.0
#include <byre/memory/detail/mappings.hpp>
#include <byre/pages/detail/memory_files.hpp>
#include <byre/sync/detail/no_destructor.hpp>

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
  if (std::unique_ptr<PageArena> own = PageArena::create_own(nbytes)) {
    return own.release()->take(file.range_, nbytes, 1);  // put_back_range() deletes it
  }
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
    if (file.state_.value() == FileState::shared) {
      // If only overlays map the file, data() is unused, and after the fork no process writes the
      // file.
      const bool is_private =
          file.has_only_overlays_ || file.make_private(file.data(), system::Writes::to_file);
      file.state_.set(is_private ? FileState::forked : FileState::shared);
      is_any_shared |= !is_private;
    }
  }
  if (is_any_shared) {
    copying_ = system::create_pipe();
  }
  if (arena_ != nullptr) {
    retire_arena();
  }
}

void MemoryFiles::in_parent() noexcept {
  copying_.writes.close();
  system::wait_for_end(copying_.reads);
  copying_.reads.close();
  mutex_.unlock();
}

void MemoryFiles::in_child() noexcept {
  for (MemoryFile& file : files_) {
    if (file.state_.value() == FileState::shared) {
      const bool is_copied = copying_.writes.number() >= 0 && file.replace_with_copies();
      file.state_.set(is_copied ? FileState::copied : FileState::lost);
      if (!is_copied) {
        file.lose();
      }
    }
  }
  copying_.reads.close();
  copying_.writes.close();
  mutex_.unlock();
}

/// Called in a child while its parent waits. Returns false if the system lacks memory for all
/// copies.
bool MemoryFile::replace_with_copies() noexcept {
  const auto replace = [this](std::byte* pages) noexcept {
    const auto copy = system::map_aligned(0, nbytes(), 1, system::Access::read_write);
    if (copy.begin == nullptr) {
      return false;
    }
    std::memcpy(copy.data, pages, nbytes());
    if (system::move_mapping(copy.data, nbytes(), pages)) {
      return true;
    }
    system::unmap(copy.data, nbytes());
    return false;
  };
  bool is_replaced = replace(data());
  for (const OverlayNode& overlay : overlays_) {
    is_replaced = is_replaced && replace(overlay.data);
  }
  return is_replaced;
}

void MemoryFile::lose() noexcept {
  lose_pages(data(), nbytes());
  for (const OverlayNode& overlay : overlays_) {
    lose_pages(overlay.data, nbytes());
  }
}

}  // namespace byre::inline BYRE_ABI::detail
