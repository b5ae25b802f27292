// SPDX-License-Identifier: BSL-1.0
#include <byre/memory/detail/mappings.hpp>

#include <byre/error/detail/assert.hpp>
#include <byre/system/detail/faults.hpp>
#include <byre/system/detail/memory_files.hpp>
#include <byre/system/detail/process.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace byre::inline BYRE_ABI::detail {
namespace {

struct Range {
  std::uintptr_t begin;
  std::uintptr_t end;
};

// The signal handler reads these variables, so they use no heap. The only thread of a new child
// process writes them; afterwards they are constant.
constinit std::array<Range, 4096> lost{};
constinit std::size_t lost_count = 0;

constexpr std::string_view refused_access =
    "byre: cannot access paged data in this forked process: the system refused the parent a "
    "private mapping of the data, and this process a copy. Raise the limits (vm.max_map_count, "
    "RLIMIT_DATA, RLIMIT_AS, RLIMIT_MEMLOCK, or the memory that may be committed), or do not use "
    "the data in the child.\n";

bool end_use_of_lost_pages(const void* address) noexcept {
  if (!is_lost(address)) {
    return false;
  }
  system::write_to_stderr(refused_access.data(), refused_access.size());
  std::abort();
}

void remember(Range range) noexcept {
  if (lost_count < lost.size()) {
    lost[lost_count++] = range;
    return;
  }
  // The merged range also covers addresses between lost ranges. An access there prints the message,
  // but would have failed anyway.
  Range& last = lost.back();
  last = {std::min(last.begin, range.begin), std::max(last.end, range.end)};
}

}  // namespace

bool is_lost(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto contains = [at](const Range& range) { return range.begin <= at && at < range.end; };
  return std::any_of(lost.begin(), lost.begin() + lost_count, contains);
}

void lose_pages(std::byte* data, std::size_t nbytes) noexcept {
  BYRE_ASSERT(system::make_inaccessible(data, nbytes),
              "cannot remove paged data from a forked process that has no copy of it");
  system::handle_faults(system::FaultUser::lost_pages, &end_use_of_lost_pages);
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  remember({begin, begin + nbytes});
}

}  // namespace byre::inline BYRE_ABI::detail
