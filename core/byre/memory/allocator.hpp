// SPDX-License-Identifier: BSL-1.0
/// The allocator interface: what a backend implements to bring its own memory, on the host or on a
/// device. Every Buffer remembers its allocator and takes the memory of its copies from it.
#pragma once

#include <byre/config.hpp>
#include <byre/error/detail/assert.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace byre::inline v0 {

/// Where memory lives. The host is device 0; other kinds are the embedder's to number.
class Device {
 public:
  static constexpr Device cpu() noexcept { return Device(0, 0); }

  /// A device of the embedder's: `kind` > 0 says which sort, `index` which one of them. There is one
  /// host, of index 0; another ends the program.
  constexpr Device(std::uint16_t kind, std::uint16_t index) noexcept : kind_(kind), index_(index) {
    BYRE_ASSERT(kind != 0 || index == 0, "a device of kind 0 is the host, whose index is 0");
  }

  constexpr std::uint16_t kind() const noexcept { return kind_; }
  constexpr std::uint16_t index() const noexcept { return index_; }
  /// True iff the host may dereference its addresses.
  constexpr bool is_cpu() const noexcept { return kind_ == 0; }

  friend constexpr bool operator==(Device, Device) = default;

 private:
  std::uint16_t kind_;
  std::uint16_t index_;
};

/// Data of allocated memory starts at a multiple of this, in bytes.
inline constexpr std::size_t data_alignment = 64;

/// The most bytes one buffer can have. What is left below PTRDIFF_MAX holds headers and rounding.
inline constexpr std::size_t max_nbytes =
    (static_cast<std::size_t>(-1) >> 1) - (std::size_t{1} << 24);

class RecyclingPool;

namespace detail {
class PageAllocator;
}  // namespace detail

/// What a Buffer asks of an allocator.
struct Request {
  std::size_t nbytes;      ///< bytes of data, at most max_nbytes; may be 0
  std::size_t prefix = 0;  ///< bytes the host may write, just before the data: a multiple of 64, at
                           ///< most 1024; always 0 for a device the host cannot address
};

/// What an allocator answers.
struct Block {
  void* data;            ///< the data, aligned to data_alignment; the prefix ends here
  std::size_t capacity;  ///< usable bytes from there, at least those asked for
  void* base;            ///< the allocator's own note, handed back to it untouched
};

/// A movable handle to one submitted copy. The source lives, and keeps its bytes for the copy, until the handle is ended:
/// once the device has read the source, or never will. See Allocator::submit_copy(). Thread-safety: of a value; it may be ended on any thread. Progress: ending it never
/// waits for anybody, and never fails. It may release the source, and so call the allocator's deallocate().
class PendingCopy {
 public:
  /// What ends the copy out of `source`.
  using End = void (*)(void* source) noexcept;

  /// No copy.
  PendingCopy() noexcept = default;
  PendingCopy(void* source, End how_to_end) noexcept : source_(source), end_(how_to_end) {}
  PendingCopy(PendingCopy&& other) noexcept
      : source_(other.source_), end_(std::exchange(other.end_, nullptr)) {}
  PendingCopy& operator=(PendingCopy&& other) noexcept {
    PendingCopy(std::move(other)).swap(*this);
    return *this;
  }
  ~PendingCopy() { end(); }

  /// The copy is made. Does nothing a second time.
  void end() noexcept {
    if (End const how_to_end = std::exchange(end_, nullptr)) {
      how_to_end(source_);
    }
  }

  /// By who began it: there is no copy to end.
  void forget() noexcept { end_ = nullptr; }

  /// Whether there is one to end.
  explicit operator bool() const noexcept { return end_ != nullptr; }

 private:
  void swap(PendingCopy& other) noexcept {
    std::swap(source_, other.source_);
    std::swap(end_, other.end_);
  }

  void* source_ = nullptr;
  End end_ = nullptr;
};

/// When the copies end that an allocator makes for writers of shared data.
enum class CopiesEnd : std::uint8_t {
  on_return,  ///< when allocate_copy() returns
  later,  ///< after submit_copy() has returned: the last owner of the source waits for that before it writes
  in_order,  ///< the same, of memory that is only accessed through a queue, where each access comes after those that
  ///< were submitted before it: the last owner waits for none, as its writes come after the copies
};

