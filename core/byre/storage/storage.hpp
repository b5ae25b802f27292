// SPDX-License-Identifier: BSL-1.0
/// Storage: a handle to an identity, an object that holds one Buffer. Copies of a handle alias: a
/// write through one handle shows in all of them. lazy_clone() creates a new identity, which shares
/// the data until either identity is written. Tensors alias if and only if they share a Storage.
#pragma once

#include <byre/memory/budget_exceeded.hpp>
#include <byre/observe/detail/observer.hpp>
#include <byre/storage/buffer.hpp>
#include <byre/storage/detail/attachment.hpp>
#include <byre/storage/detail/pin_count.hpp>
#include <byre/storage/detail/version.hpp>
#include <byre/sync/counted_ptr.hpp>
#include <byre/sync/detail/lock_table.hpp>
#include <byre/sync/detail/ref_count.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <utility>

namespace byre::inline BYRE_ABI {

namespace detail {
template <class Value>
struct AtomicValue;
struct QuickWrite;
struct ExportedHeader;
}  // namespace detail

/// Unless a member says otherwise:
///
/// - Thread-safety: handles may be copied and released on any thread. One handle object follows the
///   rules of std::shared_ptr. The storage behind it follows the rules of a Buffer: const members
///   may be called concurrently, through any handles; the caller must not run a write concurrently
///   with any other access to that storage. Storages that share data are different storages. The
///   threads of a parallel loop may request write access to one storage concurrently, with the
///   *_in_parallel() members.
/// - Errors and progress: those of the Buffer member of the same name. A member that throws changes
///   neither the contents nor the size of any storage.
/// - Cost: that of the Buffer member of the same name, plus one pointer indirection.
///
/// `wait` and `site` are those of Buffer. A default-constructed handle is empty: there is no
/// storage behind it, data() is null and nbytes() is 0. Only an assignment can change this.
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

  /// A new identity for the bytes of `buffer`, or for a lazy clone of `buffer` if it is an lvalue.
  /// Throws OutOfMemory if there is no memory for the identity; `buffer` retains its bytes then.
  /// Cost: one allocation, and that of the lazy clone.
  explicit basic_storage(Buffer&& buffer) : identity_(make_identity(std::move(buffer)), false) {}
  explicit basic_storage(const Buffer& buffer) : basic_storage(Buffer(buffer)) {}

  /// A new storage over a buffer that the Buffer function of the same name creates. These functions
  /// throw OutOfMemory also if there is no memory for the identity. For foreign memory use
  /// Storage(Buffer::adopt(...)).
  static basic_storage allocate(std::size_t nbytes, Allocator& allocator = default_allocator()) {
    return basic_storage(Buffer::allocate(nbytes, allocator));
  }
  static basic_storage map_file(FileName name, Allocator& allocator = default_allocator()) {
    return basic_storage(Buffer::map_file(name, allocator));
  }

  /// A new storage that shares the data until either storage is written. Borrowed, aliased and
  /// pinned memory may have other writers, so it is copied immediately instead. Returns an empty
  /// handle if this handle is empty. Throws OutOfMemory if there is no memory for the new identity,
  /// and the errors of Buffer::allocate() if it copies. Cost: one atomic add and one allocation.
  /// Thread-safety: does not change this storage, so any number of threads may clone it at once.
  [[nodiscard]] basic_storage lazy_clone(CallSite site = CallSite::current()) const {
    if (identity_ == nullptr) {
      return basic_storage();
    }
    return basic_storage(clone_buffer(site));
  }

  /// A new storage for code that writes through pointers without calling byre: see
  /// Buffer::writable_clone(). A pinned storage whose data is in pages is also cloned lazily. A
  /// write to this storage. Returns an empty handle if this handle is empty. Throws OutOfMemory
  /// also if there is no memory for the new identity.
  [[nodiscard]] basic_storage writable_clone(Wait wait = Wait::allowed,
                                             CallSite site = CallSite::current()) {
    if (identity_ == nullptr) {
      return basic_storage();
    }
    identity_->end_watch();
    return basic_storage(identity_->buffer.writable_clone(wait, site));
  }

  /// A pointer to read the bytes. Null if the handle is empty. Copies nothing. Valid until this
  /// storage is next written or destroyed.
  const std::byte* data(CallSite site = CallSite::current()) const noexcept {
    return identity_ == nullptr ? nullptr : identity_->buffer.data(site);
  }

