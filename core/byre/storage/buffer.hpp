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
/// The share word is an atomic counter. It counts the owners of the data (buffers) and the
/// pending copies. A writer of shared data is first counted as a pending copy instead of an owner,
/// and then copies. The state of the word decides what a write has to do:
///
///   state          owners  copies  a write by an owner                      materialize() returns
///   unique           1       0     is in place, after one atomic load       already_unique
///   shared          >= 2    any    gives up its ownership, then copies      copied
///   being copied     1      >= 1   waits for the copies, then is in place   stole
///                                  with Wait::never: as if shared           copied
///   read-only       any     any    copies the data and drops the original   copied
///
/// Two kinds of data differ from this table:
///
/// - Data in pages: memory of paged_allocator(), or a mapped file (docs/parts.md). Instead of
///   copying, a write maps an overlay if the system can, and the result is `overlaid`. An overlay
///   is a private mapping of the pages: the system copies each page of it at the first write to
///   that page. A write to data in pages never waits.
/// - Data on a device that is accessed through one in-order queue. The last owner never waits,
///   because its writes are in the queue behind the copies.
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

namespace byre::inline BYRE_ABI {

template <sync::Sync Sync>
class basic_storage;
template <sync::Sync Sync>
class basic_pin;
template <class T>
class Array;

namespace detail {
template <sync::Sync Sync, std::size_t FanOut>
class basic_tile_tree;
template <sync::Sync Sync, class Slot>
class basic_atomic_cell;
struct QuickClone;
struct ExportedHeader;
}  // namespace detail

/// Whether other threads write to a buffer during writable_clone().
enum class Writers : std::uint8_t {
  none,       ///< no other thread writes during the call
  elsewhere,  ///< other threads write during the call, but only bytes that are never read in the
              ///< clone
};

/// How a write made the data unique, that is, owned by the writer alone.
enum class Materialized : std::uint8_t {
  already_unique,  ///< the data had no other owner and no pending copy, or the buffer is empty
  stole,     ///< the writer is the last owner and writes in place; the copies by former owners have
             ///< ended, or are in front of the write in the queue of an in-order device
  copied,    ///< the data was shared, being copied or read-only: the writer has a copy
  overlaid,  ///< as `copied`, for data in pages: the writer has an overlay
};

/// A value: the bytes of a buffer change only by writes to this buffer, unless they are foreign
/// memory or a mapped file that other code changes. Writes are calls of non-const members,
/// assignment, destruction, and writes through a pointer from mutable_data().
///
/// Unless a member says otherwise:
///
/// - Thread-safety: as for a standard container. Any number of threads may read or clone one buffer
///   at once, the copy constructor included. The caller must not write a buffer while another
///   thread accesses it. Buffers that share data are different buffers: two threads may use one
///   each without synchronization. A checked build (Meson option `checks`) reports a violation of
///   these rules with both call sites. It also reports a write through a pointer that was obtained
///   before a lazy clone.
/// - Errors: a member that throws changes neither the contents nor the size of any buffer. Members
///   without a list of errors throw nothing.
/// - Cost: O(1), without an allocation or a system call.
/// - Progress: reads are wait-free, lazy clones are lock-free, and releasing never waits for other
///   owners. A write by the last owner waits for pending copies, unless Wait::never is passed.
///
/// The parameter `site` is the caller's source line, for the reports of checked builds and traces.
/// `Sync` provides the atomic operations: sync::Default in programs, a simulation in the model
/// checker. The design follows the note "Copy-on-write storage"; docs/protocol.md states where byre
/// differs from it.
template <sync::Sync Sync>
class basic_buffer {
  using Header = cow::basic_header<Sync>;

 public:
  /// An empty buffer: no memory, and data() is null.
  basic_buffer() noexcept = default;

  /// A buffer of `nbytes` bytes from `allocator`, with indeterminate contents, aligned to
  /// data_alignment (64 bytes). A buffer of 0 bytes is a buffer like any other, not an empty one.
  /// Requires that the allocator outlives the memory. Throws OutOfMemory if there is no memory,
  /// InvalidArgument if `nbytes` exceeds max_nbytes, and any exception of the allocator. Cost: one
  /// allocation.
  static basic_buffer allocate(std::size_t nbytes, Allocator& allocator = default_allocator());

