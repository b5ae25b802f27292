// SPDX-License-Identifier: BSL-1.0
// This file has more than 300 lines because it contains three methods of finding written pages,
// tried in this order: scan, page map, comparison.
#include <byre/memory/pages.hpp>
#include <byre/pages/detail/page_file.hpp>
#include <byre/system/detail/descriptor.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>

#if defined(__linux__)
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace byre::inline BYRE_ABI::detail {
namespace {

/// If at most an eighth of all pages was written, copying only these pages costs less than copying
/// all bytes. If more pages were written, a full copy costs less, because each page that is written
/// later in an overlay costs a page fault. docs/parts.md lists the figures.
constexpr std::size_t moved_pages_divisor = 8;

/// Copies a run of pages to another mapping. Returns false if memory for them is lacking.
bool copy_run(std::byte* to, const std::byte* from, std::size_t nbytes) noexcept {
  if (!populate_for_writes(to, nbytes)) {
    return false;
  }
  std::memcpy(to, from, nbytes);
  return true;
}

/// Passes runs of pages to `take` and sums up their bytes. Stops if `take` returns false, or before
/// the sum would exceed the limit.
template <class Take>
class Limited {
 public:
  Limited(Take take, std::size_t limit) noexcept : take_(take), most_nbytes_(limit) {}

  void operator()(std::size_t offset, std::size_t nbytes) noexcept {
    failed_ = failed_ || nbytes > most_nbytes_ - nbytes_ || !take_(offset, nbytes);
    nbytes_ += failed_ ? 0 : nbytes;
  }

  bool failed() const noexcept { return failed_; }
  std::optional<std::size_t> taken() const noexcept {
    return failed_ ? std::nullopt : std::optional(nbytes_);
  }

 private:
  Take take_;
  const std::size_t most_nbytes_;
  std::size_t nbytes_ = 0;
  bool failed_ = false;
};

/// The method for systems that do not report written pages. Visits the pages of `written` that
/// differ from the file's pages.
template <class Visit>
void for_each_differing_page(const std::byte* shown, const std::byte* written, std::size_t nbytes,
                             std::size_t page, Visit& visit) noexcept {
  for (std::size_t at = 0; at < nbytes && !visit.failed(); at += page) {
    if (std::memcmp(shown + at, written + at, page) != 0) {
      visit(at, page);
    }
  }
}

#if defined(__linux__)

/// These declarations are those of Linux 6.7; older headers lack them.
struct PageRegion {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t categories;
};
struct ScanArguments {
  std::uint64_t size;
  std::uint64_t flags;
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t walk_end;
  std::uint64_t regions;
  std::uint64_t most_regions;
  std::uint64_t most_pages;
  std::uint64_t inverted;
  std::uint64_t all_of;
  std::uint64_t any_of;
  std::uint64_t returned;
};
constexpr std::uint64_t is_of_file = 1U << 2U;
constexpr std::uint64_t is_present = 1U << 3U;
constexpr std::uint64_t is_swapped = 1U << 4U;

/// The system's information about the pages of this process. The file is opened for each use,
/// because after a fork it would still describe the pages of the parent.
class PageMap {
 public:
  PageMap() noexcept : file_(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}

  /// Calls `visit(offset, nbytes)` for runs of private pages. Returns false if the system does not
  /// report them; some runs may have been visited by then.
  template <class Visit>
  bool for_each_private_run(const std::byte* begin, std::size_t nbytes, std::size_t page,
                            Visit& visit) noexcept {
    return file_ && (scan(begin, nbytes, visit) || read(begin, nbytes, page, visit));
  }

 private:
  template <class Visit>
  bool scan(const std::byte* begin, std::size_t nbytes, Visit& visit) noexcept {
    const auto first = reinterpret_cast<std::uintptr_t>(begin);
    std::array<PageRegion, 128> regions{};
    ScanArguments arguments{.size = sizeof(ScanArguments),
                            .flags = 0,
                            .begin = first,
                            .end = first + nbytes,
                            .walk_end = 0,
                            .regions = reinterpret_cast<std::uintptr_t>(regions.data()),
                            .most_regions = regions.size(),
                            .most_pages = 0,
                            .inverted = is_of_file,
                            .all_of = is_of_file,
                            .any_of = is_present | is_swapped,
                            .returned = is_of_file};
    while (arguments.begin < arguments.end && !visit.failed()) {
      const int found = ::ioctl(file_.number(), _IOWR('f', 16, ScanArguments), &arguments);
      if (found < 0 || arguments.walk_end <= arguments.begin) {
        return false;
      }
      for (std::size_t index = 0; index < static_cast<std::size_t>(found); ++index) {
        const PageRegion& region = regions[index];
        visit(static_cast<std::size_t>(region.begin - first),
              static_cast<std::size_t>(region.end - region.begin));
      }
      arguments.begin = arguments.walk_end;
    }
    return true;
  }

  template <class Visit>
  bool read(const std::byte* begin, std::size_t nbytes, std::size_t page, Visit& visit) noexcept {
    std::array<std::uint64_t, 512> entries{};
    if (!knows_this_process(entries, page)) {
      return false;
    }
    const std::uint64_t first = page_number(begin, page);
    const std::size_t pages = nbytes / page;
    for (std::size_t done = 0; done < pages && !visit.failed();) {
      const std::size_t wanted = std::min(entries.size(), pages - done);
      const ssize_t got = ::pread(file_.number(), entries.data(), wanted * sizeof(entries[0]),
                                  static_cast<off_t>((first + done) * sizeof(entries[0])));
      if (got <= 0) {
        return false;
      }
      const std::size_t count = static_cast<std::size_t>(got) / sizeof(entries[0]);
      for (std::size_t index = 0; index < count; ++index) {
        if (is_private(entries[index])) {
          visit((done + index) * page, page);
        }
      }
      done += count;
    }
    return true;
  }

  /// Returns false if the program runs under an emulator that shows the pages of the emulator's own
  /// process. Such an emulator does not report the page of `written` as private, although the
  /// caller has just written this page.
  bool knows_this_process(std::array<std::uint64_t, 512>& written,
                          std::size_t page) const noexcept {
    std::uint64_t entry = 0;
    return ::pread(file_.number(), &entry, sizeof entry,
                   static_cast<off_t>(page_number(written.data(), page) * sizeof entry)) ==
               sizeof entry &&
           is_private(entry);
  }

  static std::uint64_t page_number(const void* address, std::size_t page) noexcept {
    return reinterpret_cast<std::uintptr_t>(address) / page;
  }

  static bool is_private(std::uint64_t entry) noexcept {
    constexpr std::uint64_t of_file_bit = std::uint64_t{1} << 61U;
    constexpr std::uint64_t somewhere_bits = std::uint64_t{3} << 62U;  // in memory, or swapped out
    return (entry & somewhere_bits) != 0 && (entry & of_file_bit) == 0;
  }

  const Descriptor file_;
};

std::size_t system_page_nbytes() noexcept {
  return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

#endif

/// Passes the runs of pages that were written in the mapping `written` to `take`. `shown` maps the
/// file's bytes, for a comparison if the system does not report written pages.
template <class Take>
std::optional<std::size_t> take_written_pages(const std::byte* shown, const std::byte* written,
                                              std::size_t nbytes, MovedPages moved,
                                              Take take) noexcept {
  Limited visit(take, moved == MovedPages::few ? nbytes / moved_pages_divisor
                                               : std::numeric_limits<std::size_t>::max());
#if defined(__linux__)
  const std::size_t page = system_page_nbytes();
  nbytes = (nbytes + page - 1) / page * page;  // the last page of a file may be partial
  if (!PageMap().for_each_private_run(written, nbytes, page, visit)) {
    for_each_differing_page(shown, written, nbytes, page, visit);
  }
#else
  for_each_differing_page(shown, written, nbytes, page_nbytes, visit);
#endif
  return visit.taken();
}

struct CountBytes {
  std::size_t nbytes = 0;

  void operator()(std::size_t, std::size_t run_nbytes) noexcept { nbytes += run_nbytes; }
  static bool failed() noexcept { return false; }
};

}  // namespace

bool is_much_written(const std::byte* mapping, std::size_t nbytes) noexcept {
#if defined(__linux__)
  constexpr std::size_t most_samples = 64;
  const std::size_t page = system_page_nbytes();
  const std::size_t pages = nbytes / page;
  const std::size_t samples = std::min(most_samples, pages);
  PageMap map;
  CountBytes written;
  for (std::size_t index = 0; index < samples; ++index) {
    if (!map.for_each_private_run(mapping + pages * index / samples * page, page, page, written)) {
      return false;
    }
  }
  return written.nbytes > samples * page / moved_pages_divisor;
#else
  return false;
#endif
}

void for_each_written_run(const std::byte* mapping, std::size_t nbytes,
                          void (*visit)(void* context, std::size_t offset,
                                        std::size_t nbytes) noexcept,
                          void* context) noexcept {
#if defined(__linux__)
  struct Visit {
    decltype(visit) call;
    void* context;
    std::size_t begin = 0;
    std::size_t end = 0;

    /// The system may report one run in several parts; joins them.
    void operator()(std::size_t offset, std::size_t run_nbytes) noexcept {
      if (offset != end) {
        flush();
        begin = offset;
      }
      end = offset + run_nbytes;
    }
    void flush() const noexcept {
      if (end != begin) {
        call(context, begin, end - begin);
      }
    }
    static bool failed() noexcept { return false; }
  } runs{visit, context};
  PageMap().for_each_private_run(mapping, nbytes, system_page_nbytes(), runs);
  runs.flush();
#endif
}

std::size_t count_written_pages(const void* mapping, std::size_t nbytes) noexcept {
  CountBytes count;
#if defined(__linux__)
  const std::size_t page = system_page_nbytes();
  nbytes = (nbytes + page - 1) / page * page;
  if (!PageMap().for_each_private_run(static_cast<const std::byte*>(mapping), nbytes, page,
                                      count)) {
    count.nbytes = 0;
  }
#endif
  return count.nbytes;
}

std::optional<std::size_t> copy_written_pages(std::byte* to, const std::byte* from,
                                              std::size_t nbytes) noexcept {
  return take_written_pages(to, from, nbytes, MovedPages::few,
                            [&](std::size_t offset, std::size_t run_nbytes) noexcept {
                              return copy_run(to + offset, from + offset, run_nbytes);
                            });
}

std::optional<std::size_t> write_back_pages(std::byte* shown, const std::byte* mapping,
                                            std::size_t nbytes, MovedPages moved,
                                            bool (*end_run)(void* context, std::size_t offset,
                                                            std::size_t nbytes) noexcept,
                                            void* context) noexcept {
  return take_written_pages(shown, mapping, nbytes, moved,
                            [&](std::size_t offset, std::size_t run_nbytes) noexcept {
                              return copy_run(shown + offset, mapping + offset, run_nbytes) &&
                                     end_run(context, offset, run_nbytes);
                            });
}

}  // namespace byre::inline BYRE_ABI::detail
