// SPDX-License-Identifier: BSL-1.0
/// Data that byre allocates: header and data in one allocation, the data aligned to 64 bytes and
/// the header just before it. Data of a device the host cannot address has its header on the host.
#pragma once

#include <byre/cow/header.hpp>
#include <byre/error/error.hpp>
#include <byre/memory/allocator.hpp>
#include <byre/stats/counters.hpp>

#include <algorithm>
#include <new>

namespace byre::inline v0::cow {

template <sync::Sync Sync, template <class> class Share>
class basic_allocated final : public basic_header<Sync, Share> {
  using Header = basic_header<Sync, Share>;

 public:
  /// New data, contents indeterminate, with the caller as its owner. Throws OutOfMemory,
  /// InvalidArgument for a size no object can have, and what the allocator throws of its own.
  static Header* create(std::size_t nbytes, Allocator& allocator) {
    return create_with(nbytes, allocator,
                       [&](const Request& request) { return allocator.allocate(request); });
  }

  /// New data that begins as `source` does: its allocator's, and of `nbytes` in all. Throws as
  /// create, and what copying throws.
  static Header* create_copy(std::size_t nbytes, const Header& source) {
    Allocator& allocator = source.allocator();
    const std::size_t copied_nbytes = std::min(nbytes, source.nbytes());
    return create_with(nbytes, allocator, [&](const Request& request) {
      return allocator.allocate_copy(request, source.data(), copied_nbytes);
    });
  }

 private:
  basic_allocated(std::size_t nbytes, Allocator& allocator, const Block& block,
                  typename Header::Release how_to_release) noexcept
      : Header({.data = block.data,
                .nbytes = nbytes,
                .capacity = block.capacity,
                .allocator = &allocator,
                .origin = Origin::allocated},
               how_to_release),
        base_(block.base) {
    stats::detail::count(stats::detail::plus(stats::Counter::live_bytes, block.capacity));
  }

  ~basic_allocated() {
    stats::detail::count(stats::detail::minus(stats::Counter::live_bytes, this->capacity()));
  }

  template <class Obtain>
  static Header* create_with(std::size_t nbytes, Allocator& allocator, Obtain obtain) {
    if (nbytes > max_nbytes) {
      throw InvalidArgument::size_overflow(nbytes, max_nbytes);
    }
    try {
      return allocator.device().is_cpu() ? create_in_front(nbytes, allocator, obtain)
                                         : create_apart(nbytes, allocator, obtain);
    } catch (const std::bad_alloc&) {
      throw OutOfMemory(nbytes, allocator.name());
    }
  }

  template <class Obtain>
  static Header* create_in_front(std::size_t nbytes, Allocator& allocator, Obtain obtain) {
    constexpr std::size_t prefix =
        (sizeof(basic_allocated) + data_alignment - 1) / data_alignment * data_alignment;
    const Block block = obtain(Request{nbytes, prefix});
    void* place = static_cast<std::byte*>(block.data) - prefix;
    return ::new (place) basic_allocated(nbytes, allocator, block, &release_with_data);
  }

  template <class Obtain>
  static Header* create_apart(std::size_t nbytes, Allocator& allocator, Obtain obtain) {
    void* place = ::operator new(sizeof(basic_allocated));
    try {
      const Block block = obtain(Request{nbytes, 0});
      return ::new (place) basic_allocated(nbytes, allocator, block, &release_apart);
    } catch (...) {
      ::operator delete(place);
      throw;
    }
  }

  /// Ends the header and says what to give back to whom.
  struct Remains {
    explicit Remains(basic_allocated& self) noexcept
        : allocator(self.allocator()), block{self.data(), self.capacity(), self.base_} {
      self.~basic_allocated();
    }
    Allocator& allocator;
    const Block block;
  };

  static void release_with_data(Header& header) noexcept {
    const Remains remains(static_cast<basic_allocated&>(header));
    remains.allocator.deallocate(remains.block);
  }

  static void release_apart(Header& header) noexcept {
    const Remains remains(static_cast<basic_allocated&>(header));
    ::operator delete(&header);
    remains.allocator.deallocate(remains.block);
  }

  void* const base_;
};

static_assert(sizeof(basic_allocated<sync::Boost, basic_share_word>) == data_alignment);

}  // namespace byre::inline v0::cow
