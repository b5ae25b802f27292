// SPDX-License-Identifier: BSL-1.0
/// Buffer: bytes with value semantics. A copy of a buffer is a lazy clone, which shares the bytes
/// at the cost of one atomic add; a write to either buffer copies them first.
///
/// ```cpp
/// byre::Buffer weights = byre::Buffer::allocate(64 << 20);
/// weights.mutable_data()[0] = std::byte{1};       // in place: the bytes are not shared
/// const byre::Buffer snapshot = weights;          // a lazy clone: shares the 64 MiB
/// weights.mutable_data()[0] = std::byte{2};       // the write copies the 64 MiB first
/// assert(snapshot.data()[0] == std::byte{1});
/// assert(!snapshot.shares_data_with(weights));
/// ```
///
/// Two buffers that share allocated data:
///
///    Buffer a                  one allocation; the data is aligned to 64 bytes
///   +---------+              +------------+----------------------------------+------------+
///   | header_ |------+------>| share word | size, capacity, allocator, ...   | data       |
///   | data_   |---+  |       +------------+----------------------------------+------------+
///   +---------+   |  |                                                       ^
///    Buffer b     +--|-------------------------------------------------------+
///   +---------+   |  |
///   | header_ |------+
///   | data_   |---+
///   +---------+
///
/// The share word counts the owners of the data, which are buffers, and the copies that former
/// owners are still making of it. Its state decides what a write has to do:
///
///   state          owners  copies  a write by an owner                      materialize() returns
///   unique           1       0     is in place, after one atomic load       already_unique
///   shared          >= 2    any    copies the data and drops the original   copied
///   being copied     1      >= 1   waits for the copies, then is in place   stole
///                                  with Wait::never: as if shared           copied
///   read-only       any     any    copies the data and drops the original   copied
///
/// If the data is in pages (docs/parts.md), a write maps an overlay in place of each copy above,
/// and the result is `overlaid`. An overlay is a private mapping: the system copies each page of it
/// at the first write to that page.
#pragma once

#include <byre/checks/detail/access_monitor.hpp>
#include <byre/cow/detail/header.hpp>
#include <byre/cow/share_word.hpp>
#include <byre/error/call_site.hpp>
#include <byre/files/file_name.hpp>
#include <byre/memory/allocator.hpp>
#include <byre/observe/detail/observer.hpp>
#include <byre/storage/foreign.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace byre::inline v0 {

template <sync::Sync Sync>
class basic_storage;
template <sync::Sync Sync>
class basic_pin;

namespace detail {
template <sync::Sync Sync, std::size_t FanOut>
class basic_tile_tree;
}  // namespace detail

/// Whether other threads write to a buffer during writable_clone().
enum class Writers : std::uint8_t {
  none,
  elsewhere,  ///< other threads write, but only bytes that are never read in the clone
};

/// How a write made the data unique: owned by the writer alone.
enum class Materialized : std::uint8_t {
  already_unique,  ///< the data had no other owner and no pending copy
  stole,     ///< the writer is the last owner and writes in place; the copies by former owners have
             ///< ended, or are in front of the write in the queue of an in-order device
  copied,    ///< other owners retain the data, or it is read-only: the writer has a copy
  overlaid,  ///< as `copied`, for data in pages: the writer has an overlay
};

/// Thread-safety: as for a standard container. Any number of threads may call const members of one
/// buffer at once, the copy constructor included. The caller must not call a non-const member,
/// assign or destroy a buffer while another thread accesses the same buffer. Buffers that share
/// data are different buffers, so two threads may use one each without synchronization. A checked
/// build (Meson option `checks`) reports a violation of these rules with both call sites, and a
/// write through a pointer from before a lazy clone.
///
/// Errors: a member that throws leaves this buffer, and all buffers that share its data, unchanged.
/// Cost: O(1) without an allocation, unless a member says otherwise. Progress: reads are wait-free,
/// lazy clones lock-free, and releasing never waits for other owners. A write by the last owner
/// waits for pending copies, unless it passes Wait::never.
///
/// `site` in all members is the caller's source line, for the reports of checked builds and traces.
/// Source: the design note "Copy-on-write storage" (docs/protocol.md).
template <sync::Sync Sync>
class basic_buffer {
  using Header = cow::basic_header<Sync>;

