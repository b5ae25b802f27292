// SPDX-License-Identifier: BSL-1.0
/// Data that byre allocates: header and data in one block, with the data aligned to 64 bytes and
/// the header in front of the data. Two kinds of data have their header in a separate heap
/// allocation: data on a device that the host cannot address, and tiles of at least a page, for
/// which a header in front would cost one more page.
#pragma once

#include <byre/cow/detail/header.hpp>
#include <byre/error/error.hpp>
#include <byre/memory/allocator.hpp>
#include <byre/memory/budget_exceeded.hpp>
#include <byre/memory/detail/thread_cache.hpp>
#include <byre/observe/detail/observer.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

namespace byre::inline BYRE_ABI::cow {

/// New data in pages of a page file, from an allocator that has pages. Returns null if the caller
/// has to use ordinary memory. Throws OutOfMemory if there is no memory for the bookkeeping.
template <sync::Sync Sync>
BYRE_API basic_header<Sync>* create_paged(std::size_t nbytes, Allocator& allocator);

enum class HeaderPlace : bool { before_data, apart };

template <sync::Sync Sync>
class basic_allocated final : public basic_header<Sync> {
  using Header = basic_header<Sync>;
  using Base = typename Sync::template Plain<void*>;

 public:
  /// New data with indeterminate contents, owned by the caller. Throws InvalidArgument if `nbytes`
  /// exceeds max_nbytes, OutOfMemory if there is no memory, and any exception of the allocator.
  static Header* create(std::size_t nbytes, Allocator& allocator,
                        HeaderPlace place = HeaderPlace::before_data) {
    return create_by_allocator(nbytes, allocator, place, {});
  }

  /// New data of `nbytes` bytes that starts with a copy of `source`, up to the smaller of the two
  /// sizes. The allocator and the place of the header are those of the source. Throws the errors of
  /// create(), and any exception of the allocator's copy.
  [[gnu::always_inline]] static Header* create_copy(std::size_t nbytes, const Header& source) {
    Allocator& allocator = source.allocator();
    if (allocator.uses_thread_cache()) [[likely]] {
      const Block block = detail::take_from_thread_cache({nbytes, prefix});
      if (block.data != nullptr) [[likely]] {
        copy_from(source, nbytes, block.data);
        return construct(nbytes, allocator, block, CopiesEnd::on_return);
      }
    }
    return create_by_allocator(
        nbytes, allocator,
        source.is_released_by(&release_apart) ? HeaderPlace::apart : HeaderPlace::before_data,
        {.source = &source, .nbytes = (std::min)(nbytes, source.nbytes())});
  }

  /// A copy of `source` by an allocator whose copies are deferred (they may end after this call).
  /// The caller must not access the source after the allocator has taken over `pending`: the end of
  /// the copy may release the source.
  static Header* submit_copy(const Header& source, PendingCopy& pending) {
    return create_by_allocator(source.nbytes(), source.allocator(), HeaderPlace::apart,
                               {.source = &source, .nbytes = source.nbytes(), .pending = &pending});
  }

 private:
  [[gnu::always_inline]] basic_allocated(std::size_t nbytes, Allocator& allocator,
                                         const Block& block,
                                         typename Header::Release how_to_release,
                                         CopiesEnd copies_end) noexcept
      : Header({.data = block.data,
                .nbytes = nbytes,
                .capacity = block.capacity,
                .allocator = &allocator,
                .origin = Origin::allocated,
                .copies_end = copies_end},
               how_to_release),
        base_(block.base) {
    stats::detail::report_allocation(*this, block.capacity);
  }

  ~basic_allocated() { stats::detail::report_release(*this, this->capacity()); }

  /// The source of the first bytes of new data, if any.
  struct InitialBytes {
    const Header* source = nullptr;
    std::size_t nbytes = 0;
    PendingCopy* pending = nullptr;  ///< ends a deferred copy; null if the copy is not deferred
  };

  struct OperatorDelete {
    void operator()(void* room) const noexcept { ::operator delete(room); }
  };

  [[gnu::always_inline]] static void copy_from(const Header& source, std::size_t nbytes,
                                               void* destination) noexcept {
    const std::size_t copied_nbytes = (std::min)(nbytes, source.nbytes());
    if (copied_nbytes <= most_copied_inline && source.origin() == Origin::allocated) {
      copy_lines(static_cast<std::byte*>(destination), static_cast<const std::byte*>(source.data()),
                 copied_nbytes);
    } else if (copied_nbytes != 0) {
      std::memcpy(destination, source.data(), copied_nbytes);
    }
  }