  /// Materializes the bytes and returns a pointer to write them: see Buffer::mutable_data(). Null
  /// if the handle is empty.
  std::byte* mutable_data(Wait wait = Wait::allowed, CallSite site = CallSite::current()) {
    return identity_ == nullptr ? nullptr : identity_->mutable_data(wait, site);
  }

  /// Write access to `nbytes` bytes from `offset` on: see Buffer::mutable_range(). If the handle is
  /// empty, every range but (0, 0) is out of range.
  std::span<std::byte> mutable_range(std::size_t offset, std::size_t nbytes,
                                     Wait wait = Wait::allowed,
                                     CallSite site = CallSite::current()) {
    if (identity_ == nullptr) {
      return Buffer().mutable_range(offset, nbytes, wait, site);
    }
    identity_->buffer.expect_range(offset, nbytes, site);
    identity_->materialize(wait, site);
    return identity_->buffer.populated(offset, nbytes);
  }

  /// Makes this storage the only owner of its data: see Buffer::materialize(). Does nothing if the
  /// handle is empty.
  Materialized materialize(Wait wait = Wait::allowed, CallSite site = CallSite::current()) {
    return identity_ == nullptr ? Materialized::already_unique : identity_->materialize(wait, site);
  }

  // ---- pins, for code that holds a pointer to the bytes: code of another language, for example.
  // See pin.hpp.

  /// Materializes the data and returns a pin: write access until the pin is released. Until then
  /// the holder of the pin's pointer may write, lazy clones copy immediately, and the bytes do not
  /// move: resize() and shrink_to_fit() throw. This call is a write, and so is each write through
  /// the pointer: the caller must not run it concurrently with any other access to this storage.
  /// Returns an empty pin if the handle is empty. Throws the errors of materialize().
  [[nodiscard]] Pin pin(Wait wait = Wait::allowed, CallSite site = CallSite::current());

  /// Read access, until the pin is released, to bytes that do not move. A const member. Returns an
  /// empty pin if the handle is empty. Throws the errors of Buffer::lazy_clone().
  ///
  /// - Usually the pin shares the data as a lazy clone does: no later write shows in the pin.
  /// - If the bytes may already have other writers (because they are pinned, borrowed or aliased),
  ///   the pin is one more alias of the bytes: those writes show in it. While the pin exists, a
  ///   pinned storage stays pinned.
  /// - Only memory that was borrowed read-only is copied.
  [[nodiscard]] Pin pin_to_read(CallSite site = CallSite::current()) const;

  /// True iff a pin exists whose holder, or another writer, may write through a pointer, so that
  /// lazy clones copy: a pin to write, or a pin to read that was created while another pin existed
  /// or that reads writable borrowed or aliased memory. Acquire: if the result is false, all writes
  /// through released pins happen before the return of this call.
  bool is_pinned() const noexcept { return identity_ != nullptr && identity_->pins.any(); }

  // ---- for the threads of a parallel loop in which each thread writes a separate part
  //
  // Any number of threads may call these members on one storage concurrently, through one handle or
  // several. The first caller copies or steals the data. The other callers wait for the first call
  // to return, and their calls happen after it. If the first call throws, the next caller tries.
  // A thread that has called one of these members may read until the loop ends. The caller must not
  // run any other operation on this storage concurrently with the loop: no reads by other threads,
  // no lazy clones, no writes through other members.
  //
  // Call these members before the loop if possible; otherwise call them once per part, not once per
  // byte, because concurrent calls run one after another. An allocator must not call them on the
  // storage for which it allocates. A handler of reshape violations (see shadow/report.hpp) must
  // not call them at all. Wait::never applies only to copies by other storages: a call always waits
  // for a thread of the loop that copies.

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

  /// As materialize(). Returns what this call did: already_unique for all callers but the one that
  /// copied or stole the data.
  Materialized materialize_in_parallel(Wait wait = Wait::allowed,
                                       CallSite site = CallSite::current()) {
    return identity_ == nullptr ? Materialized::already_unique
                                : materialize_in_turn(wait, site, [] {});
  }

