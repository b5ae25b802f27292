// SPDX-License-Identifier: BSL-1.0
#include <byre/memory/detail/mappings.hpp>
#include <byre/pages/detail/memory_files.hpp>

#include <algorithm>
#include <utility>

namespace byre::inline BYRE_ABI::detail {

void MemoryFile::add_overlay(OverlayNode& overlay) noexcept {
  const sync::Lock lock(files().mutex());
  overlays_.push_back(overlay);
  --unlisted_overlays_;
}

void MemoryFile::remove_overlay(OverlayNode& overlay) noexcept {
  {
    const sync::Lock lock(files().mutex());
    overlays_.remove(overlay);
  }
  free_hidden_pages();
}

/// True if the only mapping of the file in this process is one overlay. No later mapping shows the
/// pages beneath the overlay's written pages either: any later overlay begins with a copy of the
/// bytes written in this overlay. Returns false unless has_only_overlays_ is true: if the file had
/// several owners, one of them may have claimed the data but not begun its overlay yet, and may
/// therefore map the file at any time.
bool MemoryFile::has_sole_overlay() const noexcept {
  return state_.value() == FileState::shared && has_only_overlays_ && overlays_.has_one() &&
         unlisted_overlays_ == 0;
}

/// If only one overlay is left and much of it was written, frees the file's pages beneath the
/// written pages, because no mapping of this process shows these pages of the file.
void MemoryFile::free_hidden_pages() noexcept {
  constexpr std::size_t step_nbytes = std::size_t{64} << 20;  // limits how long the lock is held
  const std::size_t whole = alignment_for(nbytes());
  for (std::size_t at = 0; at < nbytes(); at += step_nbytes) {
    const sync::Lock lock(files().mutex());
    if (!has_sole_overlay() || (at == 0 && !is_much_written(overlays_.front().data, nbytes()))) {
      return;
    }
    struct Context {
      std::byte* pages;
      std::size_t whole;
    } context{data() + at, whole};
    const auto free_run = [](void* of, std::size_t offset, std::size_t run_nbytes) noexcept {
      const auto [pages, part] = *static_cast<Context*>(of);
      const std::size_t begin = (offset + part - 1) / part * part;
      const std::size_t end = (offset + run_nbytes) / part * part;
      if (begin < end) {
        // The system refuses to free locked pages, and pages of a file that was exported, because
        // it is sealed. They then stay allocated.
        system::free_file_pages(pages + begin, end - begin);
      }
    };
    for_each_written_run(overlays_.front().data + at, std::min(step_nbytes, nbytes() - at),
                         free_run, &context);
  }
}

void MemoryFile::unmap_overlay(std::byte* overlay) noexcept {
  const bool is_mapped = [&] {
    const sync::Lock lock(files().mutex());
    return state_.value() != FileState::lost;
  }();
  if (is_mapped) {
    unmap(overlay, nbytes());
  }
}

Overlay MemoryFile::map_overlay(std::byte* source, OtherOverlays others,
                                MovedPages moved) noexcept {
  const auto [state, is_to_write_back] = [&] {
    const sync::Lock lock(files().mutex());
    ++unlisted_overlays_;
    const bool is_to = state_.value() == FileState::shared && others == OtherOverlays::none &&
                       !std::exchange(is_written_back_, true);
    return std::pair(state_.value(), is_to);
  }();
  const Overlay overlay = map_unlisted_overlay(source, state, is_to_write_back, others, moved);
  if (overlay.data == nullptr) {
    const sync::Lock lock(files().mutex());
    --unlisted_overlays_;
  }
  return overlay;
}

Overlay MemoryFile::map_unlisted_overlay(std::byte* source, FileState state, bool is_to_write_back,
                                         OtherOverlays others, MovedPages moved) noexcept {
  if (state == FileState::lost || state == FileState::copied) {
    return {nullptr, 0};
  }
  std::optional<std::size_t> copied = 0;
  if (is_to_write_back) {
    copied = write_back(source, moved);
    source = nullptr;
  } else if (state == FileState::forked && source == nullptr) {
    source = data();
  }
  std::byte* const overlay =
      copied ? map_range(nbytes(), system::Writes::private_to_mapping) : nullptr;
  if (overlay == nullptr || source == nullptr) {
    return {overlay, copied.value_or(0)};
  }
  // If all memory of the process is locked (mlockall()), the system copied all pages when it mapped
  // the overlay, perhaps before another thread wrote its pages back. It then discards no page.
  const bool is_as_the_file = others == OtherOverlays::some || state != FileState::shared ||
                              system::discard(overlay, nbytes());
  copied = is_as_the_file ? copy_written_pages(overlay, source, nbytes()) : std::nullopt;
  if (!copied) {
    unmap_overlay(overlay);
    return {nullptr, 0};
  }
  return {overlay, *copied};
}

bool MemoryFile::replace_with_overlay(OverlayNode& overlay, std::byte* place,
                                      std::size_t place_nbytes) noexcept {
  if (place == data()) {
    return overlay_own_data(overlay);
  }
  const sync::Lock lock(files().mutex());
  // After a fork, bytes that this process wrote in data() are not in the file.
  const bool is_replaced = system::in_whole_pages(place_nbytes) == nbytes() &&
                           state_.value() == FileState::shared &&
                           make_private(place, system::Writes::private_to_mapping);
  if (is_replaced) {
    list_replacement(overlay, place);
  }
  return is_replaced;
}

bool MemoryFile::overlay_own_data(OverlayNode& overlay) noexcept {
  std::byte* const own = data();
  const auto is_shared = [this] {
    const sync::Lock lock(files().mutex());
    return state_.value() == FileState::shared;
  };
  if (is_shared()) {
    // Called without the lock, because unmapping many small pages takes long.
    system::discard(own, nbytes());
  }
  std::byte* const elsewhere =
      map_pages(0, nbytes(), alignment_for(nbytes()), system::Access::none);
  if (elsewhere == nullptr) {
    return false;
  }
  const bool is_replaced = [&] {
    const sync::Lock lock(files().mutex());
    const bool is = state_.value() == FileState::shared
                        ? system::duplicate_mapping(own, nbytes(), elsewhere) &&
                              make_private(own, system::Writes::to_file)
                        : state_.value() == FileState::forked &&
                              range_.arena->map(range_, system::Writes::private_to_mapping,
                                                elsewhere) != nullptr;
    if (is) {
      set_mapping(elsewhere, nbytes());
      list_replacement(overlay, own);
    }
    return is;
  }();
  if (!is_replaced) {
    unmap(elsewhere, nbytes());
  }
  return is_replaced;
}

void MemoryFile::list_replacement(OverlayNode& overlay, std::byte* place) noexcept {
  overlay.data = place;
  overlays_.push_back(overlay);
  has_only_overlays_ = true;
}

void MemoryFile::collapse(std::byte* overlay, std::size_t offset,
                          std::size_t part_nbytes) noexcept {
  offset = std::min(offset, nbytes());
  const std::size_t begin = offset / page_nbytes * page_nbytes;
  const std::size_t end = offset + std::min(part_nbytes, nbytes() - offset);
  const auto [is_shared, is_sole] = [this] {
    const sync::Lock lock(files().mutex());
    return std::pair(state_.value() == FileState::shared, has_sole_overlay());
  }();
  const bool is_seen = !is_sole || !is_much_written(overlay + begin, end - begin);
  if (is_shared && is_seen && begin < end) {
    system::collapse(data() + begin, end - begin);
    system::collapse(overlay + begin, end - begin);
  }
}

std::optional<std::size_t> MemoryFile::write_back(std::byte* source, MovedPages moved) noexcept {
  struct Context {
    MemoryFile* file;
    std::byte* source;
  } context{this, source};
  const auto end_run = [](void* of, std::size_t offset, std::size_t run_nbytes) noexcept {
    const auto [file, overlay] = *static_cast<Context*>(of);
    const sync::Lock lock(files().mutex());
    if (file->state_.value() != FileState::shared) {
      // The process forked: the file is constant, and data() is private. Overlays do not show the
      // run that was just written to data(), so the write-back has failed.
      return false;
    }
    // The system refuses to free locked pages. The overlay then keeps its private pages.
    system::discard(overlay + offset, run_nbytes);
    return true;
  };
  const auto copied = write_back_pages(data(), source, nbytes(), moved, end_run, &context);
  const sync::Lock lock(files().mutex());
  is_written_back_ = false;
  return copied;
}

}  // namespace byre::inline BYRE_ABI::detail
