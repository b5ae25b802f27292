// SPDX-License-Identifier: BSL-1.0
/// Data that byre allocates: header and data in one allocation, the data aligned to 64 bytes and
/// the header just before it. Data of a device the host cannot address has its header on the host.
#pragma once

#include <byre/cow/header.hpp>
#include <byre/error/error.hpp>
#include <byre/memory/allocator.hpp>
#include <byre/stats/counters.hpp>

#include <memory>
#include <new>

namespace byre::inline v0::cow {

template <sync::Sync Sync, template <class> class Share>
class basic_allocated final : public basic_header<Sync, Share> {
  using Header = basic_header<Sync, Share>;

 public:
  /// New data, contents indeterminate, with the caller as its owner. `will_fill`: see Request.
  /// Throws OutOfMemory, InvalidArgument for a size no object can have, and what the allocator
  /// throws of its own.
  static Header* create(std::size_t nbytes, Allocator& allocator, bool will_fill) {
    if (nbytes > max_nbytes) {
      throw InvalidArgument::size_overflow(nbytes, max_nbytes);
    }
    return allocator.device().is_cpu() ? create_in_front(nbytes, allocator, will_fill)
                                       : create_apart(nbytes, allocator, will_fill);
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
    stats::detail::add(stats::Counter::live_bytes, block.capacity);
  }

  ~basic_allocated() { stats::detail::subtract(stats::Counter::live_bytes, this->capacity()); }

  static Header* create_in_front(std::size_t nbytes, Allocator& allocator, bool will_fill) {
    constexpr std::size_t prefix =
        (sizeof(basic_allocated) + data_alignment - 1) / data_alignment * data_alignment;
    const Block block = allocate(allocator, {nbytes, prefix, will_fill});
    void* place = static_cast<std::byte*>(block.data) - prefix;
    return ::new (place) basic_allocated(nbytes, allocator, block, &release_with_data);
  }

  static Header* create_apart(std::size_t nbytes, Allocator& allocator, bool will_fill) {
    void* place = ::operator new(sizeof(basic_allocated), std::nothrow);
    if (place == nullptr) {
      throw OutOfMemory(sizeof(basic_allocated), "heap, for the header of device memory");
    }
    try {
      const Block block = allocate(allocator, {nbytes, 0, will_fill});
      return ::new (place) basic_allocated(nbytes, allocator, block, &release_apart);
    } catch (...) {
      ::operator delete(place);
      throw;
    }
  }

  static Block allocate(Allocator& allocator, const Request& request) {
    try {
      return allocator.allocate(request);
    } catch (const std::bad_alloc&) {
      throw OutOfMemory(request.nbytes, allocator.name());
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
