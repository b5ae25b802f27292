// SPDX-License-Identifier: BSL-1.0
/// Storage: a handle to an identity, an object that holds one Buffer. Copies of a handle alias:
/// each sees the writes of the others. lazy_clone() creates a new identity, which shares the data
/// until either identity is written. Tensors alias if and only if they share a Storage.
#pragma once

#include <byre/observe/detail/observer.hpp>
#include <byre/storage/buffer.hpp>
#include <byre/storage/detail/attachment.hpp>
#include <byre/storage/detail/pin_count.hpp>
#include <byre/sync/detail/lock_table.hpp>
#include <byre/sync/detail/ref_count.hpp>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <utility>

namespace byre::inline v0 {

/// Unless a member says otherwise:
///
/// - Thread-safety: handles may be copied and released on any thread. One handle object follows the
///   rules of std::shared_ptr. The storage behind it follows the rules of a Buffer: const
///   operations may run concurrently, through any of its handles; a write excludes every other
///   operation on that storage. Storages that share data are different storages. The threads of a
///   parallel loop may request write access to one storage concurrently, with the *_in_parallel()
///   members.
/// - Exceptions and progress: as for a Buffer. A member that throws changes nothing.
/// - Cost: as for the Buffer member of the same name, plus one pointer indirection.
///
/// A default-constructed handle is empty: there is no storage behind it, data() is null and
/// nbytes() is 0. Only an assignment changes this.
template <sync::Sync Sync>
class basic_storage {
 public:
  using Buffer = basic_buffer<Sync>;
  using Pin = basic_pin<Sync>;

  basic_storage() noexcept = default;

  /// Another handle to this storage: the two alias. Copies no bytes. Cost: one atomic add.
  basic_storage(const basic_storage&) noexcept = default;
  basic_storage(basic_storage&&) noexcept = default;
  basic_storage& operator=(const basic_storage&) noexcept = default;
  basic_storage& operator=(basic_storage&&) noexcept = default;
  ~basic_storage() = default;

  /// A new identity for the bytes of `buffer`. Throws OutOfMemory; `buffer` keeps its bytes then.
  /// Cost: one allocation. Copies no bytes if `buffer` is moved; otherwise as Buffer::lazy_clone().
  explicit basic_storage(Buffer&& buffer) : identity_(make_identity(std::move(buffer)), false) {}
  explicit basic_storage(const Buffer& buffer) : basic_storage(Buffer(buffer)) {}

  /// A new storage; as the Buffer functions of these names. Also throw OutOfMemory for the
  /// identity. Use Storage(Buffer::adopt(...)) for foreign memory.
  static basic_storage allocate(std::size_t nbytes, Allocator& allocator = default_allocator()) {
    return basic_storage(Buffer::allocate(nbytes, allocator));
  }
  static basic_storage map_file(FileName name, Allocator& allocator = default_allocator()) {
    return basic_storage(Buffer::map_file(name, allocator));
  }

  /// A new storage that shares the data until either storage is written. Does not change this one:
  /// any number of threads may clone it concurrently. Borrowed, aliased and pinned memory may have
  /// other writers, so it is copied now. An empty handle returns an empty handle.
  /// Throws OutOfMemory for the new identity, and as Buffer::allocate() for such a copy. Cost: one
  /// atomic add and one allocation.
  [[nodiscard]] basic_storage lazy_clone(CallSite site = CallSite::current()) const {
    if (identity_ == nullptr) {
      return basic_storage();
    }
    return basic_storage(identity_->pins.any() ? identity_->buffer.copy_of_pinned(site)
                                               : identity_->buffer.lazy_clone(site));
  }

  /// A new storage for code that writes through pointers without calling byre: see
  /// Buffer::writable_clone(). A pinned storage in pages is cloned lazily, too. Counts as a write
  /// to this storage.
  [[nodiscard]] basic_storage writable_clone(Wait wait = Wait::allowed,
                                             CallSite site = CallSite::current()) {
    return identity_ == nullptr ? basic_storage()
                                : basic_storage(identity_->buffer.writable_clone(wait, site));
  }

  /// The bytes, for reading; null for an empty handle. Copies nothing. Valid until this storage is
  /// next written or destroyed.
  const std::byte* data(CallSite site = CallSite::current()) const noexcept {
    return identity_ == nullptr ? nullptr : identity_->buffer.data(site);
  }

  /// The bytes, for writing: calls materialize(). See Buffer::mutable_data(). Null for an empty
  /// handle.
  std::byte* mutable_data(Wait wait = Wait::allowed, CallSite site = CallSite::current()) {
    return identity_ == nullptr ? nullptr : identity_->buffer.mutable_data(wait, site);
  }

