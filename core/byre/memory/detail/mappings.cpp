// SPDX-License-Identifier: BSL-1.0
#include <byre/config.hpp>
#include <byre/memory/detail/mappings.hpp>
#include <byre/sync/detail/mutex.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/sync/detail/published.hpp>

#include <sys/mman.h>
#include <sys/types.h>

#include <algorithm>
#include <boost/intrusive/slist.hpp>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <new>

namespace byre::inline BYRE_ABI::detail {
namespace {

/// A record of a range that the system refused to unmap. It is stored outside the range, which may
/// be write-protected or show a file.
struct RefusedRange : boost::intrusive::slist_base_hook<> {
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
  }

  /// Unmaps ranges, oldest first, until the system refuses `most_refused` of them in a row. Returns
  /// true if it unmapped any.
  bool retry(std::size_t most_refused) noexcept {
    Ranges unmapped;
    unmap_some(most_refused, unmapped);
    const bool has_unmapped = !unmapped.empty();
    unmapped.clear_and_dispose([](RefusedRange* range) noexcept { std::free(range); });
    return has_unmapped;
  }

 private:
  using Ranges = boost::intrusive::slist<RefusedRange, boost::intrusive::cache_last<true>>;

  void unmap_some(std::size_t most_refused, Ranges& unmapped) noexcept {
    const sync::ProcessLock lock(mutex_);
    std::size_t refused = 0;
    while (refused < std::min(most_refused, ranges_.size())) {
      RefusedRange& range = ranges_.front();
      const bool is_unmapped = ::munmap(range.begin, range.nbytes) == 0;
      ranges_.pop_front();
      (is_unmapped ? unmapped : ranges_).push_back(range);
      refused = is_unmapped ? 0 : refused + 1;
    }
  }

  sync::ProcessMutex mutex_;
  Ranges ranges_;
};

RefusedRanges& refused_ranges() noexcept {
  return sync::no_destructor<RefusedRanges>();
}

/// Frees the memory of a range and records the range. If the heap is full, the range is not
/// recorded: its addresses stay reserved.
void retain_range(void* begin, std::size_t nbytes) noexcept {
  ::munlock(begin, nbytes);  // MADV_DONTNEED refuses locked pages
  ::madvise(begin, nbytes, MADV_DONTNEED);
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

void* map(void* at, std::size_t nbytes, int protection, int flags, int file,
          std::int64_t offset) noexcept {
  const auto try_map = [&]() noexcept {
    return ::mmap(at, nbytes, protection, flags, file, static_cast<off_t>(offset));
  };
  void* const mapped = try_map();
  if (mapped != MAP_FAILED) {
    return mapped;
  }
  const int error = errno;
  if (refused_ranges().retry(std::numeric_limits<std::size_t>::max())) {
    return try_map();
  }
  errno = error;
  return MAP_FAILED;
}

std::byte* map_aligned(std::size_t lead, std::size_t nbytes, std::size_t alignment,
                       int protection) noexcept {
  constexpr std::size_t least_page_nbytes = 4096;  // the minimum alignment of mmap()
  const std::size_t slack = alignment > least_page_nbytes ? alignment : 0;
  void* const mapping =
      map(nullptr, lead + nbytes + slack, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) {
    return nullptr;
  }
  auto* const begin = static_cast<std::byte*>(mapping);
  std::byte* address = begin + lead;
  if (slack != 0) {
    const auto past = reinterpret_cast<std::uintptr_t>(address) % alignment;
    const std::size_t before = past == 0 ? 0 : alignment - past;
    address += before;
    unmap(begin, before);
    unmap(address + nbytes, slack - before);
  }
  return address;
}

void unmap(void* begin, std::size_t nbytes) noexcept {
  if (nbytes == 0) {
    return;
  }
  const int error = errno;
#if BYRE_CHECKS
  if (const UnmapObserver* const observer = unmap_observer.get()) {
    observer->before(static_cast<std::byte*>(begin), nbytes);
  }
#endif
  if (::munmap(begin, nbytes) != 0) {
    retain_range(begin, nbytes);
  } else {
    refused_ranges().retry(1);  // the system may now unmap a neighbor that it refused before
  }
  errno = error;
}

}  // namespace byre::inline BYRE_ABI::detail
