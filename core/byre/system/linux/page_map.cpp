// SPDX-License-Identifier: BSL-1.0
#include <byre/system/detail/files.hpp>
#include <byre/system/detail/memory.hpp>
#include <byre/system/detail/page_map.hpp>

#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace byre::inline BYRE_ABI::system {
namespace {

#if !defined(BYRE_WITHOUT_PAGEMAP_SCAN)

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

/// scan() and read() return what for_each_private_run() returns.
bool scan(const Descriptor& file, const std::byte* begin, std::size_t nbytes, PageMap::Visit visit,
          void* context) noexcept {
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
  while (arguments.begin < arguments.end) {
    const int found = ::ioctl(file.number(), _IOWR('f', 16, ScanArguments), &arguments);
    if (found < 0 || arguments.walk_end <= arguments.begin) {
      return false;
    }
    for (std::size_t index = 0; index < static_cast<std::size_t>(found); ++index) {
      const PageRegion& region = regions[index];
      if (!visit(context, static_cast<std::size_t>(region.begin - first),
                 static_cast<std::size_t>(region.end - region.begin))) {
        return true;
      }
    }
    arguments.begin = arguments.walk_end;
  }
  return true;
}

#endif

using Entries = std::array<std::uint64_t, 512>;

std::uint64_t offset_of_entry(const void* address, std::size_t page) noexcept {
  return reinterpret_cast<std::uintptr_t>(address) / page * sizeof(std::uint64_t);
}

bool is_private(std::uint64_t entry) noexcept {
  constexpr std::uint64_t of_file_bit = std::uint64_t{1} << 61U;
  constexpr std::uint64_t somewhere_bits = std::uint64_t{3} << 62U;  // in memory, or swapped out
  return (entry & somewhere_bits) != 0 && (entry & of_file_bit) == 0;
}

/// Returns false if the program runs under an emulator that shows the pages of the emulator's own
/// process. Such an emulator does not report the page of `written` as private, although the caller
/// has just written this page.
bool knows_this_process(const Descriptor& file, const Entries& written, std::size_t page) noexcept {
  std::uint64_t entry = 0;
  return read_at(file, &entry, sizeof entry, offset_of_entry(written.data(), page)) ==
             sizeof entry &&
         is_private(entry);
}

bool read(const Descriptor& file, const std::byte* begin, std::size_t nbytes, PageMap::Visit visit,
          void* context) noexcept {
  const std::size_t page = actual_page_nbytes();
  Entries entries{};
  if (!knows_this_process(file, entries, page)) {
    return false;
  }
  const std::size_t pages = nbytes / page;
  for (std::size_t done = 0; done < pages;) {
    const std::size_t wanted = std::min(entries.size(), pages - done);
    const std::ptrdiff_t got = read_at(file, entries.data(), wanted * sizeof(entries[0]),
                                       offset_of_entry(begin + done * page, page));
    if (got <= 0) {
      return false;
    }
    const std::size_t count = static_cast<std::size_t>(got) / sizeof(entries[0]);
    for (std::size_t index = 0; index < count; ++index) {
      if (is_private(entries[index]) && !visit(context, (done + index) * page, page)) {
        return true;
      }
    }
    done += count;
  }
  return true;
}

}  // namespace

#if defined(BYRE_WITHOUT_PAGEMAP)
PageMap::PageMap() noexcept : file_() {}
#else
PageMap::PageMap() noexcept : file_(open_to_read("/proc/self/pagemap")) {}
#endif

bool PageMap::for_each_private_run(const std::byte* begin, std::size_t nbytes, Visit visit,
                                   void* context) noexcept {
  if (!file_) {
    return false;
  }
#if !defined(BYRE_WITHOUT_PAGEMAP_SCAN)
  if (scan(file_, begin, nbytes, visit, context)) {
    return true;
  }
#endif
  return read(file_, begin, nbytes, visit, context);
}

}  // namespace byre::inline BYRE_ABI::system