  /// Write access to `nbytes` bytes from `offset` on. See Buffer::mutable_range(). An empty handle
  /// has no bytes: any other range than (0, 0) throws InvalidArgument.
  std::span<std::byte> mutable_range(std::size_t offset, std::size_t nbytes,
                                     Wait wait = Wait::allowed,
                                     CallSite site = CallSite::current()) {
    return identity_ == nullptr ? Buffer().mutable_range(offset, nbytes, wait, site)
                                : identity_->buffer.mutable_range(offset, nbytes, wait, site);
  }

  /// Gives this storage data that it does not share. See Buffer::materialize(). Does nothing for an
  /// empty handle.
  Materialized materialize(Wait wait = Wait::allowed, CallSite site = CallSite::current()) {
    return identity_ == nullptr ? Materialized::already_unique
                                : identity_->buffer.materialize(wait, site);
  }

  // ---- for code that holds a pointer to the bytes, another language for example. See pin.hpp.

  /// Write access until the pin is released: materializes the data now. Until then the holder of
  /// the pin's pointer may write, lazy clones copy at once, and the bytes do not move: resize() and
  /// shrink_to_fit() throw. This call is a write, as mutable_data(). So is each write through the
  /// pointer: it excludes every other operation on this storage. Throws as mutable_data().
  [[nodiscard]] Pin pin(Wait wait = Wait::allowed, CallSite site = CallSite::current());

  /// Read access until the pin is released, to bytes that do not move. A const operation. Throws as
  /// lazy_clone().
  ///
  /// - Usually the pin shares the data as a lazy clone does: no later write shows in it.
  /// - If the bytes may have other writers already (they are pinned, borrowed or aliased), the pin
  ///   is one more alias of them: it sees those writes, and keeps a pinned storage pinned.
  /// - Only memory that was borrowed read-only is copied.
  [[nodiscard]] Pin pin_to_read(CallSite site = CallSite::current()) const;

  /// True iff a pin to write exists, or a pin to read that was created while another pin existed.
  /// The holder of a pin may write through a pointer, so lazy clones copy. Acquire: after a false
  /// answer, all writes through released pins are visible.
  bool is_pinned() const noexcept { return identity_ != nullptr && identity_->pins.any(); }

  // ---- for the threads of a parallel loop, which then write one part each
  //
  // Any number of threads may call these members on one storage concurrently, through one handle or
  // several. The first caller copies or steals the data; the others wait for it, and their calls
  // happen after it. If it throws, the next caller tries. A thread that has called one of these
  // members may read until the loop ends. Every other operation excludes the loop as it excludes a
  // write: reads by other threads, lazy clones, writes through other members.
  //
  // Call them before the loop if possible, otherwise once per part, not once per byte: concurrent
  // calls run one after another. An allocator must not call them on the storage that it allocates
  // for, nor a handler of violations on any storage. Wait::never applies to copies by other
  // storages: the thread of the loop that copies is waited for regardless.

  /// As mutable_data().
  std::byte* mutable_data_in_parallel(Wait wait = Wait::allowed,
                                      CallSite site = CallSite::current()) {
    materialize_in_parallel(wait, site);
    return const_cast<std::byte*>(data(site));
  }

  /// As mutable_range(). Requires that no other thread writes the range.
  std::span<std::byte> mutable_range_in_parallel(std::size_t offset, std::size_t nbytes,
                                                 Wait wait = Wait::allowed,
                                                 CallSite site = CallSite::current()) {
    if (identity_ == nullptr) {
      return mutable_range(offset, nbytes, wait, site);
    }
    materialize_in_turn(wait, site, [&] { identity_->buffer.expect_range(offset, nbytes, site); });
    return identity_->buffer.populated(offset, nbytes);
  }

  /// As materialize(). Returns what this call did: already_unique for all callers but one.
  Materialized materialize_in_parallel(Wait wait = Wait::allowed,
                                       CallSite site = CallSite::current()) {
    return identity_ == nullptr ? Materialized::already_unique
                                : materialize_in_turn(wait, site, [] {});
  }

  /// Changes the size, for all handles. See Buffer::resize(). Requires data that no other storage
  /// shares, and no pin. Only the sole handle may shrink the storage: other handles may belong to
  /// views that need the bytes. Throws NotUnique if one of these is violated, OutOfMemory, and
  /// InvalidArgument for an empty handle.
  void resize(std::size_t nbytes, CallSite site = CallSite::current()) {
    if (identity_ == nullptr) {
      throw InvalidArgument(format_text(
          "cannot resize an empty storage handle to %zu bytes. Assign Storage::allocate(%zu).",
          nbytes, nbytes));
    }
    expect_unpinned("resize", nbytes, site);
    if (const std::uint32_t handles = handle_count();
        handles > 1 && nbytes < identity_->buffer.nbytes(site)) {
      throw NotUnique(format_text(
          "cannot shrink a storage to %zu bytes: it has %zu bytes and %u handles (tensors "
          "included), required 1. Drop the other handles first.",
          nbytes, identity_->buffer.nbytes(site), static_cast<unsigned>(handles)));
    }
    identity_->buffer.resize(nbytes, site);
  }

