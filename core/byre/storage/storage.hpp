// SPDX-License-Identifier: BSL-1.0
/// Storage: an identity that holds a Buffer. Copying the handle aliases: all copies see each
/// other's writes. lazy_clone() makes a new identity with, until either is written, the same data.
/// Tensors alias if and only if they share a Storage.
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

/// Thread-safety: handles may be copied and released on any thread; one handle object is used as a
/// std::shared_ptr. For the storage behind it the rule is a Buffer's: const operations may run at
/// once, on any of its handles; a write excludes everything else on the same storage. Storages that
/// share data are different storages. Threads of a parallel loop may all ask one storage for write access by
/// mutable_data_in_parallel(). Exceptions and progress: as for a Buffer.
///
/// A default-constructed handle has no storage: it has no bytes and may be given some by assignment
/// only.
template <sync::Sync Sync>
class basic_storage {
 public:
  using Buffer = basic_buffer<Sync>;
  using Pin = basic_pin<Sync>;

  basic_storage() noexcept = default;

  /// Another handle to the same storage: the two alias.
  basic_storage(const basic_storage&) noexcept = default;
  basic_storage(basic_storage&&) noexcept = default;
  basic_storage& operator=(const basic_storage&) noexcept = default;
  basic_storage& operator=(basic_storage&&) noexcept = default;
  ~basic_storage() = default;

  /// A new identity for these bytes. Throws OutOfMemory; `buffer` then keeps them.
  explicit basic_storage(Buffer&& buffer) : identity_(make_identity(std::move(buffer)), false) {}
  explicit basic_storage(const Buffer& buffer) : basic_storage(Buffer(buffer)) {}

  /// As the functions of these names in Buffer. A storage over foreign memory is Storage(Buffer::adopt(...)).
  static basic_storage allocate(std::size_t nbytes, Allocator& allocator = default_allocator()) {
    return basic_storage(Buffer::allocate(nbytes, allocator));
  }
  static basic_storage map_file(FileName name, Allocator& allocator = default_allocator()) {
    return basic_storage(Buffer::map_file(name, allocator));
  }

  /// A new storage that shares the data until either is written. Does not change this one: safe
  /// from many threads at once. Throws OutOfMemory for the new identity; for memory that others may
  /// write, borrowed, aliased or pinned, which is copied at once, as allocate.
  [[nodiscard]] basic_storage lazy_clone(CallSite site = CallSite::current()) const {
    if (identity_ == nullptr) {
      return basic_storage();
    }
    return basic_storage(identity_->pins.any() ? identity_->buffer.copy_of_pinned(site)
                                               : identity_->buffer.lazy_clone(site));
  }

  /// A new storage for code that writes by pointers and never asks byre: see Buffer. A pinned storage in pages is cloned
  /// lazily too.
  [[nodiscard]] basic_storage writable_clone(Wait wait = Wait::allowed,
                                             CallSite site = CallSite::current()) {
    return identity_ == nullptr ? basic_storage()
                                : basic_storage(identity_->buffer.writable_clone(wait, site));
  }

  /// The bytes, to read: never copies. Valid until this storage is next written or destroyed.
  const std::byte* data(CallSite site = CallSite::current()) const noexcept {
    return identity_ == nullptr ? nullptr : identity_->buffer.data(site);
  }

  /// The bytes, to write: materializes. See Buffer.
  std::byte* mutable_data(Wait wait = Wait::allowed, CallSite site = CallSite::current()) {
    return identity_ == nullptr ? nullptr : identity_->buffer.mutable_data(wait, site);
  }

  /// Write access to a part of the bytes. See Buffer. An empty handle has no bytes.
  std::span<std::byte> mutable_range(std::size_t offset, std::size_t nbytes,
                                     Wait wait = Wait::allowed,
                                     CallSite site = CallSite::current()) {
    return identity_ == nullptr ? Buffer().mutable_range(offset, nbytes, wait, site)
                                : identity_->buffer.mutable_range(offset, nbytes, wait, site);
  }

  /// Makes the data this storage's own. See Buffer.
  Materialized materialize(Wait wait = Wait::allowed, CallSite site = CallSite::current()) {
    return identity_ == nullptr ? Materialized::already_unique
                                : identity_->buffer.materialize(wait, site);
  }

  // ---- for somebody who keeps a pointer to the bytes, another language for example. See pin.hpp.

  /// Write access that lasts: materializes, and until the pin is released whoever has its pointer may write,
  /// lazy clones copy at once, and the bytes stay where they are: resize throws. A write, as mutable_data(); what
  /// is written by the pointer excludes all else on this storage, as any write does. Throws as mutable_data().
  [[nodiscard]] Pin pin(Wait wait = Wait::allowed, CallSite site = CallSite::current());

  /// Read access that lasts: bytes that stay where they are until the pin is released. It shares the data as a lazy
  /// clone does, so that no later write shows in it. Where others may write the bytes already (they are pinned,
  /// borrowed or aliased), it is one more alias of them, which sees what is written there, and keeps a storage
  /// pinned. Only memory that was borrowed to read is copied. A const operation. Throws as lazy_clone().
  [[nodiscard]] Pin pin_to_read(CallSite site = CallSite::current()) const;