namespace detail {

/// What an allocator answered. One that returns null where it has to throw has nobody to tell.
inline const Block& expect_memory(const Block& block, const Request& request) noexcept {
  BYRE_ASSERT(
      block.data != nullptr || request.prefix + request.nbytes == 0,
      "an allocator returned null: it has to throw std::bad_alloc, or an Error, where it has "
      "no memory");
  return block;
}

}  // namespace detail

/// Thread-safety: every member may be called from any thread at any time, since clones are released
/// wherever they die. Lifetime: an allocator outlives every buffer that came from it, lazy clones
/// and copies of those included.
class BYRE_API Allocator {
 public:
  virtual ~Allocator() = default;

  /// Memory for `request`, or an exception (an Error, or std::bad_alloc, which callers receive as
  /// OutOfMemory). Contents are indeterminate. Null ends the program, unless no byte was asked for.
  virtual Block allocate(const Request& request) = 0;

  /// Memory for `request` that begins as the `nbytes` at `source` do, at most request.nbytes:
  /// allocate and copy, unless an allocator knows how to do both better. Throws as they do, keeping
  /// nothing.
  virtual Block allocate_copy(const Request& request, const void* source, std::size_t nbytes);

  /// The same for the writer of shared data, who goes on while the device copies; asked of allocators whose copies
  /// end later. Once nothing can fail any more, moves from `pending` what ends the copy, and ends it after the
  /// device has read the source; until then the source is constant, or, in order, written after that. If it leaves
  /// `pending` alone the copy is complete. The new block may be released before the copy ends. An allocator does
  /// not ask for the data it copies. Throws as allocate_copy(). The default is allocate_copy().
  virtual Block submit_copy(const Request& request, const void* source, std::size_t nbytes,
                            PendingCopy& pending);

  /// Takes back a block of its own, once.
  virtual void deallocate(const Block& block) noexcept = 0;

  /// Copies between two places of this allocator's device; complete when it returns, or, where copies end in
  /// order, before whatever is submitted next. `nbytes` may be 0. May throw: the copy is then given up and nothing
  /// changed. The default is std::memcpy.
  virtual void copy(void* destination, const void* source, std::size_t nbytes);

  /// Where its memory lives.
  Device device() const noexcept { return device_; }

  /// When its copies end, for writers of shared data.
  CopiesEnd copies_end() const noexcept { return copies_end_; }

  /// Whether its small blocks may be taken from the calling thread's cache, and put there, without
  /// asking it; see detail/thread_cache.hpp.
  bool uses_thread_cache() const noexcept { return uses_thread_cache_; }

  /// Whether it is a PageAllocator, of pages/detail/page_file.hpp.
  bool has_pages() const noexcept { return has_pages_; }

  /// Whether its blocks of whole pages are pages that byre has mapped, which a checked build may protect
  /// against writes; see checks/detail/write_trap.hpp.
  bool maps_pages() const noexcept { return maps_pages_; }

  /// For messages: "recycling pool".
  virtual const char* name() const noexcept = 0;

 protected:
  /// Of memory that the host addresses, copies end on return.
  explicit Allocator(Device device = Device::cpu(),
                     CopiesEnd copies_end = CopiesEnd::on_return) noexcept
      : device_(device), copies_end_(copies_end) {
    BYRE_ASSERT(copies_end == CopiesEnd::on_return || !device.is_cpu(),
                "copies of memory that the host addresses have to end on return");
  }
  Allocator(const Allocator&) = default;
  Allocator& operator=(const Allocator&) = default;

 private:
  friend class RecyclingPool;  // the only one that does
  struct UsesThreadCache {};
  Allocator(UsesThreadCache, bool maps_pages) noexcept
      : device_(Device::cpu()), uses_thread_cache_(true), maps_pages_(maps_pages) {}

  friend class detail::PageAllocator;
  struct HasPages {};
  explicit Allocator(HasPages) noexcept : device_(Device::cpu()), has_pages_(true) {}

  Device device_;
  CopiesEnd copies_end_ = CopiesEnd::on_return;
  bool uses_thread_cache_ = false;
  bool has_pages_ = false;
  bool maps_pages_ = false;
};

/// The recycling pool of the process; see pool.hpp. Never destroyed.
BYRE_API Allocator& default_allocator() noexcept;

}  // namespace byre::inline v0