  /// Releases the capacity beyond the size; all handles see the bytes at their new address. See
  /// Buffer::shrink_to_fit(). Does nothing for an empty handle. Throws NotUnique also while the
  /// storage is pinned.
  void shrink_to_fit(CallSite site = CallSite::current()) {
    if (identity_ != nullptr) {
      expect_unpinned("shrink_to_fit", nbytes(site), site);
      identity_->buffer.shrink_to_fit(site);
    }
  }

  std::size_t nbytes(CallSite site = CallSite::current()) const noexcept {
    return identity_ == nullptr ? 0 : identity_->buffer.nbytes(site);
  }

  /// True iff no other storage shares the data; other handles to this one may exist. Acquire.
  bool is_unique(CallSite site = CallSite::current()) const noexcept {
    return identity_ == nullptr || identity_->buffer.is_unique(site);
  }

  /// How many storages share the data. Relaxed: approximate, for diagnostics only.
  std::uint32_t use_count(CallSite site = CallSite::current()) const noexcept {
    return identity_ == nullptr ? 0 : identity_->buffer.use_count(site);
  }

  /// How many handles this storage has. Acquire: if it returns 1, the caller may rely on that.
  std::uint32_t handle_count() const noexcept {
    return identity_ == nullptr ? 0 : identity_->handles.count();
  }

  /// True iff both are one storage, or lazy clones that were not written since.
  bool shares_data_with(const basic_storage& other,
                        CallSite site = CallSite::current()) const noexcept {
    return identity_ != nullptr && other.identity_ != nullptr &&
           identity_->buffer.shares_data_with(other.identity_->buffer, site);
  }

  Origin origin() const noexcept {
    return identity_ == nullptr ? Origin::allocated : identity_->buffer.origin();
  }
  bool is_read_only() const noexcept {
    return identity_ != nullptr && identity_->buffer.is_read_only();
  }
  Allocator& allocator() const noexcept {
    return identity_ == nullptr ? default_allocator() : identity_->buffer.allocator();
  }

  /// The storage's slot, for the library built on this one only. Null for an empty handle. The slot
  /// lives as long as the storage. See attachment.hpp.
  detail::basic_attachment_slot<Sync>* slot() const noexcept {
    return identity_ == nullptr ? nullptr : &identity_->slot;
  }

  /// True iff this handle is not empty.
  explicit operator bool() const noexcept { return identity_ != nullptr; }

  /// True iff both handles refer to one storage: they alias.
  friend bool operator==(const basic_storage&, const basic_storage&) noexcept = default;

 private:
  friend Pin;

  struct Identity {
    explicit Identity(Buffer&& bytes) noexcept : buffer(std::move(bytes)) {}
    Buffer buffer;
    basic_ref_count<Sync> handles;
    detail::basic_pin_count<Sync> pins;  // next to `handles`: needs no padding there
    detail::basic_attachment_slot<Sync> slot;

    friend void intrusive_ptr_add_ref(Identity* identity) noexcept { identity->handles.add(); }
    friend void intrusive_ptr_release(Identity* identity) noexcept {
      if (identity->handles.drop()) {
        delete identity;
      }
    }
  };

  void expect_unpinned(const char* operation, std::size_t nbytes, CallSite site) const {
    if (identity_->pins.any()) {
      throw NotUnique(format_text(
          "cannot %s to %zu bytes: the storage has %zu bytes and is pinned, so its bytes must "
          "not move. Release all pins first: exported arrays hold them.",
          operation, nbytes, identity_->buffer.nbytes(site)));
    }
  }

  /// Materializes under a lock, one thread at a time, unless `expect()` throws.
  template <class Expect>
  Materialized materialize_in_turn(Wait wait, CallSite site, const Expect& expect) {
    stats::detail::WriteReport report;
    report.begin();
    Buffer& buffer = identity_->buffer;
    const sync::detail::AddressLock<Sync> lock(identity_.get(), [&] {
      expect();
      return buffer.is_writable_in_parallel(site);
    });
    if (lock.is_held()) {
      return buffer.materialize_and_report_in(report, wait, site);
    }
    report.waited_in_parallel(std::as_const(buffer).data(site), site);
    return Materialized::already_unique;
  }

  /// The count of handles starts at 1, for the caller.
  static Identity* make_identity(Buffer&& buffer) {
    // The buffer is moved only after the allocation has succeeded.
    auto* identity = new (std::nothrow) Identity(std::move(buffer));
    if (identity == nullptr) {
      throw OutOfMemory(sizeof(Identity), "heap, for a storage");
    }
    return identity;
  }

  boost::intrusive_ptr<Identity> identity_;
};

using Storage = basic_storage<sync::Boost>;

}  // namespace byre::inline v0

#include <byre/storage/pin.hpp>
