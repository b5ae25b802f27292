// SPDX-License-Identifier: BSL-1.0
/// The contenders: byre, and the alternatives that a user would write by hand. A contender is a
/// value type: copying it makes a clone, data() reads and mutable_data() writes.
#pragma once

#include "harness.hpp"

#include <byre/byre.hpp>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

namespace byre_bench {

/// The std::shared_ptr idiom at its best: one allocation, not zeroed, for the counts and the bytes.
/// A write happens in place if use_count() is 1, and copies otherwise. use_count() is a relaxed
/// load, so correctness needs the acquire fence, which costs nothing on x86.
class SharedPtrBytes {
 public:
  explicit SharedPtrBytes(std::size_t nbytes)
      : bytes_(std::make_shared_for_overwrite<std::byte[]>(nbytes)), nbytes_(nbytes) {}

  const std::byte* data() const noexcept { return bytes_.get(); }

  std::byte* mutable_data() {
    if (bytes_.use_count() != 1) {
      SharedPtrBytes copy(nbytes_);
      std::memcpy(copy.bytes_.get(), bytes_.get(), nbytes_);
      bytes_ = std::move(copy.bytes_);
    }
    std::atomic_thread_fence(std::memory_order::acquire);
    return bytes_.get();
  }

 private:
  std::shared_ptr<std::byte[]> bytes_;
  std::size_t nbytes_;
};

/// Reference-counted bytes from byre's allocators, with the header and the data in one block, like
/// byre's. If `is_eager` is true, a clone copies at once. Otherwise a writer of shared data copies
/// first and drops its reference afterwards, as published implementations of copy-on-write do; if
/// all owners write concurrently, all of them copy.
template <bool is_eager>
class CountedBytes {
 public:
  CountedBytes(std::size_t nbytes, byre::Allocator& allocator)
      : header_(create(nbytes, allocator)) {}
  CountedBytes(const CountedBytes& other)
      : header_(is_eager ? create_copy(*other.header_) : other.header_) {
    if (!is_eager) {
      header_->owners.fetch_add(1, std::memory_order::relaxed);
    }
  }
  CountedBytes& operator=(const CountedBytes& other) {
    CountedBytes clone(other);
    std::swap(header_, clone.header_);
    return *this;
  }
  ~CountedBytes() { drop(); }

  const std::byte* data() const noexcept { return static_cast<std::byte*>(header_->block.data); }

  std::byte* mutable_data() {
    if (!is_eager && header_->owners.load(std::memory_order::acquire) != 1) {
      Header* copy = create_copy(*header_);
      drop();
      header_ = copy;
    }
    return static_cast<std::byte*>(header_->block.data);
  }

 private:
  struct Header {
    std::atomic<std::size_t> owners;
    std::size_t nbytes;
    byre::Allocator* allocator;
    byre::Block block;
  };

  static constexpr std::size_t prefix = byre::data_alignment;
  static_assert(sizeof(Header) <= prefix);

  static Header* create(std::size_t nbytes, byre::Allocator& allocator) {
    return create_in(allocator.allocate({.nbytes = nbytes, .prefix = prefix}), nbytes, allocator);
  }
  static Header* create_copy(const Header& source) {
    return create_in(source.allocator->allocate_copy({.nbytes = source.nbytes, .prefix = prefix},
                                                     source.block.data, source.nbytes),
                     source.nbytes, *source.allocator);
  }
  static Header* create_in(const byre::Block& block, std::size_t nbytes,
                           byre::Allocator& allocator) {
    void* place = static_cast<std::byte*>(block.data) - prefix;
    return ::new (place) Header{1, nbytes, &allocator, block};
  }

  void drop() noexcept {
    if (header_->owners.fetch_sub(1, std::memory_order::acq_rel) == 1) {
      const Header last{0, header_->nbytes, header_->allocator, header_->block};
      last.allocator->deallocate(last.block);
    }
  }

  Header* header_;
};

// The contenders and the names that reports use.

struct Byre {
  static constexpr const char* name = "byre";
  using Bytes = byre::Buffer;
  static Bytes make(std::size_t nbytes, Memory memory) {
    return Bytes::allocate(nbytes, allocator_for(memory));
  }
};

struct SharedPtr {
  static constexpr const char* name = "shared_ptr";
  using Bytes = SharedPtrBytes;
  static Bytes make(std::size_t nbytes, Memory) { return Bytes(nbytes); }
};

template <bool is_eager>
struct Counted {
  static constexpr const char* name = is_eager ? "eager" : "copy_first";
  using Bytes = CountedBytes<is_eager>;
  static Bytes make(std::size_t nbytes, Memory memory) { return {nbytes, allocator_for(memory)}; }
};
using Eager = Counted<true>;
using CopyFirst = Counted<false>;

/// Makes new bytes and writes all of them. Without these writes, the system would map a single page
/// of zeros in place of all pages.
template <class Contender>
typename Contender::Bytes make_filled(std::size_t nbytes, Memory memory) {
  auto bytes = Contender::make(nbytes, memory);
  std::memset(bytes.mutable_data(), 0x5a, nbytes);
  return bytes;
}

}  // namespace byre_bench
