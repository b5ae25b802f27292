// SPDX-License-Identifier: BSL-1.0
/// Buffer: bytes with value semantics, of which a copy is a lazy clone. It costs one atomic add,
/// and the bytes are copied when somebody writes, unless the writer is the last owner and keeps
/// them.
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

/// Other writers to a buffer while it is cloned.
enum class Writers : std::uint8_t {
  none,
  elsewhere,  ///< other threads, through pointers: bytes without a reader in the clone
};

/// What a write access had to do to be alone with the data.
enum class Materialized : std::uint8_t {
  already_unique,  ///< nothing: nobody else owns it or copies it
  stole,   ///< the last owner keeps it: the others left, or, in order, have submitted their copies
  copied,  ///< other owners keep it, or it is read-only: the writer has a copy
  overlaid,  ///< the same of data in pages: the writer has an overlay, which copies each as it is written
};

/// Thread-safety: as for a standard container, one buffer may be read and lazily cloned by many
/// threads at once, and a write (any non-const member, assignment and destruction included)
/// excludes everything else on the same buffer. Buffers that share data are different buffers: what
/// one thread does to one of them concerns nobody who uses another. A checked build (Meson option
/// `checks`) reports a broken rule, naming both call sites, and a write through a pointer from before a
/// lazy clone.
///
/// Exceptions: whatever throws leaves the buffer, and all that share its data, as they were.
/// Progress: reading is wait-free, cloning lock-free; releasing never waits for other owners; a
/// write by the last owner waits for copies under way, unless told never to.
///
/// The class is one file, as its members are read together; what is rarely read is in detail/.
/// Source: the seed "Copy-on-write storage".
template <sync::Sync Sync>
class basic_buffer {
  using Header = cow::basic_header<Sync>;

 public:
  /// No bytes and no memory: data() is null.
  basic_buffer() noexcept = default;

  /// `nbytes` of memory from `allocator`, contents indeterminate, aligned to data_alignment. 0
  /// bytes are a buffer like any other. Throws OutOfMemory, InvalidArgument, or what the allocator
  /// throws.
  static basic_buffer allocate(std::size_t nbytes, Allocator& allocator = default_allocator());

  /// Foreign memory. Its deleter is called once with the address, on the thread that releases the memory last, whatever
  /// happens: if this throws, it has been called. Copies take their memory from `allocator`, which has to be of the
  /// same device. Throws OutOfMemory; InvalidArgument for a null pointer to some bytes, and for a null deleter.
  template <DeleterLike Deleter>
  static basic_buffer adopt(Foreign<Deleter> memory, Allocator& allocator = default_allocator());

  // The usual cases, by name. Memory that is given as const is not written: a write copies it.

  /// Memory that only this buffer and its clones write.
  template <DeleterLike Deleter>
  static basic_buffer adopt(void* data, std::size_t nbytes, Deleter deleter,
                            Allocator& allocator = default_allocator()) {
    return adopt(Foreign<Deleter&>{data, nbytes, deleter}, allocator);
  }
  /// Memory that no code writes.
  template <DeleterLike Deleter>
  static basic_buffer adopt_read_only(const void* data, std::size_t nbytes, Deleter deleter,
                                      Allocator& allocator = default_allocator()) {
    return adopt(Foreign<Deleter&>{.data = const_cast<void*>(data),
                                   .nbytes = nbytes,
                                   .deleter = deleter,
                                   .may_write = false},
                 allocator);
  }
  /// Memory that others may write until it is released: a lazy clone copies at once, so such writes do not reach it.
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
  /// Memory that stays its lender's and has to outlive this buffer, though not its clones, which copy at once.
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

  /// The bytes of a file, mapped and not read: a write copies them, even by the last owner, and the
  /// file never changes. Of a file of at least least_paged_nbytes, which has the same name still, it maps an
  /// overlay instead, as of paged memory. Throws FileError if it is missing, unreadable, empty or not a regular
  /// file, OutOfMemory. Whoever truncates the file meanwhile makes reading the lost pages fatal
  /// (SIGBUS), and a process that changes it changes what clones read, in a
  /// written one the pages that it has not written (docs/parts.md).
  BYRE_API static basic_buffer map_file(FileName name, Allocator& allocator = default_allocator());

  /// A lazy clone, as lazy_clone(), for contexts that cannot fail: only the clone of borrowed
  /// memory can, and ends the program if there is no memory for it.
  basic_buffer(const basic_buffer& other, CallSite site = CallSite::current()) noexcept
      : basic_buffer(other.share(site)) {}

  /// A buffer that shares these bytes until one of the two is written. One atomic add; borrowed
  /// memory is copied instead, which may throw as allocate. Does not change this buffer: any number
  /// of threads may clone it at once.
  basic_buffer lazy_clone(CallSite site = CallSite::current()) const {
    return basic_buffer(share(site));
  }

