// SPDX-License-Identifier: BSL-1.0
/// The memory files of a process (system/detail/memory_files.hpp), and the list of all ranges of
/// pages in them. Each range has a file of its own, which other processes can map, while the
/// process has descriptors to spare. Further ranges are taken from one memory file until the
/// process forks or loses the file's descriptor.
#pragma once

#include <byre/error/detail/intrusive_list.hpp>
#include <byre/memory/pages.hpp>
#include <byre/observe/counters.hpp>
#include <byre/pages/detail/page_file.hpp>
#include <byre/sync/detail/mutex.hpp>
#include <byre/system/detail/descriptor.hpp>
#include <byre/system/detail/memory_files.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

namespace byre::inline BYRE_ABI::detail {

class PageArena;

/// A range of pages in an arena. The constructor allocates the memory that the arena needs for the
/// range, because the arena takes and returns ranges under a lock.
struct PageRange {
  /// Throws std::bad_alloc.
  PageRange();

  PageArena* arena = nullptr;  ///< null unless the range is taken
  std::int64_t offset = 0;
  std::size_t nbytes = 0;

  using SizesByOffset = std::map<std::int64_t, std::size_t>;
  SizesByOffset::node_type entry;  ///< empty while the range is taken
};

/// A memory file from which ranges of pages are taken. Not thread-safe, except map(): MemoryFiles
/// holds its lock for all other calls. The descriptor is used only to map pages, because other code
/// may close it and open another file under its number. The memory of a range is freed through the
/// range's mappings.
class PageArena {
 public:
  /// The size of the file. Bytes outside of ranges use no memory.
  static constexpr std::int64_t most_nbytes =
      sizeof(std::size_t) == 8 ? std::int64_t{1} << 46 : std::int64_t{1} << 42;

  /// Returns null if the system lacks memory files, or if a limit forbids a file of this size.
  /// Throws std::bad_alloc.
  static std::unique_ptr<PageArena> create();
  /// An arena for one range of `nbytes`, which other processes can map without access to other
  /// data. It is retired already. Also returns null if the process has few descriptors left.
  static std::unique_ptr<PageArena> create_own(std::size_t nbytes);
  PageArena(const PageArena&) = delete;
  PageArena& operator=(const PageArena&) = delete;
  ~PageArena() = default;

  /// Takes unused pages whose offset is a multiple of `alignment`. Returns false and takes nothing
  /// if the arena is full.
  bool take(PageRange& range, std::size_t nbytes, std::size_t alignment) noexcept;
  /// Returns the pages to the arena. Returns true if this was the last range of a retired arena:
  /// the caller must delete the arena.
  bool put_back(PageRange& range) noexcept;

  /// Marks the arena as retired. No more ranges may be taken from it.
  void retire() noexcept { is_retired_ = true; }
  bool is_empty() const noexcept { return ranges_.empty(); }
  /// True if the memory file has a descriptor, which map() needs.
  bool is_open() const noexcept { return file_.number() >= 0; }
  bool is_own() const noexcept { return nbytes_ != most_nbytes; }
  const Descriptor& file() const noexcept { return file_; }

  /// Maps a range at `address`, where the caller has reserved its bytes, or at any address if
  /// `address` is null. Returns null if the system refuses or the descriptor is lost; the caller
  /// then unmaps the reserved bytes.
  std::byte* map(const PageRange& range, system::Writes writes, std::byte* address) const noexcept;

 private:
  PageArena(Descriptor file, std::int64_t nbytes) noexcept
      : file_(std::move(file)), nbytes_(nbytes) {}
  bool take_from(std::int64_t begin, PageRange& range, std::int64_t nbytes,
                 std::int64_t alignment) noexcept;

  const Descriptor file_;
  const std::int64_t nbytes_;
  PageRange::SizesByOffset ranges_;
  std::int64_t next_ = 0;  // where the search for unused pages continues
  bool is_retired_ = false;
};

/// The relation of a file to the processes that map it.
enum class FileState : std::uint8_t {
  shared,  ///< data() is a shared mapping: writes there change the file
  /// The process forked: the file is constant, and data() is private like an overlay, or unused.
  forked,
  copied,  ///< this process is a child that copied the pages: the parent still writes the file
  lost,    ///< this process is a child that has neither the pages nor copies of them
};

class MemoryFile final : public PageFile, public ListNode {
 public:
  /// Throws std::bad_alloc.
  MemoryFile() = default;
  ~MemoryFile() override;

  /// Takes a range of `nbytes` and maps it. Returns false if the system refuses pages or mappings.
  bool map(std::size_t nbytes, Present present);

