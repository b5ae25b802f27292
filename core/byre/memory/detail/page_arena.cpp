// SPDX-License-Identifier: BSL-1.0
#include <byre/memory/detail/page_arena.hpp>

#if defined(__linux__)

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <new>

namespace byre::inline v0::detail {
namespace {

/// Offsets are not used again, so this is how much can ever be taken of one file.
constexpr std::int64_t most_nbytes =
    sizeof(std::size_t) == 8 ? std::int64_t{1} << 46 : std::int64_t{1} << 42;

}  // namespace

std::unique_ptr<PageArena> PageArena::create() {
  if (!may_be_written(most_nbytes)) {
    return nullptr;
  }
  const int file = ::memfd_create("byre", MFD_CLOEXEC);
  if (file < 0) {
    return nullptr;
  }
  std::unique_ptr<PageArena> arena;
  if (::ftruncate(file, most_nbytes) == 0) {
    try {
      arena.reset(new PageArena(file));
    } catch (...) {
      ::close(file);
      throw;
    }
  }
  if (arena == nullptr) {
    ::close(file);
  }
  return arena;
}

/// To write beyond the limit raises SIGXFSZ.
bool PageArena::may_be_written(std::int64_t end) noexcept {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
         (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= static_cast<rlim_t>(end));
}

PageArena::~PageArena() {
  ::close(file_);
}

std::int64_t PageArena::take(std::size_t nbytes, std::size_t alignment) noexcept {
  const auto step = static_cast<std::int64_t>(alignment);
  const std::int64_t offset = (end_ + step - 1) / step * step;
  const auto wanted = static_cast<std::int64_t>(nbytes);
  if (wanted > most_nbytes - offset) {
    return -1;
  }
  end_ = offset + wanted;
  ++ranges_;
  return offset;
}

void PageArena::free_memory_of(std::int64_t offset, std::size_t nbytes) const noexcept {
  ::fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset,
              static_cast<off_t>(nbytes));
}

}  // namespace byre::inline v0::detail

#endif
