// SPDX-License-Identifier: BSL-1.0
#include <byre/error/detail/assert.hpp>
#include <byre/error/error.hpp>
#include <byre/memory/detail/page_arena.hpp>
#include <byre/memory/detail/page_file.hpp>
#include <byre/memory/pages.hpp>
#include <byre/stats/counters.hpp>
#include <byre/sync/detail/boost_mutex.hpp>
#include <byre/sync/detail/no_destructor.hpp>

#include <boost/intrusive/list.hpp>
#include <cerrno>
#include <cstdint>
#include <new>
#include <utility>

#if defined(__linux__)

#include <sys/mman.h>
#include <unistd.h>

namespace byre::inline v0::detail {
namespace {

constexpr int populate_write = 23;  // MADV_POPULATE_WRITE, Linux 5.14; older headers lack it
constexpr int collapse = 25;        // MADV_COLLAPSE, Linux 6.1

std::size_t alignment_for(std::size_t nbytes) noexcept {
  return nbytes >= huge_page_nbytes ? huge_page_nbytes : page_nbytes;
}

/// What is written through its own mapping goes to the file, until the process forks: from then on the file is
/// constant, and the mapping as private as an overlay's.
class MemoryFile final : public PageFile, public boost::intrusive::list_base_hook<> {
 public:
  MemoryFile() noexcept = default;
  ~MemoryFile() override;

  /// False if there is no room, or no memory.
  bool map(std::size_t nbytes);

  void set_owned_by(const void* owners, bool (*is_owned)(const void*)) noexcept override;
  Overlay map_overlay(std::byte* source, OtherOverlays others) noexcept override;
  void unmap_overlay(std::byte* overlay) noexcept override { ::munmap(overlay, nbytes()); }

 private:
  friend class MemoryFiles;

  std::byte* map_range(std::size_t nbytes, int flags) const noexcept;
  bool make_present(std::byte* data, std::size_t nbytes) const noexcept;

  // Under the lock of MemoryFiles.
  PageArena* arena_ = nullptr;
  std::int64_t offset_ = 0;
  std::size_t range_nbytes_ = 0;
  bool is_private_ = false;
  const void* owners_ = nullptr;
  bool (*is_owned_)(const void*) = nullptr;
};

/// All that there are. A fork waits for the lock.
class MemoryFiles final : sync::detail::ProcessState {
 public:
  MemoryFiles() {
    enter();
    stats::detail::add_gauge(pinned_bytes_);
  }

  /// False if there is no memory file.
  bool take_range(MemoryFile& file, std::size_t nbytes);
  void give_back_range(MemoryFile& file) noexcept;

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

  void set_owned_by(MemoryFile& file, const void* owners, bool (*is_owned)(const void*)) noexcept {
    const sync::Lock lock(mutex_);
    file.owners_ = owners;
    file.is_owned_ = is_owned;
  }
  std::size_t pinned_nbytes() noexcept {
    const sync::Lock lock(mutex_);
    std::size_t nbytes = 0;
    for (const MemoryFile& file : files_) {
      nbytes += file.is_owned_ == nullptr || file.is_owned_(file.owners_) ? 0 : file.nbytes();
    }
    return nbytes;
  }

  /// Whether its own mapping may have pages that the file has not.
  bool is_private(const MemoryFile& file) noexcept {
    const sync::Lock lock(mutex_);
    return file.is_private_;
  }

 private:
  static std::int64_t count_pinned_bytes() noexcept;

  /// The mapping of the file is replaced where it is, in one step for who uses it.
  void before_fork() noexcept override;
  void in_parent() noexcept override { mutex_.unlock(); }
  void in_child() noexcept override { mutex_.unlock(); }

  stats::detail::Gauge pinned_bytes_{stats::Counter::pinned_bytes, &count_pinned_bytes};
  sync::Mutex mutex_;
  std::unique_ptr<PageArena> arena_;  // that new ranges are taken of
  boost::intrusive::list<MemoryFile> files_;
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
      if (arena_ == nullptr) {
        arena_ = std::move(made);
      }
      if (arena_ != nullptr) {
        file.offset_ = arena_->take(nbytes, alignment_for(nbytes));
        if (file.offset_ >= 0) {
          file.arena_ = arena_.get();
          file.range_nbytes_ = nbytes;
        }
        return file.offset_ >= 0;
      }
    }
    made = PageArena::create();
    if (made == nullptr) {
      return false;
    }
  }
}