  /// A buffer over foreign memory: memory that byre did not allocate. The deleter is called exactly
  /// once, with the address, by the thread that drops the last owner or ends the last pending copy.
  /// If adopt() throws, it calls the deleter first. Copies of the data are
  /// allocated by `allocator`, which must belong to the device of the memory. Throws OutOfMemory if
  /// there is no memory for the header, any exception of moving the deleter, and InvalidArgument if
  /// the deleter is null, if the size exceeds max_nbytes, or if the address is null and the size is
  /// not 0. Cost: one allocation, for the header.
  template <DeleterLike Deleter>
  static basic_buffer adopt(Foreign<Deleter> memory, Allocator& allocator = default_allocator());

  // The usual kinds of foreign memory. The errors and the cost of all of them are those of the
  // adopt() above. An overload for const memory creates a read-only buffer: a write copies it.

  /// Memory that only this buffer and its lazy clones write.
  template <DeleterLike Deleter>
  static basic_buffer adopt(void* data, std::size_t nbytes, Deleter deleter,
                            Allocator& allocator = default_allocator()) {
    return adopt(Foreign<Deleter&>{data, nbytes, deleter}, allocator);
  }
  /// Memory that no code writes. The buffer is read-only.
  template <DeleterLike Deleter>
  static basic_buffer adopt_read_only(const void* data, std::size_t nbytes, Deleter deleter,
                                      Allocator& allocator = default_allocator()) {
    return adopt(Foreign<Deleter&>{.data = const_cast<void*>(data),
                                   .nbytes = nbytes,
                                   .deleter = deleter,
                                   .may_write = false},
                 allocator);
  }
  /// Memory that other code may write until the deleter is called. A lazy clone copies the bytes
  /// immediately, so these writes do not change the clone.
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
  /// Memory that the caller releases. Requires that the memory outlives this buffer. A lazy clone
  /// copies the bytes immediately, so the memory need not outlive the clones.
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

  /// A buffer over a file, which is mapped and never changed. The buffer is read-only: a write
  /// copies the bytes, into memory of `allocator`, even if this is the last owner. If the file has
  /// at least least_paged_nbytes (256 KiB) and its name still refers to it, a write maps an overlay
  /// instead of copying. Requires that no process truncates or changes the file while a buffer maps
  /// it: to read a truncated page is fatal (SIGBUS), and a change shows in all buffers that map the
  /// file, except in pages of an overlay that have been written through that overlay
  /// (docs/parts.md). Throws FileError if the file is missing, unreadable, empty, not a regular
  /// file, or cannot be mapped, and OutOfMemory if there is no memory for the bookkeeping. Cost:
  /// opens and maps the file; reads nothing.
  BYRE_API static basic_buffer map_file(FileName name, Allocator& allocator = default_allocator());

  /// A lazy clone of `other`, by lazy_clone(). Never throws: if lazy_clone() throws, because
  /// borrowed or aliased memory cannot be copied, the program ends.
  basic_buffer(const basic_buffer& other, CallSite site = CallSite::current()) noexcept
      : basic_buffer(other.share(site)) {}

  /// A buffer that shares these bytes until either buffer is written. Borrowed and aliased memory
  /// is copied immediately instead. Throws only if it copies: the errors of allocate(), and any
  /// exception of the allocator's copy. Cost: one atomic add, or an allocation and a copy.
  /// Thread-safety: does not change this buffer, so any number of threads may clone it at once.
  basic_buffer lazy_clone(CallSite site = CallSite::current()) const {
    return basic_buffer(share(site));
  }

