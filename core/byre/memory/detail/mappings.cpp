// SPDX-License-Identifier: BSL-1.0
#include <byre/config.hpp>
#include <byre/error/detail/intrusive_list.hpp>
#include <byre/memory/detail/mappings.hpp>
#include <byre/sync/detail/mutex.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/sync/detail/published.hpp>
#include <byre/system/detail/files.hpp>
#include <byre/system/detail/last_error.hpp>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>

namespace byre::inline BYRE_ABI::detail {
namespace {

/// A record of a range that the system refused to unmap. It is stored outside the range, which may
/// be write-protected or show a file.
struct RefusedRange : ListNode {
  RefusedRange(void* range_begin, std::size_t range_nbytes) noexcept
      : begin(range_begin), nbytes(range_nbytes) {}

  void* begin;
  std::size_t nbytes;
};

class RefusedRanges {
 public:
  void add(RefusedRange& range) noexcept {
    const sync::ProcessLock lock(mutex_);
    ranges_.push_back(range);
    ++count_;
  }

  /// Unmaps ranges, oldest first, until the system refuses `most_refused` of them in a row. Returns
  /// true if it unmapped any.
  bool retry(std::size_t most_refused) noexcept {
    IntrusiveList<RefusedRange> unmapped;
    unmap_some(most_refused, unmapped);
    const bool has_unmapped = !unmapped.is_empty();
    while (!unmapped.is_empty()) {
      RefusedRange& range = unmapped.front();
      unmapped.remove(range);
      std::free(&range);
    }
    return has_unmapped;
  }

 private:
  void unmap_some(std::size_t most_refused, IntrusiveList<RefusedRange>& unmapped) noexcept {
    const sync::ProcessLock lock(mutex_);
    std::size_t refused = 0;
    while (refused < std::min(most_refused, count_)) {
      RefusedRange& range = ranges_.front();
      const bool is_unmapped = system::unmap(range.begin, range.nbytes);
      ranges_.remove(range);
      (is_unmapped ? unmapped : ranges_).push_back(range);
      count_ -= is_unmapped ? 1 : 0;
      refused = is_unmapped ? 0 : refused + 1;
    }
  }

  sync::ProcessMutex mutex_;
  IntrusiveList<RefusedRange> ranges_;
  std::size_t count_ = 0;
};

RefusedRanges& refused_ranges() noexcept {
  return sync::no_destructor<RefusedRanges>();
}

/// Unmaps all refused ranges that can be unmapped now. Returns true if it unmapped any. Preserves
/// the error of the refused mapping.
bool retry_all() noexcept {
  const system::KeptError kept;
  return refused_ranges().retry(std::numeric_limits<std::size_t>::max());
}

/// Frees the memory of a range and records the range. If the heap is full, the range is not
/// recorded: its addresses stay reserved.
void retain_range(void* begin, std::size_t nbytes) noexcept {
  system::unlock(begin, nbytes);  // locked pages cannot be discarded
  system::discard(begin, nbytes);
  if (void* const place = std::malloc(sizeof(RefusedRange))) {
    refused_ranges().add(*::new (place) RefusedRange(begin, nbytes));
  }
}

#if BYRE_CHECKS
constinit sync::detail::Published<const UnmapObserver> unmap_observer;
#endif

}  // namespace

#if BYRE_CHECKS
void observe_unmaps(const UnmapObserver& observer) noexcept {
  unmap_observer.set(&observer);
}
#endif

std::byte* map_pages(std::size_t lead, std::size_t nbytes, std::size_t alignment,
                     system::Access access) noexcept {
  auto mapping = system::map_aligned(lead, nbytes, alignment, access);
  if (mapping.begin == nullptr && retry_all()) {
    mapping = system::map_aligned(lead, nbytes, alignment, access);
  }
  if (mapping.begin == nullptr) {
    return nullptr;
  }
  std::byte* const begin = mapping.data - lead;
  std::byte* const end = mapping.data + nbytes;
  unmap(mapping.begin, static_cast<std::size_t>(begin - mapping.begin));
  unmap(end, static_cast<std::size_t>(mapping.begin + mapping.nbytes - end));
  return mapping.data;
}

std::byte* map_file_pages(const Descriptor& file, std::size_t nbytes,
                          system::Access access) noexcept {
  std::byte* const mapping = system::map_privately(file, nbytes, access);
  return mapping == nullptr && retry_all() ? system::map_privately(file, nbytes, access) : mapping;
}

void unmap(void* begin, std::size_t nbytes) noexcept {
  if (nbytes == 0) {
    return;
  }
  const system::KeptError kept;
#if BYRE_CHECKS
  if (const UnmapObserver* const observer = unmap_observer.get()) {
    observer->before(static_cast<std::byte*>(begin), nbytes);
  }
#endif
  if (!system::unmap(begin, nbytes)) {
    retain_range(begin, nbytes);
  } else {
    refused_ranges().retry(1);  // the system may now unmap a neighbor that it refused before
  }
}

}  // namespace byre::inline BYRE_ABI::detail
