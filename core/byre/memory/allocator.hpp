// SPDX-License-Identifier: BSL-1.0
/// The allocator interface. A backend implements it to provide its own memory, on the host or on a
/// device; every Buffer stores its allocator and takes the memory of its copies from it.
#pragma once

#include <byre/config.hpp>
#include <byre/error/detail/assert.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace byre::inline BYRE_ABI {

/// The device that memory belongs to: the host, or a device that the embedding program numbers.
class Device {
 public:
  /// The host: kind 0, index 0.
  static constexpr Device cpu() noexcept { return Device(0, 0); }

  /// Device `index` of kind `kind`. The embedding program assigns kinds from 1 on. Ends the
  /// program if `kind` is 0, which is the host, and `index` is not 0.
  constexpr Device(std::uint16_t kind, std::uint16_t index) noexcept : kind_(kind), index_(index) {
    BYRE_ASSERT(kind != 0 || index == 0,
                "unsupported device: a device of kind 0 is the host and must have index 0");
  }

  constexpr std::uint16_t kind() const noexcept { return kind_; }
  constexpr std::uint16_t index() const noexcept { return index_; }
  /// True if the host may dereference the device's addresses.
  constexpr bool is_cpu() const noexcept { return kind_ == 0; }

  friend constexpr bool operator==(Device, Device) = default;

 private:
  std::uint16_t kind_;
  std::uint16_t index_;
};

/// The alignment of the data in allocated memory, in bytes.
inline constexpr std::size_t data_alignment = 64;

/// The maximum size of a buffer in bytes: PTRDIFF_MAX minus a reserve for headers and rounding.
inline constexpr std::size_t max_nbytes =
    (static_cast<std::size_t>(-1) >> 1) - (std::size_t{1} << 24);

class Budget;
class BudgetedAllocator;
class RecyclingPool;

namespace detail {
class PageAllocator;
}  // namespace detail

/// A request for memory.
struct Request {
  std::size_t nbytes;  ///< bytes of data, at most max_nbytes; may be 0
  /// Bytes just before the data that the host may write: a multiple of 64, at most 1024. Always 0
  /// if the host cannot address the device.
  std::size_t prefix = 0;
};

/// A block of memory that an allocator provides.
struct Block {
  void* data;            ///< the data, aligned to data_alignment; the prefix ends here
  std::size_t capacity;  ///< usable bytes at `data`, at least Request::nbytes
  void* base;            ///< for the allocator's use; deallocate() receives it unchanged
};

/// A movable handle to a submitted copy; see Allocator::submit_copy(). The source stays allocated
/// and its bytes stay valid for the copy until end() is called. The allocator must call end() when
/// the device has read the source, or if the device will never read it.
///
/// Thread-safety: that of a plain value; end() may be called on any thread. Progress: end() neither
/// waits nor fails. If end() releases the source, it calls the allocator's deallocate().
class PendingCopy {
 public:
  /// A function that ends the copy from `source`.
  using End = void (*)(void* source) noexcept;

  /// A handle without a copy.
  PendingCopy() noexcept = default;
  PendingCopy(void* source, End how_to_end) noexcept : source_(source), end_(how_to_end) {}
  PendingCopy(PendingCopy&& other) noexcept
      : source_(other.source_), end_(std::exchange(other.end_, nullptr)) {}
  PendingCopy& operator=(PendingCopy&& other) noexcept {
    PendingCopy(std::move(other)).swap(*this);
    return *this;
  }
  ~PendingCopy() { end(); }

  /// Ends the copy. A second call does nothing.
  void end() noexcept {
    if (End const how_to_end = std::exchange(end_, nullptr)) {
      how_to_end(source_);
    }
  }

  /// Discards the handle without ending the copy. Only the code that created the handle may call
  /// this.
  void forget() noexcept { end_ = nullptr; }

  /// True if the handle has a copy that has not ended.
  explicit operator bool() const noexcept { return end_ != nullptr; }

 private:
  void swap(PendingCopy& other) noexcept {
    std::swap(source_, other.source_);
    std::swap(end_, other.end_);
  }

  void* source_ = nullptr;
  End end_ = nullptr;
};

/// When an allocator's copies for writers of shared data are complete.
enum class CopiesEnd : std::uint8_t {
  /// When allocate_copy() returns.
  on_return,
  /// After submit_copy() has returned. The last owner of the source waits for the copy before it
  /// writes.
  later,
  /// After submit_copy() has returned. The memory is accessed only through an in-order queue. The
  /// last owner does not wait: the queue executes its writes after the copies.
  in_order,
};

namespace detail {

/// Returns `block`. Ends the program if an allocator returned null instead of throwing.
inline const Block& expect_memory(const Block& block, const Request& request) noexcept {
  BYRE_ASSERT(
      block.data != nullptr || request.prefix + request.nbytes == 0,
      "an allocator returned null. Throw std::bad_alloc or an Error if there is no memory.");
  return block;
}

}  // namespace detail