 public:
  /// An empty buffer: no memory, and data() is null.
  basic_buffer() noexcept = default;

  /// A buffer of `nbytes` bytes from `allocator`, with indeterminate contents, aligned to
  /// data_alignment. A buffer of 0 bytes is not empty: it has an address and owns memory.
  /// Throws OutOfMemory; InvalidArgument if `nbytes` exceeds max_nbytes; and any exception of the
  /// allocator. Cost: one allocation.
  static basic_buffer allocate(std::size_t nbytes, Allocator& allocator = default_allocator());

  /// A buffer over foreign memory: memory that byre did not allocate. The deleter is called exactly
  /// once, with the address, by the thread that releases the last owner; if this call throws, the
  /// deleter has been called already. Copies of the data are allocated by `allocator`, which must
  /// belong to the device of the memory. Throws OutOfMemory; InvalidArgument if the address is null
  /// and the size is not 0, or if the deleter is null. Cost: one allocation, for the header.
  template <DeleterLike Deleter>
  static basic_buffer adopt(Foreign<Deleter> memory, Allocator& allocator = default_allocator());

  // The usual kinds of foreign memory. All of them behave as adopt(Foreign, Allocator&). If the
  // memory is passed as const, a write copies it.

  /// Memory that only this buffer and its lazy clones write.
  template <DeleterLike Deleter>
  static basic_buffer adopt(void* data, std::size_t nbytes, Deleter deleter,
                            Allocator& allocator = default_allocator()) {
    return adopt(Foreign<Deleter&>{data, nbytes, deleter}, allocator);
  }
  /// Memory that no code writes: a write to the buffer copies it.
  template <DeleterLike Deleter>
  static basic_buffer adopt_read_only(const void* data, std::size_t nbytes, Deleter deleter,
                                      Allocator& allocator = default_allocator()) {
    return adopt(Foreign<Deleter&>{.data = const_cast<void*>(data),
                                   .nbytes = nbytes,
                                   .deleter = deleter,
                                   .may_write = false},
                 allocator);
  }
  /// Memory that other code may write until it is released. A lazy clone copies the bytes at once,
  /// so that it does not change with these writes.
  template <DeleterLike Deleter>
  static basic_buffer adopt_aliased(void* data, std::size_t nbytes, Deleter deleter,
                                    Allocator& allocator = default_allocator()) {
    return adopt(
        Foreign<Deleter&>{.data = data, .nbytes = nbytes, .deleter = deleter, .others_write = true},
        allocator);
  }
  template <DeleterLike Deleter>
  static basic_buffer adopt_aliased(const void* data, std::size_t nbytes, Deleter deleter,
                                    Allocator& allocator = default_allocator()) {
    return adopt(Foreign<Deleter&>{.data = const_cast<void*>(data),
                                   .nbytes = nbytes,
                                   .deleter = deleter,
                                   .may_write = false,
                                   .others_write = true},
                 allocator);
  }
  /// Memory that the caller releases after this buffer is destroyed. A lazy clone copies the bytes
  /// at once, so the memory need not outlive the clones.
  static basic_buffer borrow(void* data, std::size_t nbytes,
                             Allocator& allocator = default_allocator()) {
    return adopt(Foreign<>{.data = data, .nbytes = nbytes, .outlives = false}, allocator);
  }
  static basic_buffer borrow(const void* data, std::size_t nbytes,
                             Allocator& allocator = default_allocator()) {
    return adopt(Foreign<>{.data = const_cast<void*>(data),
                           .nbytes = nbytes,
                           .may_write = false,
                           .outlives = false},
                 allocator);
  }

  /// A buffer over a file, which is mapped and never changed: a write copies the bytes, even if it
  /// is by the last owner. If the file has at least least_paged_nbytes and can still be opened by
  /// its name, a write maps an overlay instead of copying. Requires that no process truncates or
  /// changes the file while a buffer maps it: to read a truncated page is fatal (SIGBUS). A change
  /// shows in all buffers that map the file; an overlay shows it in the pages that have not been
  /// written through that overlay (docs/parts.md). Throws FileError if the file is missing,
  /// unreadable, empty or not a regular file; OutOfMemory. Cost: opens and maps the file; reads
  /// nothing.
  BYRE_API static basic_buffer map_file(FileName name, Allocator& allocator = default_allocator());

