// SPDX-License-Identifier: BSL-1.0
#include <byre/memory/detail/mappings.hpp>

#if defined(__linux__)

#include <byre/error/detail/assert.hpp>
#include <byre/system/detail/previous_handler.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
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
constinit PreviousHandler previous;

constexpr std::string_view message =
    "byre: cannot access paged data in this forked process: the system refused the parent a "
    "private mapping of the data, and this process a copy. Raise the limits (vm.max_map_count, "
    "RLIMIT_DATA, RLIMIT_AS, RLIMIT_MEMLOCK, or the memory that may be committed), or do not use "
    "the data in the child.\n";

void end_use_of_lost_pages(int signal, siginfo_t* info, void* context) noexcept {
  if (is_lost(info->si_addr)) {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, message.data(), message.size());
    std::abort();
  }
  previous.forward(signal, info, context);
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
  // The pages are unmapped first, because at the limit of mappings the system would refuse the new
  // mapping.
  const bool is_gone =
      ::munmap(data, nbytes) == 0 &&
      ::mmap(data, nbytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
             0) == data;
  BYRE_ASSERT(is_gone, "cannot remove paged data from a forked process that has no copy of it");
  previous.install_if_other(&end_use_of_lost_pages);
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  remember({begin, begin + nbytes});
}

}  // namespace byre::inline BYRE_ABI::detail

#endif