  /// A clone for code that writes through pointers without calling mutable_data(). Afterwards both
  /// buffers may be written through any pointers to their bytes, and a write to one buffer never
  /// changes the other. The call materializes this buffer: if lazy clones share the bytes, or if
  /// the bytes are read-only, the call copies them first, so they move. Otherwise the bytes retain
  /// their address, and earlier pointers to them remain usable.
  ///
  /// Data in pages is cloned lazily: both buffers get a private mapping of one file, the mapped
  /// file or the anonymous file behind memory of paged_allocator(). The pages that this buffer
  /// wrote since its last writable clone are moved into the file if it is anonymous and no other
  /// clone maps it. In all other cases they are copied into the mapping of the new clone. Other
  /// data is copied immediately, and so is data that the system cannot map a second time, or whose
  /// budget has no room for the mappings. Throws the errors of materialize() and allocate(). Cost:
  /// two mappings and a copy of the written pages, or a copy of all bytes.
  ///
  /// Thread-safety: with Writers::elsewhere other threads may write through pointers during the
  /// call, but only bytes that are never read in the clone. With Writers::elsewhere the written
  /// pages are always copied, and all bytes are copied if more than an eighth of the pages were
  /// written.
  BYRE_API basic_buffer writable_clone(Wait wait = Wait::allowed,
                                       CallSite site = CallSite::current(),
                                       Writers writers = Writers::none);

  /// Takes over the bytes of `other`, which is empty afterwards. Counts as a write to `other`.
  basic_buffer(basic_buffer&& other, CallSite site = CallSite::current()) noexcept {
    const auto access = other.monitor_.writes(site);
    exchange(other);
  }

  /// Replaces these bytes by a lazy clone of `other` if it is an lvalue, or else by its bytes. Then
  /// drops the former bytes. Never throws: a lazy clone is made by the copy constructor, which ends
  /// the program if it cannot copy borrowed or aliased memory.
  basic_buffer& operator=(basic_buffer other) noexcept {
    swap(other);
    return *this;
  }

  /// Drops the bytes. If this buffer is their last owner and no copy is pending, releases them,
  /// which calls the allocator or the deleter. Never waits.
  ~basic_buffer() {
    const auto access = monitor_.writes(CallSite::current());
    if (has_data()) {
      drop(header());
    }
  }

  /// Exchanges the bytes of the two buffers. Counts as a write to both buffers.
  void swap(basic_buffer& other, CallSite site = CallSite::current()) noexcept {
    if (&other == this) {
      return;
    }
    const auto access = monitor_.writes(site);
    const auto other_access = other.monitor_.writes(site);
    exchange(other);
  }
  friend void swap(basic_buffer& left, basic_buffer& right) noexcept { left.swap(right); }

  /// A pointer to read the bytes. Null if the buffer is empty. Never copies. Valid until the next
  /// call of a non-const member, assignment or destruction of this buffer. Do not rely on other
  /// buffers that share the bytes: other code may destroy them at any time. To use the bytes
  /// longer, make a lazy clone of your own and call its data().
  const std::byte* data(CallSite site = CallSite::current()) const noexcept {
    const auto access = monitor_.reads(site);
    return static_cast<const std::byte*>(data_.get());
  }

  /// Materializes the bytes and returns a pointer to write them. Null if the buffer is empty. Valid
  /// until this buffer is next cloned, resized, shrunk, assigned or destroyed: a write through the
  /// pointer after a lazy clone would change the clone. The errors and the cost are those of
  /// materialize(). If the data is in pages, the first write to a page allocates memory for the
  /// page; if there is no memory for it, the system ends the program. mutable_range() throws
  /// instead.
  std::byte* mutable_data(Wait wait = Wait::allowed, CallSite site = CallSite::current()) {
    materialize(wait, site);
    return static_cast<std::byte*>(data_.get());
  }

  /// Makes this buffer the only owner of its bytes, so that it may write them, and returns how; see
  /// the table at the top of this file. The last owner waits until the pending copies have ended.
  /// With Wait::never it copies the bytes instead of waiting, and it does the same in a child of
  /// fork(), where copies by threads of the parent never end. Does nothing if the buffer is empty.
  /// Throws the errors of allocate() if it copies, and any exception of the allocator's copy. Cost:
  /// one atomic load if the bytes are unique; otherwise the wait, an allocation and a copy, or a
  /// mapping.
  Materialized materialize(Wait wait = Wait::allowed, CallSite site = CallSite::current()) {
    const auto access = monitor_.writes(site);
    if (becomes_unique(site)) [[likely]] {
      return Materialized::already_unique;
    }
    return copy_or_steal(wait, site);
  }