  /// A clone for code that writes by pointers and never asks byre. From then on each side writes pages of its own, which
  /// the other side does not see. Pointers to the bytes of this buffer stay valid. Data in pages, of paged_allocator()
  /// or of a mapped file, is cloned lazily: each side gets a private mapping, and the clone copies of the pages that this
  /// buffer wrote since its last writable clone. Other data, and data for which the system has no mapping, is copied
  /// now. A write to this buffer: materializes first, which moves the bytes if lazy clones share them or if they are
  /// read-only. Throws as mutable_data(), and as allocate().
  ///
  /// With Writers::elsewhere other threads may write meanwhile, through pointers, bytes without a reader in the clone. The
  /// clone copies pages that were written then, and moves none; above an eighth of them it copies all bytes.
  BYRE_API basic_buffer writable_clone(Wait wait = Wait::allowed,
                                       CallSite site = CallSite::current(),
                                       Writers writers = Writers::none);

  /// Leaves `other` without bytes.
  basic_buffer(basic_buffer&& other, CallSite site = CallSite::current()) noexcept {
    const auto access = other.monitor_.writes(site);
    exchange(other);
  }

  /// Drops these bytes for a lazy clone of `other`, or for the bytes of a temporary.
  basic_buffer& operator=(basic_buffer other) noexcept {
    swap(other);
    return *this;
  }

  ~basic_buffer() {
    const auto access = monitor_.writes(CallSite::current());
    if (has_data()) {
      drop(header());
    }
  }

  void swap(basic_buffer& other, CallSite site = CallSite::current()) noexcept {
    if (&other == this) {
      return;
    }
    const auto access = monitor_.writes(site);
    const auto other_access = other.monitor_.writes(site);
    exchange(other);
  }
  friend void swap(basic_buffer& left, basic_buffer& right) noexcept { left.swap(right); }

  /// The bytes, to read. Never copies. Valid until this buffer is next written or destroyed, for
  /// bytes another buffer shares too: keep a clone to keep the bytes.
  const std::byte* data(CallSite site = CallSite::current()) const noexcept {
    const auto access = monitor_.reads(site);
    return static_cast<const std::byte*>(data_.get());
  }

  /// The bytes, to write, shared with nobody until this buffer is cloned again: as materialize(). In pages a write
  /// through the pointer may be the first to its page: where there is no memory for that, the system ends the
  /// program, and mutable_range() throws.
  std::byte* mutable_data(Wait wait = Wait::allowed, CallSite site = CallSite::current()) {
    materialize(wait, site);
    return static_cast<std::byte*>(data_.get());
  }

  /// Makes the bytes this buffer's own, by a copy if somebody else owns them too or they are
  /// read-only. The last owner takes them as they are, once the copies that others are making of
  /// them are complete; with Wait::never it makes a copy of its own instead. One load where nothing
  /// is to be done. Throws what allocating and copying throw, having changed nothing.
  Materialized materialize(Wait wait = Wait::allowed, CallSite site = CallSite::current()) {
    const auto access = monitor_.writes(site);
    if (becomes_unique(site)) [[likely]] {
      return Materialized::already_unique;
    }
    return copy_or_steal(wait, site);
  }

  /// Write access to `nbytes` bytes from `offset` on, and to no more: as materialize(). Of data in pages those
  /// of the range are made writable, so that a write there needs no memory; each call asks the system. Throws
  /// OutOfMemory if there is none for them, and InvalidArgument for a range that is not the buffer's, having
  /// changed nothing; and as materialize().
  std::span<std::byte> mutable_range(std::size_t offset, std::size_t nbytes,
                                     Wait wait = Wait::allowed,
                                     CallSite site = CallSite::current()) {
    expect_range(offset, nbytes, site);
    mutable_data(wait, site);
    return populated(offset, nbytes);
  }

  /// Changes the size of a buffer whose bytes no other shares; keeps the bytes up to the smaller size, those
  /// beyond are indeterminate. Bytes stay where they are while the capacity suffices; beyond it the capacity grows by
  /// half at least, so that appending copies each byte three times at most, or to `nbytes` if there is no memory for
  /// more. Throws NotUnique if they are shared, OutOfMemory, InvalidArgument.
  BYRE_API void resize(std::size_t nbytes, CallSite site = CallSite::current());

  /// Gives back the capacity beyond the size, by a copy of the bytes into memory of the allocator. Does nothing if that
  /// has no smaller block, and for memory that byre cannot give back: borrowed, aliased or of a file. Throws
  /// NotUnique if the bytes are shared, OutOfMemory, having changed nothing.
  BYRE_API void shrink_to_fit(CallSite site = CallSite::current());

  std::size_t nbytes(CallSite site = CallSite::current()) const noexcept {
    const auto access = monitor_.reads(site);
    return header().nbytes();
  }

  /// Bytes this buffer may be resized to without moving.
  std::size_t capacity(CallSite site = CallSite::current()) const noexcept {
    const auto access = monitor_.reads(site);
    return header().capacity();
  }

