// SPDX-License-Identifier: BSL-1.0
/// Pin: prevents the bytes of a storage from moving while code outside byre, for example code of
/// another language, holds a pointer to them. While a pin to write exists, its storage shares its
/// data with no other storage, so the writes show in no other storage.
#pragma once

#include <byre/observe/detail/observer.hpp>
#include <byre/storage/storage.hpp>

#include <cstddef>
#include <utility>

namespace byre::inline BYRE_ABI {

namespace detail {
struct PinAccess;  // defined by the tensor library
}

/// A pin is created by Storage::pin() or Storage::pin_to_read(), and released by its destructor.
///
/// Thread-safety: one pin object follows the rules of std::unique_ptr. A pin may be released on any
/// thread, while other threads clone and read the storage. Writes through the pin's pointer happen
/// before each clone that is made after the release. Errors: no public member throws. Progress: no
/// member waits. Cost: O(1); the release of a pin may release the storage or the data.
///
/// Source: the lending of memory in DLPack and in Python's buffer protocol, whose consumers hold a
/// pointer until they release it.
template <sync::Sync Sync>
class basic_pin {
  using Storage = basic_storage<Sync>;
  using Buffer = basic_buffer<Sync>;

 public:
  /// Empty: data() is null and nbytes() is 0.
  basic_pin() noexcept = default;
  basic_pin(basic_pin&& other) noexcept
      : pinned_(std::exchange(other.pinned_, Storage())),
        buffer_(std::move(other.buffer_)),
        data_(std::exchange(other.data_, nullptr)),
        nbytes_(std::exchange(other.nbytes_, 0)),
        is_writable_(std::exchange(other.is_writable_, false)) {}
  basic_pin& operator=(basic_pin&& other) noexcept {
    basic_pin(std::move(other)).swap(*this);
    return *this;
  }
  ~basic_pin() {
    stats::detail::report_pin(stats::detail::RecordKind::unpin, data_, nbytes_, CallSite{});
    if (pinned_) {
      pinned_.identity_->pins.drop();
    }
  }

  /// A pointer to read the bytes, valid while this pin exists. Null if the pin is empty.
  const std::byte* data() const noexcept { return data_; }
  /// A pointer to write the bytes, valid while this pin exists. Null if this is a pin to read.
  std::byte* mutable_data() const noexcept { return is_writable_ ? data_ : nullptr; }
  std::size_t nbytes() const noexcept { return nbytes_; }
  bool is_writable() const noexcept { return is_writable_; }

  void swap(basic_pin& other) noexcept {
    std::swap(pinned_, other.pinned_);
    buffer_.swap(other.buffer_);
    std::swap(data_, other.data_);
    std::swap(nbytes_, other.nbytes_);
    std::swap(is_writable_, other.is_writable_);
  }

 private:
  friend Storage;
  friend detail::PinAccess;

  /// Requires that the storage has counted this pin already.
  basic_pin(const Storage& pinned, bool is_writable, CallSite site) noexcept
      : pinned_(pinned),
        data_(const_cast<std::byte*>(std::as_const(pinned_).data(site))),
        nbytes_(pinned_.nbytes(site)),
        is_writable_(is_writable) {
    report_pinned(site);
  }
  basic_pin(Buffer&& buffer, CallSite site) noexcept
      : buffer_(std::move(buffer)),
        data_(const_cast<std::byte*>(std::as_const(buffer_).data(site))),
        nbytes_(buffer_.nbytes(site)) {
    report_pinned(site);
  }

  /// Returns a handle to the pinned storage if this is a pin to write. If this is a pin to read,
  /// returns a new storage that takes over the pin's buffer, or an empty handle if the bytes may
  /// have other writers. Throws OutOfMemory if there is no memory for the new storage.
  Storage to_storage() {
    if (pinned_) {
      return is_writable_ ? pinned_ : Storage();
    }
    return Storage(std::move(buffer_));
  }

  void report_pinned(CallSite site) const noexcept {
    stats::detail::report_pin(
        is_writable_ ? stats::detail::RecordKind::pin : stats::detail::RecordKind::pin_to_read,
        data_, nbytes_, site);
  }

  static basic_pin to_read(const Storage& storage, CallSite site) {
    const Buffer& buffer = storage.identity_->buffer;
    auto& pins = storage.identity_->pins;
    if (is_written_by_others(buffer)) {
      pins.add();
      return basic_pin(storage, false, site);
    }
    if (buffer.origin() == Origin::aliased) {
      return basic_pin(buffer.share_for_pin(site), site);
    }
    if (pins.add_another()) {
      return basic_pin(storage, false, site);
    }
    return basic_pin(storage.identity_->lazy_clone(site), site);
  }

  /// Whether a lazy clone of the pin's buffer would copy the bytes.
  bool holds_aliased_data() const noexcept { return buffer_.origin() == Origin::aliased; }

  /// Whether the memory may have other writers. If so, a pin can neither share nor copy the bytes.
  static bool is_written_by_others(const Buffer& buffer) noexcept {
    return (buffer.origin() == Origin::borrowed || buffer.origin() == Origin::aliased) &&
           !buffer.is_read_only();
  }

  Storage pinned_;
  Buffer buffer_;
  std::byte* data_ = nullptr;
  std::size_t nbytes_ = 0;
  bool is_writable_ = false;
};

using Pin = basic_pin<sync::Default>;

template <sync::Sync Sync>
inline basic_pin<Sync> basic_storage<Sync>::pin(Wait wait, CallSite site) {
  if (identity_ == nullptr) {
    return Pin();
  }
  identity_->materialize(wait, site);
  identity_->pins.add();
  return Pin(*this, true, site);
}

template <sync::Sync Sync>
inline basic_pin<Sync> basic_storage<Sync>::pin_to_read(CallSite site) const {
  return identity_ == nullptr ? Pin() : Pin::to_read(*this, site);
}

}  // namespace byre::inline BYRE_ABI