  /// Materializes the bytes and returns the `nbytes` bytes from `offset` on, to write. The result
  /// is valid as long as a result of mutable_data(). If the data is in pages, the call allocates
  /// the memory for the pages of the range, so that a write to the range needs no more memory.
  /// Throws InvalidArgument if the range exceeds the buffer, OutOfMemory if there is no memory for
  /// the pages, and the errors of materialize(). Cost: that of materialize(), and one system call
  /// if the data is in pages.
  std::span<std::byte> mutable_range(std::size_t offset, std::size_t nbytes,
                                     Wait wait = Wait::allowed,
                                     CallSite site = CallSite::current()) {
    expect_range(offset, nbytes, site);
    mutable_data(wait, site);
    return populated(offset, nbytes);
  }

  /// Changes the size. Bytes up to the smaller of the two sizes are retained; bytes beyond the
  /// former size are indeterminate. The address does not change while the capacity suffices. An
  /// empty buffer is allocated, by default_allocator(). Requires that no other buffer shares the
  /// bytes and that no copy is pending, except in an in-order queue. Read-only data may be resized
  /// under this condition, too. Throws NotUnique if the requirement is violated, and the errors of
  /// allocate(). Cost: O(1) up to the capacity, beyond it an allocation and a copy. The capacity
  /// then grows by at least half, so repeated appending up to n bytes copies at most 3n bytes. If
  /// there is no memory for that, the capacity grows to `nbytes`.
  BYRE_API void resize(std::size_t nbytes, CallSite site = CallSite::current());

  /// Releases the capacity beyond the size, by a copy of the bytes into a smaller block. Does
  /// nothing if the buffer is empty, if the allocator has no smaller block, or if the memory is
  /// borrowed, aliased or a mapped file. Requires what resize() requires. Throws NotUnique if the
  /// requirement is violated, the errors of allocate(), and any exception of the allocator's copy.
  /// Cost: an allocation and a copy.
  BYRE_API void shrink_to_fit(CallSite site = CallSite::current());

  /// The size in bytes; 0 if the buffer is empty.
  std::size_t nbytes(CallSite site = CallSite::current()) const noexcept {
    const auto access = monitor_.reads(site);
    return header().nbytes();
  }

  /// The largest size, in bytes, to which resize() can change the buffer without moving the bytes.
  std::size_t capacity(CallSite site = CallSite::current()) const noexcept {
    const auto access = monitor_.reads(site);
    return header().capacity();
  }

  /// True iff no other buffer shares these bytes and no copy of them is pending. Also true if the
  /// buffer is empty. An acquire load: if the result is true, all accesses by former owners happen
  /// before the return of this call.
  bool is_unique(CallSite site = CallSite::current()) const noexcept {
    const auto access = monitor_.reads(site);
    return header().share().is_unique() || !has_data();
  }

  /// The number of buffers that share these bytes. For a mapped file, the overlays of the file
  /// count too. An AtomicBuffer that contains the bytes counts as up to 32,768. A relaxed load:
  /// approximate, for logs and diagnostics.
  std::uint32_t use_count(CallSite site = CallSite::current()) const noexcept {
    const auto access = monitor_.reads(site);
    return header().share().use_count();
  }

  /// True iff both buffers share their bytes, so that a write to either would copy. False if a
  /// buffer is empty.
  bool shares_data_with(const basic_buffer& other,
                        CallSite site = CallSite::current()) const noexcept {
    const auto access = monitor_.reads(site);
    const auto other_access = other.monitor_.reads(site);
    return header_.get() == other.header_.get() && has_data();
  }

  /// An identifier of the memory of these bytes, for logs and diagnostics. Equal for buffers that
  /// share their bytes. Also equal for buffers that map the same file (a file of map_file(), or the
  /// file behind memory of paged_allocator()), even if they have written some of its pages. Not an
  /// address to access. A write may change the identifier.
  BYRE_API const void* memory_id() const noexcept;

