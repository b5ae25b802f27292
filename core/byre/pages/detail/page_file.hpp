// SPDX-License-Identifier: BSL-1.0
/// Files of pages that store data, and the interface to map overlays of them. The implementations
/// are memory files and mapped files.
#pragma once

#include <byre/config.hpp>
#include <byre/error/detail/intrusive_list.hpp>
#include <byre/files/file_name.hpp>
#include <byre/memory/allocator.hpp>
#include <byre/memory/budget.hpp>
#include <byre/system/detail/descriptor.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace byre::inline BYRE_ABI::detail {

/// A private mapping of all pages of a file. Writes to the mapping do not change the file and are
/// not visible in other mappings.
struct Overlay {
  std::byte* data;  ///< null if no overlay could be mapped, or if a full copy costs less
  /// Bytes copied from pages that had been written in the source overlay.
  std::size_t copied_nbytes;
};

/// An entry in a file's list of overlays.
struct OverlayNode : ListNode {
  std::byte* data = nullptr;
};

/// Whether mappings other than the source of a new overlay show the file.
enum class OtherOverlays : std::uint8_t { none, some };

/// How many written pages of the source may be copied to a new overlay or written back to the file.
enum class MovedPages : std::uint8_t {
  few,  ///< up to an eighth of all pages; beyond that, a full copy costs less
  any,
};

/// A file of pages for other processes.
struct FileForOthers {
  Descriptor file;  ///< opened only to read; empty if the system refuses
  /// Whether this process may write the file later, if no process has it open any more.
  bool may_change = false;
};

/// A mapped file of pages. It outlives its overlays.
class BYRE_API PageFile {
 public:
  PageFile(const PageFile&) = delete;
  PageFile& operator=(const PageFile&) = delete;
  virtual ~PageFile() = default;

  std::byte* data() const noexcept { return data_; }
  std::size_t nbytes() const noexcept { return nbytes_; }

  /// Sets the function `is_owned`: is_owned(owners) returns whether the file's data has an owner.
  /// It may be called on any thread until the file is destroyed.
  virtual void set_owned_by(const void* /*owners*/, bool (* /*is_owned*/)(const void*)) noexcept {}

  /// Maps an overlay with the contents of `source` (another overlay of this file), or with the
  /// contents of the file if `source` is null. Requires that no thread writes `source` during the
  /// call, and that no thread writes the file while the file has overlays.
  ///
  /// OtherOverlays::none requires that only `source`, and overlays being made from it, show the
  /// file, and that data() is unused. The pages that were written in `source` may then be written
  /// back to the file.
  ///
  /// The caller must list the overlay with add_overlay(), or destroy the file. Thread-safe, also if
  /// several threads pass one `source`.
  virtual Overlay map_overlay(std::byte* source, OtherOverlays others,
                              MovedPages moved = MovedPages::few) noexcept = 0;

  /// Replaces the `nbytes` mapped at `place` with an overlay of this file, and adds it to the list.
  /// The bytes at `place` must equal those of the file; `place` is data() or an overlay of another
  /// file. Concurrent readers of `place` always see these bytes. If `place` is data(), data() moves
  /// to another address. Requires that no other thread uses data(). Returns false and changes
  /// nothing if the system refuses.
  virtual bool replace_with_overlay(OverlayNode& /*overlay*/, std::byte* /*place*/,
                                    std::size_t /*nbytes*/) noexcept {
    return false;
  }

  /// Makes a new file with the bytes of `source` (an overlay of this file). Requires that no thread
  /// writes `source` during the call. Returns null if the system refuses pages or memory. Throws
  /// OutOfMemory if the heap is full.
  virtual std::unique_ptr<PageFile> copy_to_new_file(const std::byte* source);

  /// Collapses the pages of the file in a range to huge pages, if the system has any, and makes the
  /// overlay show these huge pages where it was not written. Thread-safe, except that it must not
  /// run concurrently with replace_with_overlay().
  virtual void collapse(std::byte* /*overlay*/, std::size_t /*offset*/,
                        std::size_t /*nbytes*/) noexcept {}
  virtual void unmap_overlay(std::byte* overlay) noexcept = 0;

  /// Adds an overlay to the list, or removes it before it is unmapped. A forked child that loses
  /// the file loses its listed overlays too.
  virtual void add_overlay(OverlayNode& /*overlay*/) noexcept {}
  virtual void remove_overlay(OverlayNode& /*overlay*/) noexcept {}

