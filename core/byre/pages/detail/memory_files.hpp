// SPDX-License-Identifier: BSL-1.0
/// Ranges of memory files (Linux), and the list of all in the process.
#pragma once

#include <byre/observe/counters.hpp>
#include <byre/pages/detail/page_arena.hpp>
#include <byre/pages/detail/page_file.hpp>
#include <byre/sync/detail/boost_mutex.hpp>
#include <byre/system/detail/descriptor.hpp>

#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace byre::inline v0::detail {

/// Which writes the pages of a file show.
enum class Shows : std::uint8_t {
  writes,  ///< those through its own mapping, which shares the file's pages
  fork,  ///< none since the process forked: its own mapping is as private as an overlay's, or not used
  copies,  ///< this process was forked, and has copies: the parent writes the file
  none,    ///< this process was forked, and did not get the file
};

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

MemoryFiles& files() noexcept;

constexpr int collapse_advice = 25;  // MADV_COLLAPSE, Linux 6.1; older headers lack it

/// That a mapping of so many bytes has.
std::size_t alignment_for(std::size_t nbytes) noexcept;

}  // namespace byre::inline v0::detail