  /// As lazy_clone(), but never throws: ends the program if borrowed or aliased memory cannot be
  /// copied.
  basic_buffer(const basic_buffer& other, CallSite site = CallSite::current()) noexcept
      : basic_buffer(other.share(site)) {}

  /// A buffer that shares these bytes until either buffer is written. Borrowed and aliased memory
  /// is copied at once instead. Throws as allocate() if it copies. Cost: one atomic add, or a copy.
  /// Thread-safety: does not change this buffer, so any number of threads may clone it at once.
  basic_buffer lazy_clone(CallSite site = CallSite::current()) const {
    return basic_buffer(share(site));
  }

  /// A clone for code that writes through pointers without calling mutable_data(). Afterwards both
  /// buffers may be written through any pointers, and neither buffer changes with a write to the
  /// other. The call is a write to this buffer: if lazy clones share the bytes, or if they are
  /// read-only, it copies them first. Otherwise the bytes retain their address, and earlier
  /// pointers to them remain usable.
  ///
  /// Data in pages (of paged_allocator() or of a mapped file) is cloned lazily: each buffer gets a
  /// private mapping, and the clone gets copies of the pages that this buffer wrote since its last
  /// writable clone. Other data is copied at once, as is data that the system cannot map again.
  /// Throws as mutable_data() and allocate(). Cost: two mappings and the copies of written pages,
  /// or a copy of all bytes.
  ///
  /// With Writers::elsewhere other threads may write during the call, through pointers, bytes that
  /// no reader of the clone reads. Without it the call may hand written pages over by remapping
  /// them; with it the call copies them, or all bytes if more than an eighth of the pages were
  /// written.
  BYRE_API basic_buffer writable_clone(Wait wait = Wait::allowed,
                                       CallSite site = CallSite::current(),
                                       Writers writers = Writers::none);

  /// Takes over the bytes of `other`, which is empty afterwards.
  basic_buffer(basic_buffer&& other, CallSite site = CallSite::current()) noexcept {
    const auto access = other.monitor_.writes(site);
    exchange(other);
  }

  /// Replaces these bytes by a lazy clone of an lvalue, or by the bytes of a temporary, then
  /// releases the former bytes. Never throws; making the lazy clone ends the program in the cases
  /// that the copy constructor names.
  basic_buffer& operator=(basic_buffer other) noexcept {
    swap(other);
    return *this;
  }

  /// Never throws and never waits. The last owner of the bytes releases them.
  ~basic_buffer() {
    const auto access = monitor_.writes(CallSite::current());
    if (has_data()) {
      drop(header());
    }
  }

  /// Exchanges the bytes of the two buffers. A write to both of them.
  void swap(basic_buffer& other, CallSite site = CallSite::current()) noexcept {
    if (&other == this) {
      return;
    }
    const auto access = monitor_.writes(site);
    const auto other_access = other.monitor_.writes(site);
    exchange(other);
  }
  friend void swap(basic_buffer& left, basic_buffer& right) noexcept { left.swap(right); }

  /// A pointer to read the bytes, null if the buffer is empty. Never copies. Valid until this
  /// buffer is next written or destroyed. Other buffers that share the bytes do not extend this
  /// time, because they may release them too; to do so, hold a lazy clone.
  const std::byte* data(CallSite site = CallSite::current()) const noexcept {
    const auto access = monitor_.reads(site);
    return static_cast<const std::byte*>(data_.get());
  }

  /// Materializes the bytes and returns a pointer to write them. Valid until this buffer is next
  /// cloned, resized, assigned or destroyed: a write through it after a lazy clone would change the
  /// clone. Errors and cost: as materialize(). If the data is in pages, the first write to a page
  /// needs memory for it, and the system ends the program if it has no memory; mutable_range()
  /// throws instead.
  std::byte* mutable_data(Wait wait = Wait::allowed, CallSite site = CallSite::current()) {
    materialize(wait, site);
    return static_cast<std::byte*>(data_.get());
  }

  /// Makes the bytes unique, and returns how: see the table of states above. The last owner waits
  /// until the pending copies of the bytes have ended; with Wait::never it copies them instead.
  /// Throws as allocate() if it copies, and any exception of the allocator's copy. Cost: one atomic
  /// load if the bytes are unique, an allocation and a copy if they are shared or read-only.
  Materialized materialize(Wait wait = Wait::allowed, CallSite site = CallSite::current()) {
    const auto access = monitor_.writes(site);
    if (becomes_unique(site)) [[likely]] {
      return Materialized::already_unique;
    }
    return copy_or_steal(wait, site);
  }

