// SPDX-License-Identifier: BSL-1.0

#if defined(__linux__)

#include <byre/pages/detail/memory_files.hpp>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace byre::inline BYRE_ABI::detail {
namespace {

constexpr unsigned noexec_seal = 0x0008;  // MFD_NOEXEC_SEAL, Linux 6.3; older headers lack it

/// An unused gap behind each range. Without the gap, the system would merge mappings that are
/// adjacent both in the file and in memory. Unmapping or replacing a part of a merged mapping needs
/// one mapping more, which the system may refuse.
constexpr std::int64_t gap_nbytes = page_nbytes;

Descriptor create_memory_file() noexcept {
  Descriptor file(::memfd_create("byre", MFD_CLOEXEC | noexec_seal));
  return !file && errno == EINVAL ? Descriptor(::memfd_create("byre", MFD_CLOEXEC))
                                  : std::move(file);
}

/// False if the process's limit of file sizes is below `nbytes`: writing beyond the limit would
/// raise SIGXFSZ.
bool may_have_files_of(std::int64_t nbytes) noexcept {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
         (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= static_cast<rlim_t>(nbytes));
}

}  // namespace

std::unique_ptr<PageArena> PageArena::create() {
  if (!may_have_files_of(most_nbytes)) {
    return nullptr;
  }
  Descriptor file = create_memory_file();
  const int number = file.number();
  if (number < 0 || ::ftruncate(number, most_nbytes) != 0) {
    return nullptr;
  }
  return std::unique_ptr<PageArena>(new PageArena(std::move(file)));
}

bool PageArena::take(PageRange& range, std::size_t nbytes, std::size_t alignment) noexcept {
  if (nbytes > static_cast<std::uint64_t>(most_nbytes - gap_nbytes)) {
    return false;
  }
  const auto wanted = static_cast<std::int64_t>(nbytes);
  const auto multiple = static_cast<std::int64_t>(alignment);
  return take_from(next_, range, wanted, multiple) || take_from(0, range, wanted, multiple);
}

bool PageArena::take_from(std::int64_t begin, PageRange& range, std::int64_t nbytes,
                          std::int64_t alignment) noexcept {
  const auto round_up = [alignment](std::int64_t offset) {
    return (offset + alignment - 1) / alignment * alignment;
  };
  std::int64_t offset = round_up(begin);
  for (auto next = ranges_.lower_bound(begin);; ++next) {
    const std::int64_t end = next == ranges_.end() ? most_nbytes : next->offset;
    if (nbytes + gap_nbytes <= end - offset) {
      range.arena = this;
      range.offset = offset;
      range.nbytes = static_cast<std::size_t>(nbytes);
      ranges_.insert(range);
      next_ = offset + nbytes + gap_nbytes;
      return true;
    }
    if (next == ranges_.end()) {
      return false;
    }
    offset = round_up(next->offset + static_cast<std::int64_t>(next->nbytes) + gap_nbytes);
  }
}

bool PageArena::put_back(PageRange& range) noexcept {
  ranges_.erase(ranges_.iterator_to(range));
  range.arena = nullptr;
  return is_retired_ && ranges_.empty();
}

std::byte* PageArena::map(const PageRange& range, int flags, std::byte* address) const noexcept {
  const int number = file_.number();
  if (number < 0) {
    return nullptr;
  }
  void* const mapping =
      ::mmap(address, range.nbytes, PROT_READ | PROT_WRITE,
             flags | MAP_NORESERVE | (address != nullptr ? MAP_FIXED : 0), number, range.offset);
  if (mapping == MAP_FAILED) {
    return nullptr;
  }
  // If the descriptor is valid now, it was valid at the call of mmap(): a memory file cannot be
  // opened again.
  if (!is_open()) {
    if (address == nullptr) {
      ::munmap(mapping, range.nbytes);
    }
    return nullptr;
  }
  return static_cast<std::byte*>(mapping);
}

}  // namespace byre::inline BYRE_ABI::detail

#endif