  /// Up to this size, copying whole cache lines is cheaper than a call of memcpy. Both blocks
  /// consist of whole lines.
  static constexpr std::size_t most_copied_inline = 4 * data_alignment;
  static void copy_lines(std::byte* destination, const std::byte* source,
                         std::size_t nbytes) noexcept {
    for (std::size_t done = 0; done < nbytes; done += data_alignment) {
      std::memcpy(destination + done, source + done, data_alignment);
    }
  }

  /// As BudgetedAllocator does for blocks, asks a budget's reclaimers unless the data is a copy,
  /// whose caller may hold a claim.
  static Header* create_paged_or_ask(std::size_t nbytes, Allocator& allocator, bool is_copy) {
    const auto create = [&] { return create_paged<Sync>(nbytes, allocator); };
    return is_copy ? create() : detail::within_budget(nullptr, create);
  }

  [[gnu::noinline]] static Header* create_by_allocator(std::size_t nbytes, Allocator& allocator,
                                                       HeaderPlace place,
                                                       const InitialBytes& initial) {
    if (nbytes > max_nbytes) {
      throw InvalidArgument::size_overflow(nbytes, max_nbytes);
    }
    if (allocator.has_pages()) {
      if (Header* const paged = create_paged_or_ask(nbytes, allocator, initial.source != nullptr)) {
        if (initial.source != nullptr) {
          std::memcpy(paged->data(), initial.source->data(), initial.nbytes);
        }
        return paged;
      }
    }
    try {
      const bool is_in_front = place == HeaderPlace::before_data && allocator.device().is_cpu();
      std::unique_ptr<void, OperatorDelete> apart(
          is_in_front ? nullptr : ::operator new(sizeof(basic_allocated)));
      const auto [source, source_nbytes, pending] = initial;
      const Request request{nbytes, is_in_front ? prefix : 0};
      const Block block =
          pending != nullptr
              ? allocator.submit_copy(request, source->data(), source_nbytes, *pending)
          : source != nullptr ? allocator.allocate_copy(request, source->data(), source_nbytes)
                              : allocator.allocate(request);
      detail::expect_memory(block, request);
      if (is_in_front) {
        return construct(nbytes, allocator, block, allocator.copies_end());
      }
      if (!allocator.device().is_cpu()) {
        stats::detail::count(stats::detail::plus(stats::Counter::device_bytes, block.capacity));
      }
      return ::new (apart.release())
          basic_allocated(nbytes, allocator, block, &release_apart, allocator.copies_end());
    } catch (const std::bad_alloc&) {
      throw OutOfMemory(nbytes, allocator.name());
    }
  }

  [[gnu::always_inline]] static Header* construct(std::size_t nbytes, Allocator& allocator,
                                                  const Block& block,
                                                  CopiesEnd copies_end) noexcept {
    static_assert(sizeof(basic_allocated) <= prefix);
    void* place = static_cast<std::byte*>(block.data) - prefix;
    return ::new (place) basic_allocated(nbytes, allocator, block, &release_with_data, copies_end);
  }

  BYRE_FLATTEN static void release_with_data(Header& header) noexcept {
    auto& self = static_cast<basic_allocated&>(header);
    Allocator& allocator = self.allocator();
    auto* const data = static_cast<std::byte*>(self.data());
    const std::size_t capacity = self.capacity();
    void* const base = self.base_.get();
    self.~basic_allocated();
    if (!allocator.uses_thread_cache() ||
        !detail::put_in_thread_cache(base, data - prefix, prefix + capacity)) [[unlikely]] {
      deallocate(allocator, data, capacity, base);
    }
  }

  static void release_apart(Header& header) noexcept {
    auto& self = static_cast<basic_allocated&>(header);
    Allocator& allocator = self.allocator();
    const Block block{self.data(), self.capacity(), self.base_.get()};
    self.~basic_allocated();
    if (!allocator.device().is_cpu()) {
      stats::detail::count(stats::detail::minus(stats::Counter::device_bytes, block.capacity));
    }
    ::operator delete(&header);
    allocator.deallocate(block);
  }

  [[gnu::noinline]] static void deallocate(Allocator& allocator, void* data, std::size_t capacity,
                                           void* base) noexcept {
    allocator.deallocate({data, capacity, base});
  }

  /// Bytes reserved for the header, in front of the data.
  static constexpr std::size_t prefix =
      (sizeof(Header) + sizeof(Base) + data_alignment - 1) / data_alignment * data_alignment;

  const Base base_;
};

static_assert(BYRE_CHECKS || sizeof(basic_allocated<sync::Default>) <= data_alignment);

}  // namespace byre::inline BYRE_ABI::cow