void MemoryFiles::give_back_range(MemoryFile& file) noexcept {
  PageArena* const arena = file.arena_;
  const bool is_ours = [&] {
    const sync::Lock lock(mutex_);
    return !arena->is_shared();
  }();
  if (is_ours) {  // or was: a child that was forked since has no use for the range either
    arena->free_memory_of(file.offset_, file.range_nbytes_);
  }
  const bool is_over = [&] {
    const sync::Lock lock(mutex_);
    return arena->forget_range();
  }();
  if (is_over) {
    delete arena;
  }
}

void MemoryFiles::before_fork() noexcept {
  mutex_.lock();
  for (MemoryFile& file : files_) {
    if (!std::exchange(file.is_private_, true)) {
      const void* const mapping = ::mmap(file.data(), file.nbytes(), PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE,
                                         file.arena_->file(), static_cast<off_t>(file.offset_));
      BYRE_ASSERT(mapping == file.data(), "paged memory could not be made private for a fork");
    }
  }
  if (arena_ != nullptr) {
    arena_->share();
    if (arena_->is_empty()) {
      arena_.reset();
    } else {
      arena_.release();  // its last range ends it
    }
  }
}

MemoryFile::~MemoryFile() {
  files().remove(*this);  // or a fork would map it again
  if (data() != nullptr) {
    ::munmap(data(), nbytes());
  }
  if (arena_ != nullptr) {
    files().give_back_range(*this);
  }
}

bool MemoryFile::map(std::size_t nbytes) {
  if (!files().take_range(*this, nbytes)) {
    return false;
  }
  std::byte* const data = map_range(nbytes, MAP_SHARED);
  if (data == nullptr) {
    return false;
  }
  set_mapping(data, nbytes);
  files().add(*this);
  return make_present(data, nbytes);
}

/// Aligned as huge pages are, where it is as long. Null if there is no room.
std::byte* MemoryFile::map_range(std::size_t nbytes, int flags) const noexcept {
  std::byte* const address = system_pages().map(0, nbytes, alignment_for(nbytes));
  if (address == nullptr) {
    return nullptr;
  }
  if (::mmap(address, nbytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED | MAP_NORESERVE,
             arena_->file(), static_cast<off_t>(offset_)) == MAP_FAILED) {
    system_pages().unmap(address, 0, nbytes);
    return nullptr;
  }
  return address;
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
    ::madvise(data, in_huge_pages, collapse);  // small pages do as well
  }
  return true;
}

void MemoryFile::set_owned_by(const void* owners, bool (*is_owned)(const void*)) noexcept {
  files().set_owned_by(*this, owners, is_owned);
}

Overlay MemoryFile::map_overlay(std::byte* source, OtherOverlays others) noexcept {
  std::optional<std::size_t> copied = 0;
  if (files().is_private(*this)) {
    source = source == nullptr ? data() : source;
  } else if (source != nullptr && others == OtherOverlays::none &&
             PageArena::may_be_written(offset_ + static_cast<std::int64_t>(range_nbytes_))) {
    // Another process that is forked now has these pages of `source` as its own.
    copied = write_back_pages(arena_->file(), offset_, data(), source, nbytes());
    source = nullptr;
  }
  std::byte* const overlay = copied ? map_range(nbytes(), MAP_PRIVATE) : nullptr;
  if (overlay == nullptr || source == nullptr) {
    return {overlay, copied.value_or(0)};
  }
  copied = copy_written_pages(overlay, source, nbytes());
  if (!copied) {
    unmap_overlay(overlay);
    return {nullptr, 0};
  }
  return {overlay, *copied};
}

}  // namespace

std::unique_ptr<PageFile> create_memory_file(std::size_t nbytes) try {
  const std::size_t alignment = page_nbytes;
  auto file = std::make_unique<MemoryFile>();
  return file->map((nbytes + alignment - 1) / alignment * alignment) ? std::move(file) : nullptr;
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("a memory file");
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

std::unique_ptr<PageFile> create_memory_file(std::size_t) {
  return nullptr;
}
bool populate_for_writes(std::byte*, std::size_t) noexcept {
  return true;
}

}  // namespace byre::inline v0::detail

#endif