  /// The `nbytes` bytes from `offset` on, to write: as mutable_data(). If the data is in pages, the
  /// pages of the range get their memory now, so a write to the range cannot fail for lack of
  /// memory. Throws InvalidArgument if the range exceeds the buffer; OutOfMemory if the pages get
  /// no memory; and as materialize(). Cost: as materialize(), and one system call if the data is in
  /// pages.
  std::span<std::byte> mutable_range(std::size_t offset, std::size_t nbytes,
                                     Wait wait = Wait::allowed,
                                     CallSite site = CallSite::current()) {
    expect_range(offset, nbytes, site);
    mutable_data(wait, site);
    return populated(offset, nbytes);
  }

  /// Changes the size. Bytes up to the smaller of the two sizes are retained; bytes beyond the
  /// former size are indeterminate. The address does not change while the capacity suffices.
  /// Requires that the bytes are not shared. Throws NotUnique if they are; OutOfMemory;
  /// InvalidArgument if `nbytes` exceeds max_nbytes. Cost: O(1) up to the capacity; beyond it an
  /// allocation and a copy. The capacity then grows by at least half, so that repeated appending up
  /// to n bytes copies at most 3n bytes; if there is no memory for that, it grows to `nbytes`.
  BYRE_API void resize(std::size_t nbytes, CallSite site = CallSite::current());

  /// Releases the capacity beyond the size, by a copy of the bytes into a smaller block. Does
  /// nothing if the allocator has no smaller block, or if the memory is borrowed, aliased or a
  /// mapped file. Requires that the bytes are not shared. Throws NotUnique if they are;
  /// OutOfMemory. Cost: an allocation and a copy.
  BYRE_API void shrink_to_fit(CallSite site = CallSite::current());

  /// The size in bytes.
  std::size_t nbytes(CallSite site = CallSite::current()) const noexcept {
    const auto access = monitor_.reads(site);
    return header().nbytes();
  }

  /// The largest size, in bytes, that resize() reaches without moving the bytes.
  std::size_t capacity(CallSite site = CallSite::current()) const noexcept {
    const auto access = monitor_.reads(site);
    return header().capacity();
  }

  /// True iff no other buffer shares these bytes and no copy of them is pending; true if the buffer
  /// is empty. An acquire load: after a true result, the accesses of former owners happened before.
  bool is_unique(CallSite site = CallSite::current()) const noexcept {
    const auto access = monitor_.reads(site);
    return header().share().is_unique() || !has_data();
  }

  /// The number of buffers that share these bytes, plus the overlays if the bytes are a mapped
  /// file. A relaxed load: approximate, for logs and diagnostics.
  std::uint32_t use_count(CallSite site = CallSite::current()) const noexcept {
    const auto access = monitor_.reads(site);
    return header().share().use_count();
  }

  /// True iff both buffers share these bytes, so that a write to either would copy.
  bool shares_data_with(const basic_buffer& other,
                        CallSite site = CallSite::current()) const noexcept {
    const auto access = monitor_.reads(site);
    const auto other_access = other.monitor_.reads(site);
    return header_.get() == other.header_.get() && has_data();
  }

  /// An identifier of the memory of these bytes, for logs and diagnostics. Equal for buffers that
  /// share their bytes, and for overlays of the pages of one file, even if these have written some
  /// of the pages. Not an address to access. A write may change it.
  BYRE_API const void* memory_id() const noexcept;

  /// Asks the system to move pages into huge pages, so that later writable clones cost less (Linux
  /// 6.1). These are the pages of the file that an overlay maps, for `nbytes` bytes from `offset`
  /// on; a part beyond the end is ignored. Does nothing if the data is not an overlay. Cost: some 2
  /// ms for 1 MiB, once. Thread-safety: other threads may read and write the bytes and call const
  /// members meanwhile. See docs/parts.md.
  BYRE_API void collapse(std::size_t offset, std::size_t nbytes) noexcept;

  /// Where the bytes came from. A lazy clone of foreign memory is `allocated` once it has been
  /// copied.
  Origin origin() const noexcept { return header().origin(); }