  /// Replaces small pages by huge pages in the file under an overlay, for the `nbytes` bytes from
  /// `offset` on, so that later writable clones cost less. The part of the range beyond the end is
  /// ignored. Does nothing if the data is not an overlay, or if the system does not support the
  /// operation (Linux does from 6.1 on). Cost: system calls, about 2 ms for each MiB of
  /// small pages. Thread-safety: other threads may read and write the bytes and call const
  /// members during the call. See docs/parts.md.
  BYRE_API void collapse(std::size_t offset, std::size_t nbytes) noexcept;

  /// How the bytes were obtained; Origin lists the ways. A copy of foreign memory is `allocated`,
  /// or `paged` if its allocator has pages. An empty buffer is `allocated`.
  Origin origin() const noexcept { return header().origin(); }

  /// True iff a write copies these bytes even if no other buffer shares them. False if the buffer
  /// is empty.
  bool is_read_only() const noexcept { return header().is_read_only(); }

  /// The allocator of copies of these bytes; default_allocator() if the buffer is empty.
  Allocator& allocator() const noexcept {
    return has_data() ? header().allocator() : default_allocator();
  }

  /// The bytes in a report to observers; for byre's libraries only.
  stats::detail::DataFacts facts() const noexcept {
    return has_data() ? header().facts() : stats::detail::DataFacts();
  }

 private:
  template <sync::Sync, std::size_t>
  friend class detail::basic_tile_tree;

  explicit basic_buffer(Header* header) noexcept { adopt_header(header); }

  /// As allocate(). If the data is at least a page, its header is a separate block: in front of the
  /// data, the header would cost one more page.
  BYRE_API static basic_buffer allocate_tile(std::size_t nbytes, Allocator& allocator);

  /// Makes this buffer a lazy clone of `tile`. Requires that this buffer is empty. The statistics
  /// do not count the clone, because the user cloned the whole TiledBuffer.
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

  // ---- for basic_storage: writes by the threads of a parallel loop, which take a lock, and clones
  // of pinned data (data to which code outside byre holds a pointer; see pin.hpp)

  friend class basic_storage<Sync>;

  /// As becomes_unique(), but other threads of the loop may read at the same time. Also true if the
  /// buffer is empty.
  bool is_writable_in_parallel(CallSite site) noexcept {
    const auto access = monitor_.writes_in_parallel(site);
    return !has_data() || becomes_unique(site);
  }

  /// As materialize(). The caller holds a lock of the buffer, and releases it before it destroys
  /// `report`.
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

  // ---- for basic_atomic_cell

  template <sync::Sync, class>
  friend class detail::basic_atomic_cell;

  /// Makes this buffer empty without dropping the data: the caller is an owner in its place.
  Header* give_up_header() noexcept {
    Header* const header = header_.get();
    adopt_header(&cow::no_data<Sync>());
    return header;
  }

  // ---- for Array

  template <class T>
  friend class Array;

  /// Changes the size if the data may be written in place and the capacity suffices. Else returns
  /// false.
  bool resize_in_place(std::size_t nbytes, CallSite site) noexcept {
    const auto access = monitor_.writes(site);
    if (nbytes > header().capacity() || !becomes_unique(site)) {
      return false;
    }
    header().set_nbytes(nbytes);
    return true;
  }

  /// As resize(), but copies data that is shared, being copied or read-only, instead of throwing
  /// NotUnique. Afterwards the data may be written in place. Copies only bytes that remain: once,
  /// or twice if the system refuses to map pages. Maps data in pages again instead of copying it,
  /// if its capacity suffices.
  BYRE_API void resize_unsharing(std::size_t nbytes, CallSite site);

  // ---- for the C interface, and for other processes

  friend struct detail::QuickClone;
  friend struct detail::ExportedHeader;

  // ---- sharing

  void adopt_header(Header* header) noexcept {
    header_.set(header);
    data_.set(header->data());
  }

  /// Drops one owner of `former`. True iff this released the data, because no owner and no copier
  /// was left.
  static bool drop(Header& former) noexcept {
    former.check_unchanged(CallSite{});
    if (!former.share().drop_owner()) {
      return false;
    }
    former.release();
    return true;
  }