  /// Changes the size, for all handles: see Buffer::resize(). Requires that no other storage shares
  /// the data and that the storage is not pinned. To shrink the storage, also requires that this is
  /// its only handle, because other handles may belong to views that need the bytes. Throws
  /// NotUnique if a requirement is violated, InvalidArgument if the handle is empty, and the errors
  /// of Buffer::resize().
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
    identity_->end_watch();
    identity_->buffer.resize(nbytes, site);
  }

  /// Releases the capacity beyond the size: see Buffer::shrink_to_fit(). The bytes may move, for
  /// all handles. Does nothing if the handle is empty. Throws NotUnique also if the storage is
  /// pinned.
  void shrink_to_fit(CallSite site = CallSite::current()) {
    if (identity_ != nullptr) {
      expect_unpinned("shrink_to_fit", nbytes(site), site);
      identity_->end_watch();
      identity_->buffer.shrink_to_fit(site);
    }
  }

  /// The size in bytes; 0 if the handle is empty.
  std::size_t nbytes(CallSite site = CallSite::current()) const noexcept {
    return identity_ == nullptr ? 0 : identity_->buffer.nbytes(site);
  }

  /// True iff no other storage shares the data and no copy of the data is pending. Other handles to
  /// this storage may exist. Also true if the handle is empty. May be false while another thread
  /// calls version(). An acquire load: see Buffer::is_unique().
  bool is_unique(CallSite site = CallSite::current()) const noexcept {
    return identity_ == nullptr || identity_->is_unique(site);
  }

  /// The number of storages that share the data; 0 if the handle is empty. Another storage counts
  /// as two from its version() to its next write. See Buffer::use_count(). A relaxed load:
  /// approximate, for diagnostics only.
  std::uint32_t use_count(CallSite site = CallSite::current()) const noexcept {
    return identity_ == nullptr ? 0 : identity_->use_count(site);
  }

  /// The number of handles of this storage; 0 if this handle is empty. An acquire load: if the
  /// result is 1, it remains 1 until the caller copies the handle, and everything that the former
  /// handles did happens before the return of this call.
  std::uint32_t handle_count() const noexcept {
    return identity_ == nullptr ? 0 : identity_->handles.count();
  }

  /// The version of the contents: a number that each write access to this storage changes. If two
  /// calls return one number, the storage was not written in between. No number is used twice in a
  /// process, so a lazy clone has another version than its source. 0 if the handle is empty, or if
  /// the storage has an empty buffer.
  ///
  /// - Write accesses are calls of non-const members, also of those that throw, and stores of the
  ///   storage into an AtomicStorage.
  /// - Request write access again after each call: a write through a pointer from before the call
  ///   does not change the version. A checked build reports such a write, as after a lazy clone.
  /// - Pinned, borrowed and aliased memory may have other writers, so each call returns a new
  ///   number.
  ///
  /// Cost: one atomic load. The first call after a write has four atomic operations instead, and
  /// the next write two more; other writes to unshared data cost nothing more. Thread-safety: if
  /// threads call this member concurrently, all get one number.
  std::uint64_t version(CallSite site = CallSite::current()) const noexcept {
    return identity_ == nullptr ? 0 : identity_->version(site);
  }

  /// True iff both handles refer to one storage, or to storages that share their data. False if a
  /// handle is empty.
  bool shares_data_with(const basic_storage& other,
                        CallSite site = CallSite::current()) const noexcept {
    return identity_ != nullptr && other.identity_ != nullptr &&
           identity_->buffer.shares_data_with(other.identity_->buffer, site);
  }

  /// The origin of the bytes: see Buffer::origin(). `allocated` if the handle is empty.
  Origin origin() const noexcept {
    return identity_ == nullptr ? Origin::allocated : identity_->buffer.origin();
  }
  /// True iff a write copies the bytes even if no other storage shares them.
  bool is_read_only() const noexcept {
    return identity_ != nullptr && identity_->buffer.is_read_only();
  }
  /// The allocator of copies of the bytes; default_allocator() if the handle is empty.
  Allocator& allocator() const noexcept {
    return identity_ == nullptr ? default_allocator() : identity_->buffer.allocator();
  }

  /// See Buffer::facts().
  stats::detail::DataFacts facts() const noexcept {
    return identity_ == nullptr ? stats::detail::DataFacts() : identity_->buffer.facts();
  }

  /// The slot in which the tensor library attaches data to this storage; for that library only.
  /// Null if the handle is empty. The slot lives as long as the storage. See attachment.hpp.
  detail::basic_attachment_slot<Sync>* slot() const noexcept {
    return identity_ == nullptr ? nullptr : &identity_->slot;
  }

  /// True iff this handle is not empty.
  explicit operator bool() const noexcept { return identity_ != nullptr; }

  /// True iff both handles refer to one storage: they alias.
  friend bool operator==(const basic_storage&, const basic_storage&) noexcept = default;

 private:
  friend Pin;
  friend detail::AtomicValue<basic_storage>;
  friend detail::QuickWrite;  // for the C interface
  friend detail::ExportedHeader;

  struct Identity {
    explicit Identity(Buffer&& bytes) noexcept : buffer(std::move(bytes)) {}
    ~Identity() { end_watch(); }
    Identity(const Identity&) = delete;
    Identity& operator=(const Identity&) = delete;

    Buffer buffer;
    basic_ref_count<Sync> handles;
    detail::basic_pin_count<Sync> pins;  // directly after `handles`, where it needs no padding
    detail::basic_attachment_slot<Sync> slot;
    detail::basic_watch<Sync> watch;

    // detail/identity.hpp
    std::uint64_t version(CallSite site) noexcept;
    std::uint64_t new_version(CallSite site) noexcept;
    bool end_watch() noexcept;
    Materialized materialize(Wait wait, CallSite site);
    std::byte* mutable_data(Wait wait, CallSite site);
    Buffer lazy_clone(CallSite site) const;
    Buffer take_buffer() noexcept;
    bool is_unique(CallSite site) const noexcept;
    std::uint32_t use_count(CallSite site) const noexcept;

    friend void intrusive_ptr_add_ref(Identity* identity) noexcept { identity->handles.add(); }
    friend void intrusive_ptr_release(Identity* identity) noexcept {
      if (identity->handles.drop()) {
        delete identity;
      }
    }
  };

  /// A lazy clone of the buffer; a copy if it is pinned.
  Buffer clone_buffer(CallSite site) const {
    return identity_->pins.any() ? identity_->buffer.copy_of_pinned(site)
                                 : identity_->lazy_clone(site);
  }

  void expect_unpinned(const char* operation, std::size_t nbytes, CallSite site) const {
    if (identity_->pins.any()) {
      throw NotUnique(format_text(
          "cannot %s to %zu bytes: the storage has %zu bytes and is pinned, so its bytes must "
          "not move. Release all pins first: exported arrays hold them.",
          operation, nbytes, identity_->buffer.nbytes(site)));
    }
  }

  /// Calls expect(), then materializes, one thread at a time. Throws what expect() throws.
  template <class Expect>
  Materialized materialize_in_turn(Wait wait, CallSite site, const Expect& expect) {
    // Here, because materialize_and_report_in() asks for bytes only if the lock is not held.
    const void* data = nullptr;
    return detail::within_budget(data, [&] { return take_turn(wait, site, expect, data); });
  }

  /// Sets `data` to the data that the calling thread, which has its turn, makes unique.
  template <class Expect>
  Materialized take_turn(Wait wait, CallSite site, const Expect& expect, const void*& data) {
    stats::detail::WriteReport report;
    report.begin();
    Buffer& buffer = identity_->buffer;
    const sync::detail::AddressLock<Sync> lock(identity_.get(), [&] {
      expect();
      return buffer.is_writable_in_parallel(site);
    });
    if (lock.is_held()) {
      identity_->end_watch();
      data = std::as_const(buffer).data(site);
      return buffer.materialize_and_report_in(report, wait, site);
    }
    report.waited_in_parallel(std::as_const(buffer).data(site), site);
    return Materialized::already_unique;
  }

  /// The count of handles starts at 1: the handle of the caller.
  static Identity* make_identity(Buffer&& buffer) {
    // The buffer is moved only after the allocation has succeeded.
    auto* identity = new (std::nothrow) Identity(std::move(buffer));
    if (identity == nullptr) {
      throw OutOfMemory(sizeof(Identity), "heap, for a storage");
    }
    return identity;
  }

  CountedPtr<Identity> identity_;
};

using Storage = basic_storage<sync::Default>;

}  // namespace byre::inline BYRE_ABI

#include <byre/storage/detail/identity.hpp>
#include <byre/storage/pin.hpp>