  /// Whether other processes may map this file although this process may write it.
  virtual bool is_exportable() const noexcept { return false; }
  /// Opens the file for other processes, which may map it as long as they have the descriptor. The
  /// calls of this function and the next one for files that may change do not overlap.
  virtual FileForOthers open_for_others() noexcept { return {}; }
  /// Whether a descriptor from open_for_others(), or a mapping made with it, exists in any process,
  /// and this process may write the file.
  virtual bool is_open_elsewhere() noexcept { return false; }
  /// Whether other data has pages in the same file of the system.
  virtual bool has_other_data() const noexcept { return false; }
  /// Whether another process sent the file.
  virtual bool is_imported() const noexcept { return false; }
  /// Waits until is_open_elsewhere() is false. Calls `unlock(context)` before it waits: this file
  /// may then end. Returns false if the system refuses to wait.
  virtual bool wait_until_closed_elsewhere(void (* /*unlock*/)(void* context) noexcept,
                                           void* /*context*/) noexcept {
    return false;
  }

 protected:
  PageFile() noexcept = default;
  void set_mapping(std::byte* data, std::size_t nbytes) noexcept {
    data_ = data;
    nbytes_ = nbytes;
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t nbytes_ = 0;
};

/// An allocator that stores large data in files of pages.
class BYRE_API PageAllocator : public Allocator {
 public:
  /// Called before create_file(), before the bytes count in a budget.
  virtual void make_room() noexcept {}
  /// Creates a file for `nbytes`, or returns null if ordinary memory is to be used.
  virtual std::unique_ptr<PageFile> create_file(std::size_t nbytes) = 0;

 protected:
  PageAllocator() noexcept : Allocator(HasPages{}) {}
};

/// The page allocator that `allocator`, which has pages, is, or that provides its blocks.
inline PageAllocator& page_allocator_of(Allocator& allocator) noexcept {
  return static_cast<PageAllocator&>(allocator.budget() == nullptr
                                         ? allocator
                                         : static_cast<BudgetedAllocator&>(allocator).inner());
}

/// When the pages of a memory file are allocated.
enum class Present : std::uint8_t {
  at_once,       ///< immediately, in huge pages if the system has any
  when_touched,  ///< at the first access; untouched pages read as zeros
};

/// Creates a file: a range of pages in a memory file. Returns null if the system lacks memory
/// files, or refuses pages or mappings. Throws OutOfMemory if the heap is full.
BYRE_API std::unique_ptr<PageFile> create_memory_file(std::size_t nbytes,
                                                      Present present = Present::at_once);

/// Maps a file read-only. Throws FileError if the file is missing, not a regular file, empty or
/// unreadable. Throws OutOfMemory if memory is lacking.
BYRE_API std::unique_ptr<PageFile> map_file(const FileName& name);

/// Maps a file that another process sent, which has at least `nbytes` bytes. Returns null if the
/// system refuses. Throws OutOfMemory if the heap is full.
std::unique_ptr<PageFile> import_file(Descriptor file, std::size_t nbytes);

/// Copies the pages that were written in the private mapping `from` to `to`, a fresh private
/// mapping of the same file. Returns the number of copied bytes, or nullopt if there is no memory
/// for the pages or a full copy costs less.
std::optional<std::size_t> copy_written_pages(std::byte* to, const std::byte* from,
                                              std::size_t nbytes) noexcept;

/// Returns the bytes of the pages that were written in a private mapping, or 0 if the system does
/// not report them.
BYRE_API std::size_t count_written_pages(const void* mapping, std::size_t nbytes) noexcept;

/// Estimates from a sample whether more than an eighth of the pages of a private mapping were
/// written. Returns false if the system does not report written pages.
bool is_much_written(const std::byte* mapping, std::size_t nbytes) noexcept;

/// Calls `visit(context, offset, nbytes)` for runs of pages that were written in a private mapping.
/// It may omit some runs.
void for_each_written_run(const std::byte* mapping, std::size_t nbytes,
                          void (*visit)(void* context, std::size_t offset,
                                        std::size_t nbytes) noexcept,
                          void* context) noexcept;

/// Calls `visit(context, offset, nbytes)` for all runs of pages that were written in a private
/// mapping, until it returns false. Returns the bytes of the runs, or nullopt if not all were
/// visited: the system does not report them, or a full copy costs less.
std::optional<std::size_t> visit_written_pages(const std::byte* mapping, std::size_t nbytes,
                                               bool (*visit)(void* context, std::size_t offset,
                                                             std::size_t nbytes) noexcept,
                                               void* context) noexcept;

/// Writes the written pages of the private mapping `mapping` back to the file, through its shared
/// mapping `shown`. After each run of pages, calls `end_run(context, offset, nbytes)`, which makes
/// `mapping` show the file's pages again, or returns false to stop. Returns what
/// copy_written_pages() returns; with MovedPages::any, returns nullopt only if there is no memory
/// or if end_run() returns false.
std::optional<std::size_t> write_back_pages(std::byte* shown, const std::byte* mapping,
                                            std::size_t nbytes, MovedPages moved,
                                            bool (*end_run)(void* context, std::size_t offset,
                                                            std::size_t nbytes) noexcept,
                                            void* context) noexcept;

}  // namespace byre::inline BYRE_ABI::detail
