// SPDX-License-Identifier: BSL-1.0
/// Data that lies in the pages of a file, and overlays of it.
#pragma once

#include <byre/config.hpp>
#include <byre/files/file_name.hpp>
#include <byre/memory/allocator.hpp>

#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace byre::inline v0::detail {

/// A private view of all the pages of a file: what is written there nobody else sees.
struct Overlay {
  std::byte* data;            ///< null where none could be mapped, or a copy costs less
  std::size_t copied_nbytes;  ///< of the pages that had been written in another overlay
};

/// An overlay in the list of its file's.
struct OverlayNode : boost::intrusive::list_base_hook<> {
  std::byte* data = nullptr;
};

/// Whether others show the file than the overlay that a new one is made of.
enum class OtherOverlays : std::uint8_t { none, some };

/// How many written pages of an overlay may be moved for a new overlay.
enum class MovedPages : std::uint8_t {
  few,  ///< up to an eighth: a copy of all bytes costs less than more of them
  any,
};

/// A file of pages, mapped. It outlives its overlays.
class BYRE_API PageFile {
 public:
  PageFile(const PageFile&) = delete;
  PageFile& operator=(const PageFile&) = delete;
  virtual ~PageFile() = default;

  std::byte* data() const noexcept { return data_; }
  std::size_t nbytes() const noexcept { return nbytes_; }

  /// Tells who can say, from any thread until this file ends, whether anybody owns it.
  virtual void set_owned_by(const void* /*owners*/, bool (* /*is_owned*/)(const void*)) noexcept {}

  /// An overlay that begins as `source` is, which is one too and may be null, or else as the file
  /// is. Nobody writes to `source` meanwhile, nor to the file while there are overlays.
  ///
  /// With OtherOverlays::none nobody shows the file but `source` and overlays that are being made
  /// of it, and nobody uses data(). Then the pages that were written in `source` may become the
  /// file's.
  ///
  /// The caller lists the overlay, or ends the file. Thread-safe, for the same `source` too.
  virtual Overlay map_overlay(std::byte* source, OtherOverlays others,
                              MovedPages moved = MovedPages::few) noexcept = 0;

  /// Replaces the mapping at `place` by an overlay of this file, which it lists: `nbytes` that
  /// equal the file's bytes, at data() or in an overlay of another file. Threads that read there
  /// meanwhile see no gap. Moves data() if that is the place. By the only user of data(). Returns
  /// false, having changed nothing, if the system refuses.
  virtual bool replace_with_overlay(OverlayNode& /*overlay*/, std::byte* /*place*/,
                                    std::size_t /*nbytes*/) noexcept {
    return false;
  }

  /// A new file with the bytes of `source`, an overlay of this file that no thread writes
  /// meanwhile. Null if the system has no room or no memory. Throws OutOfMemory if the heap is
  /// full.
  virtual std::unique_ptr<PageFile> copy_to_new_file(const std::byte* source);

  /// Gathers pages from `offset` on in huge pages, if the system has any, and has the overlay show
  /// these where it was not written. Thread-safe, but for replace_with_overlay().
  virtual void collapse(std::byte* /*overlay*/, std::size_t /*offset*/,
                        std::size_t /*nbytes*/) noexcept {}
  virtual void unmap_overlay(std::byte* overlay) noexcept = 0;

  /// Lists an overlay, which a child of a fork loses if it loses the file; unlists it, before it is
  /// unmapped.
  virtual void add_overlay(OverlayNode& /*overlay*/) noexcept {}
  virtual void remove_overlay(OverlayNode& /*overlay*/) noexcept {}

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

/// An allocator whose larger data lies in files of pages.
class BYRE_API PageAllocator : public Allocator {
 public:
  /// A file of its own for so many bytes, or null where ordinary memory does.
  virtual std::unique_ptr<PageFile> create_file(std::size_t nbytes) = 0;

 protected:
  PageAllocator() noexcept : Allocator(HasPages{}) {}
};

/// When the pages of a memory file get their memory.
enum class Present : std::uint8_t {
  at_once,       ///< in huge pages, as far as the system has any
  when_touched,  ///< and read as zeros until then
};

/// A range of a memory file. Null if the system has no memory files, or no room. Throws OutOfMemory
/// if the heap is full.
BYRE_API std::unique_ptr<PageFile> create_memory_file(std::size_t nbytes,
                                                      Present present = Present::at_once);

/// A file, mapped read-only. Throws FileError if the file is missing, not a regular file, empty or
/// unreadable; OutOfMemory.
BYRE_API std::unique_ptr<PageFile> map_file(const FileName& name);

/// Makes these bytes of a mapping writable without a fault. False if there is no memory for that.
BYRE_API bool populate_for_writes(std::byte* data, std::size_t nbytes) noexcept;

/// Copies the pages that were written in a private mapping to another, fresh, one of the same file.
/// Returns how many bytes that were, or nothing if there was no memory for them, or a copy of all
/// bytes costs less.
std::optional<std::size_t> copy_written_pages(std::byte* to, const std::byte* from,
                                              std::size_t nbytes) noexcept;

/// How many bytes of pages were written in a private mapping; 0 where the system does not say.
BYRE_API std::size_t count_written_pages(const void* mapping, std::size_t nbytes) noexcept;

/// Whether more than an eighth of the pages of a private mapping are written, by a sample of them.
/// False if the system does not say.
bool is_much_written(const std::byte* mapping, std::size_t nbytes) noexcept;

/// Calls `visit(context, offset, nbytes)` for each run of pages that were written in a private
/// mapping. Some of them may be left out.
void for_each_written_run(const std::byte* mapping, std::size_t nbytes,
                          void (*visit)(void* context, std::size_t offset,
                                        std::size_t nbytes) noexcept,
                          void* context) noexcept;

/// Moves them to the file instead, through `shown`, a shared mapping of it. After each run of pages
/// `end_run(context, offset, nbytes)` lets the private mapping show the file's again, or returns
/// false to end all. Returns as copy_written_pages; with MovedPages::any only a lack of memory ends
/// it.
std::optional<std::size_t> write_back_pages(std::byte* shown, const std::byte* mapping,
                                            std::size_t nbytes, MovedPages moved,
                                            bool (*end_run)(void* context, std::size_t offset,
                                                            std::size_t nbytes) noexcept,
                                            void* context) noexcept;

}  // namespace byre::inline v0::detail