/// A source of memory for buffers.
///
/// Thread-safety: every member may be called from any thread at any time, because owners release
/// their data on any thread. Lifetime: an allocator must outlive every buffer from it, including
/// their lazy clones and copies.
class BYRE_API Allocator {
 public:
  virtual ~Allocator() = default;

  /// Returns memory for `request` with indeterminate contents. Throws an Error, or std::bad_alloc,
  /// which callers receive as OutOfMemory. A null block ends the program, unless the request is for
  /// 0 bytes.
  virtual Block allocate(const Request& request) = 0;

  /// Returns memory for `request` whose first `nbytes` are a copy of those at `source`. Requires
  /// `nbytes` <= request.nbytes. Throws what allocate() and copy() throw, and then holds no memory.
  /// The default calls allocate() and copy(); override it if an allocator can do both faster.
  virtual Block allocate_copy(const Request& request, const void* source, std::size_t nbytes);

  /// Does what allocate_copy() does, for a writer of shared data that continues while the device
  /// copies. byre calls it if copies_end() is not on_return. Throws what allocate_copy() throws.
  ///
  /// When nothing can fail any more, the allocator must move the handle out of `pending`, and end
  /// it after the device has read the source. Until then the source is constant; if copies_end() is
  /// in_order, the source may be written by accesses that the queue executes after the copy. If
  /// `pending` is unchanged on return, the copy is complete. The new block may be released before
  /// the copy ends. An allocator must not access the copied data through its Buffer. The default
  /// calls allocate_copy().
  virtual Block submit_copy(const Request& request, const void* source, std::size_t nbytes,
                            PendingCopy& pending);

  /// Takes back a block that this allocator returned. Called once for each block.
  virtual void deallocate(const Block& block) noexcept = 0;

  /// The bytes of memory that a block takes: its capacity, and the allocator's own part of it, such
  /// as padding. A budget counts them. The result for a block never changes. The default is the
  /// capacity.
  virtual std::size_t nbytes_taken_by(const Block& block) const noexcept { return block.capacity; }

  /// Copies `nbytes`, which may be 0, between two places on this allocator's device. The copy is
  /// complete on return or, if copies_end() is in_order, before the queue executes the next
  /// submission. An implementation may throw, but only if it has changed nothing. The default is
  /// std::memcpy.
  virtual void copy(void* destination, const void* source, std::size_t nbytes);

  /// The device of the allocator's memory.
  Device device() const noexcept { return device_; }

  /// When copies for writers of shared data are complete.
  CopiesEnd copies_end() const noexcept { return copies_end_; }

  /// True if byre may serve small requests from the calling thread's cache of blocks, and release
  /// small blocks to that cache, without calling this allocator; see detail/thread_cache.hpp.
  bool uses_thread_cache() const noexcept { return uses_thread_cache_; }

  /// True if this is a PageAllocator, which stores large data in files of pages, or a budgeted one;
  /// see pages/detail/page_file.hpp.
  bool has_pages() const noexcept { return has_pages_; }

  /// True if the allocator's blocks of whole pages are pages that byre mapped. A checked build may
  /// then write-protect these pages; see checks/detail/write_trap.hpp.
  bool maps_pages() const noexcept { return maps_pages_; }

  /// The budget in which the allocator's blocks count, or null; see budget.hpp.
  Budget* budget() const noexcept { return budget_; }

  /// The allocator's name for messages, such as "recycling pool".
  virtual const char* name() const noexcept = 0;

 protected:
  /// Ends the program if `device` is the host and `copies_end` is not on_return.
  explicit Allocator(Device device = Device::cpu(),
                     CopiesEnd copies_end = CopiesEnd::on_return) noexcept
      : device_(device), copies_end_(copies_end) {
    BYRE_ASSERT(copies_end == CopiesEnd::on_return || !device.is_cpu(),
                "an allocator of host memory requires CopiesEnd::on_return");
  }
  Allocator(const Allocator&) = default;
  Allocator& operator=(const Allocator&) = default;

 private:
  friend class RecyclingPool;  // the only allocator that uses the thread cache
  struct UsesThreadCache {};
  Allocator(UsesThreadCache, bool maps_pages) noexcept
      : device_(Device::cpu()), uses_thread_cache_(true), maps_pages_(maps_pages) {}

  friend class detail::PageAllocator;
  struct HasPages {};
  explicit Allocator(HasPages) noexcept : device_(Device::cpu()), has_pages_(true) {}

  friend class BudgetedAllocator;  // has the properties of its inner allocator
  Allocator(const Allocator& inner, Budget& budget) noexcept
      : device_(inner.device_),
        copies_end_(inner.copies_end_),
        has_pages_(inner.has_pages_),
        maps_pages_(inner.maps_pages_),
        budget_(&budget) {}

  Device device_;
  CopiesEnd copies_end_ = CopiesEnd::on_return;
  bool uses_thread_cache_ = false;
  bool has_pages_ = false;
  bool maps_pages_ = false;
  Budget* budget_ = nullptr;
};

/// The recycling pool of the process; see pool.hpp. It is never destroyed. Thread-safe.
BYRE_API Allocator& default_allocator() noexcept;

}  // namespace byre::inline BYRE_ABI
