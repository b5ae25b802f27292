// SPDX-License-Identifier: BSL-1.0
#include <byre/error/detail/assert.hpp>
#include <byre/error/error.hpp>
#include <byre/memory/detail/lost_pages.hpp>
#include <byre/memory/detail/mappings.hpp>
#include <byre/memory/detail/page_arena.hpp>
#include <byre/memory/detail/page_file.hpp>
#include <byre/memory/pages.hpp>
#include <byre/stats/counters.hpp>
#include <byre/sync/detail/boost_mutex.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/system/detail/descriptor.hpp>

#include <algorithm>
#include <boost/intrusive/list.hpp>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#if defined(__linux__)

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace byre::inline v0::detail {
namespace {

constexpr int populate_write = 23;   // MADV_POPULATE_WRITE, Linux 5.14; older headers lack it
constexpr int collapse_advice = 25;  // MADV_COLLAPSE, Linux 6.1

std::size_t alignment_for(std::size_t nbytes) noexcept {
  return nbytes >= huge_page_nbytes ? huge_page_nbytes : page_nbytes;
}

/// Which writes the pages of a file show.
enum class Shows : std::uint8_t {
  writes,  ///< those through its own mapping, which shares the file's pages
  fork,  ///< none since the process forked: its own mapping is as private as an overlay's, or not used
  copies,  ///< this process was forked, and has copies: the parent writes the file
  none,    ///< this process was forked, and did not get the file
};

/// Frees the memory of a shared mapping's pages.
void free_memory(std::byte* data, std::size_t nbytes) noexcept {
  if (::madvise(data, nbytes, MADV_REMOVE) != 0) {
    ::munlock(data, nbytes);  // locked pages are not removed
    ::madvise(data, nbytes, MADV_REMOVE);
  }
}

class MemoryFile final : public PageFile, public boost::intrusive::list_base_hook<> {
 public:
  MemoryFile() noexcept = default;
  ~MemoryFile() override;

  /// False if there is no room, or no memory.
  bool map(std::size_t nbytes, Present present);

  void set_owned_by(const void* owners, bool (*is_owned)(const void*)) noexcept override;
  Overlay map_overlay(std::byte* source, OtherOverlays others, MovedPages moved) noexcept override;
  bool overlay_at(OverlayNode& overlay, std::byte* place,
                  std::size_t place_nbytes) noexcept override;
  void collapse(std::byte* overlay, std::size_t offset, std::size_t part_nbytes) noexcept override;
  void unmap_overlay(std::byte* overlay) noexcept override;
  void add_overlay(OverlayNode& overlay) noexcept override;
  void remove_overlay(OverlayNode& overlay) noexcept override;
  std::size_t overlay_count() noexcept override;

 private:
  friend class MemoryFiles;

  std::byte* map_range(std::size_t nbytes, int flags) const noexcept;
  bool make_present(std::byte* data, std::size_t nbytes) const noexcept;
  bool make_private(std::byte* place, int former_flags) noexcept;
  bool replace_by_copies() noexcept;
  void lose() noexcept;
  Overlay map_begun(std::byte* source, Shows shows, bool is_to_write_back, OtherOverlays others,
                    MovedPages moved) noexcept;
  std::optional<std::size_t> write_back(std::byte* source, MovedPages moved) noexcept;
  bool overlay_own_data(OverlayNode& overlay) noexcept;
  void list_in_place(OverlayNode& overlay, std::byte* place) noexcept;
  bool is_sole_overlay() const noexcept;
  void free_unseen() noexcept;

  // Under the lock of MemoryFiles.
  PageRange range_;
  boost::intrusive::list<OverlayNode> overlays_;
  std::size_t begun_overlays_ = 0;  // which are not listed yet
  bool has_only_overlays_ = false;  // of overlays, since the only owner became one
  Shows shows_ = Shows::writes;
  bool is_written_back_ = false;  // by one thread at a time
  const void* owners_ = nullptr;
  bool (*is_owned_)(const void*) = nullptr;
};

/// All memory files of the process, and the lock of all that changes in one. A fork waits for the lock.
class MemoryFiles final : sync::detail::ProcessState {
 public:
  MemoryFiles() {
    enter();
    stats::detail::add_gauge(pinned_bytes_);
  }

  /// False if there is no memory file.
  bool take_range(MemoryFile& file, std::size_t nbytes);
  void put_back_range(MemoryFile& file) noexcept;

  void add(MemoryFile& file) noexcept {
    const sync::Lock lock(mutex_);
    files_.push_back(file);
  }
  void remove(MemoryFile& file) noexcept {
    const sync::Lock lock(mutex_);
    if (file.is_linked()) {
      files_.erase(files_.iterator_to(file));
    }
  }

  std::size_t pinned_nbytes() noexcept {
    const sync::Lock lock(mutex_);
    std::size_t nbytes = 0;
    for (const MemoryFile& file : files_) {
      nbytes += file.is_owned_ == nullptr || file.is_owned_(file.owners_) ? 0 : file.nbytes();
    }
    return nbytes;
  }

  sync::Mutex& mutex() noexcept { return mutex_; }

 private:
  static std::int64_t count_pinned_bytes() noexcept;

  void retire_arena() noexcept;

  /// Makes the files' own mappings private. If the system refuses, or the descriptor is lost, the child copies the
  /// pages before fork() returns in the parent. A child without memory for that loses them.
  void before_fork() noexcept override;
  void in_parent() noexcept override;
  void in_child() noexcept override;

  stats::detail::Gauge pinned_bytes_{stats::Counter::pinned_bytes, &count_pinned_bytes};
  sync::Mutex mutex_;
  std::unique_ptr<PageArena> arena_;  // that new ranges are taken of
  boost::intrusive::list<MemoryFile> files_;
  // A pipe, while a child copies: the parent waits until its end for writing is closed.
  Descriptor copies_end_;
  Descriptor copying_;
};

MemoryFiles& files() noexcept {
  return sync::no_destructor<MemoryFiles>();
}

std::int64_t MemoryFiles::count_pinned_bytes() noexcept {
  return static_cast<std::int64_t>(files().pinned_nbytes());
}

bool MemoryFiles::take_range(MemoryFile& file, std::size_t nbytes) {
  std::unique_ptr<PageArena> made;  // while nothing is locked
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

/// Its last range deletes it.
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
    if (file.shows_ == Shows::writes) {
      // Overlays that are left to themselves read the file, and no process writes it any more.
      const bool is_private = file.has_only_overlays_ || file.make_private(file.data(), MAP_SHARED);
      file.shows_ = is_private ? Shows::fork : Shows::writes;
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
    if (file.shows_ == Shows::writes) {
      const bool is_copied = copying_.number() >= 0 && file.replace_by_copies();
      file.shows_ = is_copied ? Shows::copies : Shows::none;
      if (!is_copied) {
        file.lose();
      }
    }
  }
  copies_end_.close();
  copying_.close();
  mutex_.unlock();
}

MemoryFile::~MemoryFile() {
  files().remove(*this);  // or a fork would map it again
  if (data() != nullptr && shows_ != Shows::none) {
    if (shows_ == Shows::writes) {
      free_memory(data(), nbytes());  // no child has it
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
  std::byte* const data = map_range(nbytes, MAP_SHARED);
  if (data == nullptr) {
    return false;
  }
  set_mapping(data, nbytes);
  files().add(*this);
  return present == Present::when_touched || make_present(data, nbytes);
}

/// Aligned as huge pages are, where it is as long. Null if there is no room. The addresses are reserved without
/// access, and so by nothing that a limit of memory counts.
std::byte* MemoryFile::map_range(std::size_t nbytes, int flags) const noexcept {
  std::byte* const reserved = map_aligned(0, nbytes, alignment_for(nbytes), PROT_NONE);
  if (reserved == nullptr) {
    return nullptr;
  }
  std::byte* const mapping = range_.arena->map(range_, flags, reserved);
  if (mapping == nullptr) {
    unmap(reserved, nbytes);
  }
  return mapping;
}

/// Replaces a mapping, of this file with `former_flags` or with equal bytes, in one step for all other threads.
/// Returns false, having changed nothing, if the system refuses.
bool MemoryFile::make_private(std::byte* place, int former_flags) noexcept {
  const std::size_t size = nbytes();
  std::byte* const fresh = range_.arena->map(range_, MAP_PRIVATE, nullptr);
  if (fresh == nullptr) {
    return false;
  }
  // With strict accounting a move is charged for both places, and is refused only after it has unmapped its target.
  std::byte* const probe = range_.arena->map(range_, MAP_PRIVATE, nullptr);
  if (probe == nullptr) {
    ::munmap(fresh, size);
    return false;
  }
  ::munmap(probe, size);
  if (::mremap(fresh, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place) {
    return true;
  }
  ::munmap(fresh, size);
  const bool is_mapped_again = range_.arena->map(range_, former_flags, place) == place;
  return is_mapped_again && former_flags == MAP_PRIVATE;
}

/// In a child whose parent waits. False if the system has no room for all.
bool MemoryFile::replace_by_copies() noexcept {
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

/// In huge pages where there are some, each of which is made of one small page: that is many times faster than
/// of all of them. Smaller files are made present as they are used.
bool MemoryFile::make_present(std::byte* data, std::size_t nbytes) const noexcept {
  const std::size_t in_huge_pages = nbytes / huge_page_nbytes * huge_page_nbytes;
  for (std::size_t at = 0; at < in_huge_pages; at += huge_page_nbytes) {
    if (!populate_for_writes(data + at, 1)) {
      return false;
    }
  }
  if (in_huge_pages != 0) {
    ::madvise(data, in_huge_pages, collapse_advice);  // small pages do as well
  }
  return true;
}

void MemoryFile::set_owned_by(const void* owners, bool (*is_owned)(const void*)) noexcept {
  const sync::Lock lock(files().mutex());
  owners_ = owners;
  is_owned_ = is_owned;
}

void MemoryFile::add_overlay(OverlayNode& overlay) noexcept {
  const sync::Lock lock(files().mutex());
  overlays_.push_back(overlay);
  --begun_overlays_;
}

void MemoryFile::remove_overlay(OverlayNode& overlay) noexcept {
  {
    const sync::Lock lock(files().mutex());
    overlays_.erase(overlays_.iterator_to(overlay));
  }
  free_unseen();
}

/// Whether no mapping of this process or of another shows the file but one overlay, and others that begin with what was
/// written in it. An owner of the file that is about to write claims before it begins an overlay, so a file that had
/// several owners may be shown any time.
bool MemoryFile::is_sole_overlay() const noexcept {
  return shows_ == Shows::writes && has_only_overlays_ && overlays_.size() == 1 &&
         begun_overlays_ == 0;
}

/// If one overlay is left and much of it was written, the pages beneath are of no use.
void MemoryFile::free_unseen() noexcept {
  constexpr std::size_t step_nbytes = std::size_t{64} << 20;  // the lock is not held for long
  const std::size_t whole = alignment_for(nbytes());
  for (std::size_t at = 0; at < nbytes(); at += step_nbytes) {
    const sync::Lock lock(files().mutex());
    if (!is_sole_overlay() || (at == 0 && !is_much_written(overlays_.front().data, nbytes()))) {
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
        ::madvise(pages + begin, end - begin, MADV_REMOVE);  // refused for locked pages, which stay
      }
    };
    for_each_written_run(overlays_.front().data + at, std::min(step_nbytes, nbytes() - at),
                         free_run, &context);
  }
}

std::size_t MemoryFile::overlay_count() noexcept {
  const sync::Lock lock(files().mutex());
  return overlays_.size();
}

void MemoryFile::unmap_overlay(std::byte* overlay) noexcept {
  const bool is_mapped = [&] {
    const sync::Lock lock(files().mutex());
    return shows_ != Shows::none;
  }();
  if (is_mapped) {
    unmap(overlay, nbytes());
  }
}

Overlay MemoryFile::map_overlay(std::byte* source, OtherOverlays others,
                                MovedPages moved) noexcept {
  const auto [shows, is_to_write_back] = [&] {
    const sync::Lock lock(files().mutex());
    ++begun_overlays_;
    const bool is_to = shows_ == Shows::writes && source != nullptr &&
                       others == OtherOverlays::none && !std::exchange(is_written_back_, true);
    return std::pair(shows_, is_to);
  }();
  const Overlay overlay = map_begun(source, shows, is_to_write_back, others, moved);
  if (overlay.data == nullptr) {
    const sync::Lock lock(files().mutex());
    --begun_overlays_;
  }
  return overlay;
}

Overlay MemoryFile::map_begun(std::byte* source, Shows shows, bool is_to_write_back,
                              OtherOverlays others, MovedPages moved) noexcept {
  if (shows == Shows::none || shows == Shows::copies) {
    return {nullptr, 0};
  }
  std::optional<std::size_t> copied = 0;
  if (is_to_write_back) {
    copied = write_back(source, moved);
    source = nullptr;
  } else if (shows == Shows::fork && source == nullptr) {
    source = data();
  }
  std::byte* const overlay = copied ? map_range(nbytes(), MAP_PRIVATE) : nullptr;
  if (overlay == nullptr || source == nullptr) {
    return {overlay, copied.value_or(0)};
  }
  // Pages that are locked have been copied already, before another thread has written theirs back.
  const bool is_as_the_file = others == OtherOverlays::some || shows != Shows::writes ||
                              ::madvise(overlay, nbytes(), MADV_DONTNEED) == 0;
  copied = is_as_the_file ? copy_written_pages(overlay, source, nbytes()) : std::nullopt;
  if (!copied) {
    unmap_overlay(overlay);
    return {nullptr, 0};
  }
  return {overlay, *copied};
}

bool MemoryFile::overlay_at(OverlayNode& overlay, std::byte* place,
                            std::size_t place_nbytes) noexcept {
  if (place == data()) {
    return overlay_own_data(overlay);
  }
  const sync::Lock lock(files().mutex());
  // After a fork some bytes are in data() alone and not in the file.
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const bool is_replaced = (place_nbytes + page - 1) / page * page == nbytes() &&
                           shows_ == Shows::writes && make_private(place, MAP_PRIVATE);
  if (is_replaced) {
    list_in_place(overlay, place);
  }
  return is_replaced;
}

bool MemoryFile::overlay_own_data(OverlayNode& overlay) noexcept {
  std::byte* const own = data();
  const auto shows_writes = [this] {
    const sync::Lock lock(files().mutex());
    return shows_ == Shows::writes;
  };
  if (shows_writes()) {
    // Unmapping many small pages takes long: not under the lock.
    ::madvise(own, nbytes(), MADV_DONTNEED);
  }
  std::byte* const elsewhere = map_range(nbytes(), MAP_SHARED);
  if (elsewhere == nullptr) {
    return false;
  }
  const bool is_replaced = [&] {
    const sync::Lock lock(files().mutex());
    const bool is =
        shows_ == Shows::writes
            ? make_private(own, MAP_SHARED)
            : shows_ == Shows::fork && range_.arena->map(range_, MAP_PRIVATE, elsewhere) != nullptr;
    if (is) {
      set_mapping(elsewhere, nbytes());
      list_in_place(overlay, own);
    }
    return is;
  }();
  if (!is_replaced) {
    unmap(elsewhere, nbytes());
  }
  return is_replaced;
}

void MemoryFile::list_in_place(OverlayNode& overlay, std::byte* place) noexcept {
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
    return std::pair(shows_ == Shows::writes, is_sole_overlay());
  }();
  const bool is_seen = !is_sole || !is_much_written(overlay + begin, end - begin);
  if (is_shared && is_seen && begin < end) {
    ::madvise(data() + begin, end - begin, collapse_advice);
    ::madvise(overlay + begin, end - begin, collapse_advice);
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
    if (file->shows_ != Shows::writes) {
      return false;  // since a fork the file is constant: the run went where no overlay looks
    }
    ::madvise(overlay + offset, run_nbytes, MADV_DONTNEED);  // refused for locked pages, which stay
    return true;
  };
  const auto copied = write_back_pages(data(), source, nbytes(), moved, end_run, &context);
  const sync::Lock lock(files().mutex());
  is_written_back_ = false;
  return copied;
}

}  // namespace

std::unique_ptr<PageFile> create_memory_file(std::size_t nbytes, Present present) try {
  const std::size_t alignment = page_nbytes;
  auto file = std::make_unique<MemoryFile>();
  return file->map((nbytes + alignment - 1) / alignment * alignment, present) ? std::move(file)
                                                                              : nullptr;
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("a memory file");
}

std::unique_ptr<PageFile> PageFile::copy_to_new_file(const std::byte* source) {
  auto file = create_memory_file(nbytes_, Present::when_touched);
  if (file == nullptr || !populate_for_writes(file->data(), nbytes_)) {
    return nullptr;
  }
  std::memcpy(file->data(), source, nbytes_);
  return file;
}

bool populate_for_writes(std::byte* data, std::size_t nbytes) noexcept {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(data) / page * page;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(data) + nbytes;
  while (::madvise(reinterpret_cast<void*>(begin), end - begin, populate_write) != 0) {
    if (errno != EINTR && errno != EAGAIN) {
      return errno != ENOMEM && errno != EFAULT;
    }
  }
  return true;
}

}  // namespace byre::inline v0::detail

#else

namespace byre::inline v0::detail {

std::unique_ptr<PageFile> create_memory_file(std::size_t, Present) {
  return nullptr;
}
std::unique_ptr<PageFile> PageFile::copy_to_new_file(const std::byte*) {
  return nullptr;
}
bool populate_for_writes(std::byte*, std::size_t) noexcept {
  return true;
}

}  // namespace byre::inline v0::detail

#endif