  /// Replaces the data, then drops the former data, in this order, so that a deleter that accesses
  /// this buffer finds the new data. Returns the result of drop().
  bool replace_header(Header* header) noexcept {
    Header& former = this->header();
    adopt_header(header);
    return drop(former);
  }

  /// The header for a lazy clone of this buffer. `counted()` is how often the share word counts
  /// this buffer.
  template <class Counted = stats::detail::CountedOnce>
  Header* share(CallSite site, Counted counted = {}) const {
    const auto access = monitor_.is_cloned(site);
    Header* const header = header_.get();
    if (!header->is_shareable()) [[unlikely]] {
      return copy_at_once(stats::CopyCause::borrowed, site);
    }
    stats::detail::report_clone(
        *header, site, [header]() noexcept { header->share().add_owner(); }, counted);
    return header;
  }

  /// The header of a copy, made in place of a lazy clone.
  [[gnu::cold]] BYRE_API Header* copy_at_once(stats::CopyCause cause, CallSite site) const;

  /// True iff the data may be written in place now. If so, prepares the data for the write.
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
  Materialized copy_or_steal_once(Wait wait, CallSite site, stats::detail::WriteReport& report);
  Materialized copy_read_only(CallSite site, stats::detail::WriteReport& report);
  Materialized submit_copy_or_steal(Wait wait, CallSite site, stats::detail::WriteReport& report);
  Claim claim_to_submit(Wait wait);
  static void end_copy(void* source) noexcept;
  BYRE_API bool map_overlay(stats::CopyCause cause, CallSite site,
                            stats::detail::WriteReport& report);
  Header* create_writable_clone(CallSite site, Writers writers);
  void expect_unique(const char* operation, std::size_t nbytes);
  bool is_unique_in_order() noexcept;
  void look_for_other_processes() noexcept;
  void resize_unsharing_once(std::size_t nbytes, CallSite site);
  void set_size(std::size_t nbytes, CallSite site);
  void move_to_new_block(std::size_t nbytes, std::size_t former, stats::CopyCause cause,
                         CallSite site);
  Header* copy_with_room(std::size_t nbytes, std::size_t former) const;

  // Plain lets the model checker find races on these pointers. In a parallel loop one thread
  // changes them, and the other threads read them afterwards.
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

using Buffer = basic_buffer<sync::Default>;

}  // namespace byre::inline BYRE_ABI

#include <byre/storage/detail/buffer_writes.hpp>

namespace byre::inline BYRE_ABI {

// Compiled into the library: buffer.cpp.
extern template cow::basic_header<sync::Default>* cow::create_paged<sync::Default>(std::size_t,
                                                                                   Allocator&);
extern template Buffer basic_buffer<sync::Default>::allocate_tile(std::size_t, Allocator&);
extern template Buffer basic_buffer<sync::Default>::map_file(FileName, Allocator&);
extern template Buffer basic_buffer<sync::Default>::writable_clone(Wait, CallSite, Writers);
extern template void basic_buffer<sync::Default>::resize(std::size_t, CallSite);
extern template void basic_buffer<sync::Default>::resize_unsharing(std::size_t, CallSite);
extern template void basic_buffer<sync::Default>::shrink_to_fit(CallSite);
extern template const void* basic_buffer<sync::Default>::memory_id() const noexcept;
extern template void basic_buffer<sync::Default>::collapse(std::size_t, std::size_t) noexcept;
extern template Materialized basic_buffer<sync::Default>::materialize_and_report_in(
    stats::detail::WriteReport&, Wait, CallSite);
extern template void basic_buffer<sync::Default>::expect_range(std::size_t, std::size_t,
                                                               CallSite) const;
extern template std::span<std::byte> basic_buffer<sync::Default>::populated(std::size_t,
                                                                            std::size_t);
extern template Materialized basic_buffer<sync::Default>::copy_or_steal_unordinary(
    Wait, CallSite, stats::detail::WriteReport&);
extern template bool basic_buffer<sync::Default>::map_overlay(stats::CopyCause, CallSite,
                                                              stats::detail::WriteReport&);
extern template auto basic_buffer<sync::Default>::copy_at_once(stats::CopyCause, CallSite) const
    -> Header*;

}  // namespace byre::inline BYRE_ABI