  /// True iff a write copies these bytes even if no other buffer shares them.
  bool is_read_only() const noexcept { return header().is_read_only(); }

  /// The allocator of copies of these bytes; default_allocator() if the buffer is empty.
  Allocator& allocator() const noexcept {
    return has_data() ? header().allocator() : default_allocator();
  }

 private:
  template <sync::Sync, std::size_t>
  friend class detail::basic_tile_tree;

  explicit basic_buffer(Header* header) noexcept { adopt_header(header); }

  /// As allocate(). The header of page-sized data is allocated apart: in front of the data it would
  /// cost a page.
  BYRE_API static basic_buffer allocate_tile(std::size_t nbytes, Allocator& allocator);

  /// Makes this buffer, which is empty, a lazy clone of `tile`. The statistics do not count it,
  /// since the user cloned the whole TiledBuffer.
  void share_tile(const basic_buffer& tile, CallSite site) noexcept {
    if (tile.has_data()) {
      tile.header().becomes_shared(site);
      tile.header().share().add_owner();
      adopt_header(tile.header_.get());
    }
  }

  Header& header() const noexcept { return *header_.get(); }
  bool has_data() const noexcept { return header().has_data(); }

  void exchange(basic_buffer& other) noexcept {
    void* const data = data_.get();
    Header* const header = header_.get();
    data_.set(other.data_.get());
    header_.set(other.header_.get());
    other.data_.set(data);
    other.header_.set(header);
  }

  // ---- for basic_storage: writes by the threads of a parallel loop, which call these functions
  // one at a time under a lock, and clones of data that a basic_pin gives to code outside byre

  friend class basic_storage<Sync>;

  /// As becomes_unique(), while other threads may read.
  bool is_writable_in_parallel(CallSite site) noexcept {
    const auto access = monitor_.writes_in_parallel(site);
    return !has_data() || becomes_unique(site);
  }

  /// As materialize(). The caller holds a lock, which it releases before it destroys `report`.
  BYRE_API Materialized materialize_and_report_in(stats::detail::WriteReport& report, Wait wait,
                                                  CallSite site);
  BYRE_API void expect_range(std::size_t offset, std::size_t nbytes, CallSite site) const;
  /// The range, with memory for each of its pages. Requires that the data is materialized.
  BYRE_API std::span<std::byte> populated(std::size_t offset, std::size_t nbytes);

  /// A copy in place of a lazy clone, because code that holds a pin may write the data.
  basic_buffer copy_of_pinned(CallSite site) const {
    const auto access = monitor_.is_cloned(site);
    return basic_buffer(copy_at_once(stats::CopyCause::pinned, site));
  }

  // ---- for basic_pin

  friend class basic_pin<Sync>;

  /// A buffer that shares data even if it is aliased or borrowed. The caller does not write it.
  basic_buffer share_for_pin(CallSite site) const noexcept {
    const auto access = monitor_.is_cloned(site);
    header().share().add_owner();
    return basic_buffer(header_.get());
  }

  // ---- how it shares its data

  void adopt_header(Header* header) noexcept {
    header_.set(header);
    data_.set(header->data());
  }

  /// Drops one owner of `former`. True iff it was the last one, and the data was released.
  static bool drop(Header& former) noexcept {
    former.check_unchanged(CallSite{});
    if (!former.share().drop_owner()) {
      return false;
    }
    former.release();
    return true;
  }

  /// Replaces the data, then drops the former data: a deleter that accesses this buffer finds the
  /// new data.
  bool replace_header(Header* header) noexcept {
    Header& former = this->header();
    adopt_header(header);
    return drop(former);
  }

  /// The header for a lazy clone of this buffer.
  Header* share(CallSite site) const {
    const auto access = monitor_.is_cloned(site);
    Header* const header = header_.get();
    if (!header->is_shareable()) [[unlikely]] {
      return copy_at_once(stats::CopyCause::borrowed, site);
    }
    stats::detail::report_clone(*header, site,
                                [header]() noexcept { header->share().add_owner(); });
    return header;
  }

  /// The header of a copy, made in place of a lazy clone.
  [[gnu::cold]] BYRE_API Header* copy_at_once(stats::CopyCause cause, CallSite site) const;