  /// True iff no other buffer shares these bytes and no copy of them is under way. Acquire: a true
  /// answer can be acted on. A buffer without bytes is unique.
  bool is_unique(CallSite site = CallSite::current()) const noexcept {
    const auto access = monitor_.reads(site);
    return header().share().is_unique() || !has_data();
  }

  /// How many buffers share these bytes; of a mapped file, overlays of it too. Relaxed: approximate, for people.
  std::uint32_t use_count(CallSite site = CallSite::current()) const noexcept {
    const auto access = monitor_.reads(site);
    return header().share().use_count();
  }

  /// True iff the two are lazy clones that neither wrote: a write to one of them would copy.
  bool shares_data_with(const basic_buffer& other,
                        CallSite site = CallSite::current()) const noexcept {
    const auto access = monitor_.reads(site);
    const auto other_access = other.monitor_.reads(site);
    return header_.get() == other.header_.get() && has_data();
  }

  /// Names the memory of these bytes: equal for lazy clones that neither wrote, and for buffers that show pages of one
  /// file, which may have written some of them. For people: it is no address to use, and other members change it.
  BYRE_API const void* memory_id() const noexcept;

  /// Gathers the pages of an overlay's file in huge pages, from byte `offset` on, where the system has any (Linux 6.1):
  /// a later writable clone is cheaper then. Takes some 2 ms for 1 MiB, once. Other data stays as it is, as does a part
  /// beyond the end. Other threads may read and write the bytes meanwhile, and call const members. Source:
  /// docs/parts.md.
  BYRE_API void collapse(std::size_t offset, std::size_t nbytes) noexcept;

  /// Where the bytes came from; a written clone of foreign memory is allocated.
  Origin origin() const noexcept { return header().origin(); }

  /// True iff a write copies these bytes even when nobody shares them.
  bool is_read_only() const noexcept { return header().is_read_only(); }

  /// Where copies of these bytes take their memory.
  Allocator& allocator() const noexcept {
    return has_data() ? header().allocator() : default_allocator();
  }

 private:
  template <sync::Sync, std::size_t>
  friend class detail::basic_tile_tree;

  explicit basic_buffer(Header* header) noexcept { adopt_header(header); }

  /// As allocate(). Whole pages have no header in front of them, which would cost a page more.
  BYRE_API static basic_buffer allocate_tile(std::size_t nbytes, Allocator& allocator);

  /// By a buffer without bytes: becomes a lazy clone of `tile`, which nobody asked for, so it is not counted.
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

  // ---- for basic_storage: the steps of threads that write in parallel, one at a time, and clones of pinned data

  friend class basic_storage<Sync>;

  /// As becomes_unique(). Reads may be under way.
  bool is_writable_in_parallel(CallSite site) noexcept {
    const auto access = monitor_.writes_in_parallel(site);
    return !has_data() || becomes_unique(site);
  }

  /// As materialize(), under a lock that `report` outlives.
  BYRE_API Materialized materialize_and_report_in(stats::detail::WriteReport& report, Wait wait,
                                                  CallSite site);
  BYRE_API void expect_range(std::size_t offset, std::size_t nbytes, CallSite site) const;
  /// The range, of data that has been materialized.
  BYRE_API std::span<std::byte> populated(std::size_t offset, std::size_t nbytes);

  /// A lazy clone of data that somebody may write by a pointer.
  basic_buffer copy_of_pinned(CallSite site) const {
    const auto access = monitor_.is_cloned(site);
    return basic_buffer(copy_at_once(stats::CopyCause::pinned, site));
  }

  // ---- for basic_pin

  friend class basic_pin<Sync>;

  /// Another owner of data that nobody writes here, whoever else does.
  basic_buffer keep(CallSite site) const noexcept {
    const auto access = monitor_.is_cloned(site);
    header().share().add_owner();
    return basic_buffer(header_.get());
  }

  // ---- how it shares its data

  void adopt_header(Header* header) noexcept {
    header_.set(header);
    data_.set(header->data());
  }

  /// True iff the data was released, because no owner was left.
  static bool drop(Header& left) noexcept {
    left.compares(CallSite{});
    if (!left.share().drop_owner()) {
      return false;
    }
    left.release();
    return true;
  }

  /// A deleter that runs meanwhile finds the new data here.
  bool leave_for(Header* header) noexcept {
    Header& left = this->header();
    adopt_header(header);
    return drop(left);
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

  /// A copy instead of a lazy clone.
  [[gnu::cold]] BYRE_API Header* copy_at_once(stats::CopyCause cause, CallSite site) const;

  /// Does what materialize() does if the data may be written as it is, and else returns false.
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
  void expect_alone(const char* operation, std::size_t nbytes);
  bool is_alone_in_order() noexcept;
  Header* larger_copy(std::size_t nbytes) const;

  // A checker's to watch: threads that write in parallel read them, and one changes them before.
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