  void set_owned_by(const void* owners, bool (*is_owned)(const void*)) noexcept override;
  Overlay map_overlay(std::byte* source, OtherOverlays others, MovedPages moved) noexcept override;
  bool replace_with_overlay(OverlayNode& overlay, std::byte* place,
                            std::size_t place_nbytes) noexcept override;
  void collapse(std::byte* overlay, std::size_t offset, std::size_t part_nbytes) noexcept override;
  void unmap_overlay(std::byte* overlay) noexcept override;
  void add_overlay(OverlayNode& overlay) noexcept override;
  void remove_overlay(OverlayNode& overlay) noexcept override;
  bool is_exportable() const noexcept override { return !has_other_data(); }
  bool has_other_data() const noexcept override { return !range_.arena->is_own(); }
  FileForOthers open_for_others() noexcept override;
  bool is_open_elsewhere() noexcept override;
  bool wait_until_closed_elsewhere(void (*unlock)(void* context) noexcept,
                                   void* context) noexcept override;

 private:
  friend class MemoryFiles;

  std::byte* map_range(std::size_t nbytes, system::Writes writes) const noexcept;
  bool make_private(std::byte* place, system::Writes former) noexcept;
  bool replace_with_copies() noexcept;
  void lose() noexcept;
  Overlay map_unlisted_overlay(std::byte* source, FileState state, bool is_to_write_back,
                               OtherOverlays others, MovedPages moved) noexcept;
  std::optional<std::size_t> write_back(std::byte* source, MovedPages moved) noexcept;
  bool overlay_own_data(OverlayNode& overlay) noexcept;
  void list_replacement(OverlayNode& overlay, std::byte* place) noexcept;
  bool has_sole_overlay() const noexcept;
  void free_hidden_pages() noexcept;

  // The members below are protected by the lock of MemoryFiles.
  PageRange range_;
  IntrusiveList<OverlayNode> overlays_;
  // The number of overlays that are mapped or being mapped, but are not in the list yet.
  std::size_t unlisted_overlays_ = 0;
  // True after the only owner of the file was replaced with an overlay.
  bool has_only_overlays_ = false;
  // Changed with the lock. A reader without the lock misses the latest fork at most.
  sync::detail::Relaxed<FileState> state_{FileState::shared};
  bool is_written_back_ = false;  // true while a thread writes pages back; other threads may not
  const void* owners_ = nullptr;
  bool (*is_owned_)(const void*) = nullptr;
};

/// All memory files of the process, and the lock that protects their changing state. A fork waits
/// for the lock.
class MemoryFiles final : sync::detail::ProcessState {
 public:
  MemoryFiles() {
    enter();
    stats::detail::set_source_of_pinned_bytes(&pinned_nbytes);
  }

  /// Returns false if no memory file is available.
  bool take_range(MemoryFile& file, std::size_t nbytes);
  void put_back_range(MemoryFile& file) noexcept;

  void add(MemoryFile& file) noexcept {
    const sync::Lock lock(mutex_);
    files_.push_back(file);
  }
  void remove(MemoryFile& file) noexcept {
    const sync::Lock lock(mutex_);
    if (file.is_listed()) {
      files_.remove(file);
    }
  }

  sync::Mutex& mutex() noexcept { return mutex_; }

 private:
  static std::int64_t pinned_nbytes() noexcept;

  void retire_arena() noexcept;

  /// Makes the files' shared mappings private. If the system refuses, or the descriptor is lost,
  /// the child copies the pages before fork() returns in the parent. A child without memory for the
  /// copies loses the pages.
  void before_fork() noexcept override;
  void in_parent() noexcept override;
  void in_child() noexcept override;

  sync::Mutex mutex_;
  std::unique_ptr<PageArena> arena_;  // the source of new ranges
  IntrusiveList<MemoryFile> files_;
  // A pipe that exists while a child copies: the parent waits until the child closes the write end.
  system::Pipe copying_;
};

MemoryFiles& files() noexcept;

/// The alignment of a mapping of `nbytes`.
std::size_t alignment_for(std::size_t nbytes) noexcept;

/// Maps a part of a memory file, aligned by alignment_for(). Returns null if the system refuses.
/// The addresses are reserved without access rights first, so that no memory limit counts them.
std::byte* map_aligned(const Descriptor& file, std::int64_t offset, std::size_t nbytes,
                       system::Writes writes) noexcept;

/// Allocates the pages of a mapping in huge pages, as far as the system has any. The pages of a
/// mapping below the size of a huge page are allocated at first use. Returns false if memory is
/// lacking.
bool make_present(std::byte* data, std::size_t nbytes) noexcept;

}  // namespace byre::inline BYRE_ABI::detail