  /// True iff there is a pin to write, or one to read that began beside one: somebody may have a pointer to the bytes
  /// and write, so that lazy clones copy. Acquire: after a false answer all such writes are seen.
  bool is_pinned() const noexcept { return identity_ != nullptr && identity_->pins.any(); }

  // ---- for the threads of a parallel loop, each of which then writes its own part. Any number of them may call
  // these on one storage at once, by one handle or by several. The first copies or steals; the others wait for
  // it alone, and come after. Should it throw, the next one tries. A thread that has called one of these may
  // read until the loop is over. All else excludes the loop as it excludes a write: reads by other threads,
  // lazy clones, writes by other calls. So ask before the loop where that is possible, and else once for each
  // part, not for each byte: threads that ask at once ask one after another. An allocator must not ask for
  // the storage that it allocates for, and a handler of violations for none. Wait::never is about the copies of
  // other storages: the thread of the loop that copies is waited for all the same.

  /// As mutable_data().
  std::byte* mutable_data_in_parallel(Wait wait = Wait::allowed,
                                      CallSite site = CallSite::current()) {
    materialize_in_parallel(wait, site);
    return const_cast<std::byte*>(data(site));
  }

  /// As mutable_range(), of a range that no other thread writes.
  std::span<std::byte> mutable_range_in_parallel(std::size_t offset, std::size_t nbytes,
                                                 Wait wait = Wait::allowed,
                                                 CallSite site = CallSite::current()) {
    if (identity_ == nullptr) {
      return mutable_range(offset, nbytes, wait, site);
    }
    materialize_in_turn(wait, site, [&] { identity_->buffer.expect_range(offset, nbytes, site); });
    return identity_->buffer.populated(offset, nbytes);
  }

  /// As materialize(): what this call had to do, which for all but one is nothing.
  Materialized materialize_in_parallel(Wait wait = Wait::allowed,
                                       CallSite site = CallSite::current()) {
    return identity_ == nullptr ? Materialized::already_unique
                                : materialize_in_turn(wait, site, [] {});
  }

  /// Changes the size of a storage that shares its data with no other; every handle sees it. Only a
  /// sole handle may make it smaller: others may be of views, which need what they see. Throws
  /// NotUnique, also while it is pinned, OutOfMemory, InvalidArgument (an empty handle has nothing to resize). See
  /// Buffer.
  void resize(std::size_t nbytes, CallSite site = CallSite::current()) {
    if (identity_ == nullptr) {
      throw InvalidArgument(format_text(
          "resize to %zu bytes of an empty storage handle. Assign it Storage::allocate(%zu).",
          nbytes, nbytes));
    }
    expect_unpinned("resize", nbytes, site);
    if (const std::uint32_t handles = handle_count();
        handles > 1 && nbytes < identity_->buffer.nbytes(site)) {
      throw NotUnique(
          format_text("resize to %zu bytes of a storage of %zu that has %u handles, tensors "
                      "included, which may need them. Drop the others first.",
                      nbytes, identity_->buffer.nbytes(site), static_cast<unsigned>(handles)));
    }
    identity_->buffer.resize(nbytes, site);
  }

  /// Gives back the capacity beyond the size; every handle sees the bytes where they are then. Does nothing for an
  /// empty handle. Throws NotUnique also while it is pinned. See Buffer.
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

  /// How many storages share the data. Relaxed: approximate, for people.
  std::uint32_t use_count(CallSite site = CallSite::current()) const noexcept {
    return identity_ == nullptr ? 0 : identity_->buffer.use_count(site);
  }

  /// How many handles this storage has. Acquire: an answer of 1 can be acted on.
  std::uint32_t handle_count() const noexcept {
    return identity_ == nullptr ? 0 : identity_->handles.count();
  }

  /// True iff the two are the same storage or lazy clones that neither wrote.
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

  /// The storage's one opaque slot, for the library that stands on this one and nobody else; null for
  /// an empty handle. It lives as long as the storage. See attachment.hpp.
  detail::basic_attachment_slot<Sync>* slot() const noexcept {
    return identity_ == nullptr ? nullptr : &identity_->slot;
  }

  /// True iff there is a storage behind this handle.
  explicit operator bool() const noexcept { return identity_ != nullptr; }

  /// True iff the two handles are of the same storage: they alias.
  friend bool operator==(const basic_storage&, const basic_storage&) noexcept = default;

 private:
  friend Pin;

  struct Identity {
    explicit Identity(Buffer&& bytes) noexcept : buffer(std::move(bytes)) {}
    Buffer buffer;
    basic_ref_count<Sync> handles;
    detail::basic_pin_count<Sync> pins;  // beside `handles`, where it needs no padding
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
          "%s to %zu bytes of a storage of %zu that is pinned: a pointer to its bytes was "
          "given out, which have to stay where they are. Release what holds it first.",
          operation, nbytes, identity_->buffer.nbytes(site)));
    }
  }

  /// One thread after another, unless `expect()` throws.
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

  /// With the handle that its count begins with.
  static Identity* make_identity(Buffer&& buffer) {
    // Moved from after the allocation, and only if there was one.
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