  /// True iff the data may be written in place now; then this buffer is ready for the write.
  bool becomes_unique(CallSite site) noexcept {
    if (!header().share().is_writable()) {
      return false;
    }
    header().becomes_unique(site);
    return true;
  }

  // detail/buffer_writes.hpp
  Materialized copy_or_steal(Wait wait, CallSite site);
  Materialized claim_and_copy(Wait wait, CallSite site, stats::detail::WriteReport& report,
                              bool has_pages);

  // Compiled into the library: detail/buffer_impl.hpp and detail/buffer_sizes.hpp.
  BYRE_API Materialized copy_or_steal_unordinary(Wait wait, CallSite site,
                                                 stats::detail::WriteReport& report);
  Materialized copy_read_only(CallSite site, stats::detail::WriteReport& report);
  Materialized submit_copy_or_steal(Wait wait, CallSite site, stats::detail::WriteReport& report);
  Claim claim_to_submit(Wait wait);
  static void end_copy(void* source) noexcept;
  BYRE_API bool map_overlay(stats::CopyCause cause, CallSite site,
                            stats::detail::WriteReport& report);
  Header* create_writable_clone(CallSite site, Writers writers);
  void expect_unique(const char* operation, std::size_t nbytes);
  bool is_unique_in_order() noexcept;
  Header* larger_copy(std::size_t nbytes) const;

  // Plain lets the model checker find races on these pointers: in a parallel loop one thread
  // changes them, and the others read them afterwards.
  typename Sync::template Plain<void*> data_{nullptr};
  typename Sync::template Plain<Header*> header_{&cow::no_data<Sync>()};
  [[no_unique_address]] detail::AccessMonitor monitor_;
};

template <sync::Sync Sync>
template <DeleterLike Deleter>
inline basic_buffer<Sync> basic_buffer<Sync>::adopt(Foreign<Deleter> memory, Allocator& allocator) {
  if (detail::is_null(memory.deleter)) {
    throw InvalidArgument::null_deleter();
  }
  using Owner = detail::DeleteOnce<std::remove_reference_t<Deleter>>;
  Owner owner(memory.data, memory.deleter);
  const Origin origin = !memory.outlives      ? Origin::borrowed
                        : memory.others_write ? Origin::aliased
                                              : Origin::adopted;
  return basic_buffer(detail::ForeignHeader<Header, Owner>::create(
      {memory.data, memory.nbytes, memory.nbytes, &allocator, origin, !memory.may_write}, owner));
}

using Buffer = basic_buffer<sync::Boost>;

}  // namespace byre::inline v0

#include <byre/storage/detail/buffer_writes.hpp>

namespace byre::inline v0 {

// Compiled into the library: buffer.cpp.
extern template cow::basic_header<sync::Boost>* cow::create_paged<sync::Boost>(std::size_t,
                                                                               Allocator&);
extern template Buffer basic_buffer<sync::Boost>::allocate_tile(std::size_t, Allocator&);
extern template Buffer basic_buffer<sync::Boost>::map_file(FileName, Allocator&);
extern template Buffer basic_buffer<sync::Boost>::writable_clone(Wait, CallSite, Writers);
extern template void basic_buffer<sync::Boost>::resize(std::size_t, CallSite);
extern template void basic_buffer<sync::Boost>::shrink_to_fit(CallSite);
extern template const void* basic_buffer<sync::Boost>::memory_id() const noexcept;
extern template void basic_buffer<sync::Boost>::collapse(std::size_t, std::size_t) noexcept;
extern template Materialized basic_buffer<sync::Boost>::materialize_and_report_in(
    stats::detail::WriteReport&, Wait, CallSite);
extern template void basic_buffer<sync::Boost>::expect_range(std::size_t, std::size_t,
                                                             CallSite) const;
extern template std::span<std::byte> basic_buffer<sync::Boost>::populated(std::size_t, std::size_t);
extern template Materialized basic_buffer<sync::Boost>::copy_or_steal_unordinary(
    Wait, CallSite, stats::detail::WriteReport&);
extern template bool basic_buffer<sync::Boost>::map_overlay(stats::CopyCause, CallSite,
                                                            stats::detail::WriteReport&);
extern template auto basic_buffer<sync::Boost>::copy_at_once(stats::CopyCause, CallSite) const
    -> Header*;

}  // namespace byre::inline v0
