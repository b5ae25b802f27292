// SPDX-License-Identifier: BSL-1.0
#include <byre/system/detail/memory_files.hpp>
#include <byre/system/detail/posix.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace byre::inline BYRE_ABI::system {
namespace {

constexpr unsigned noexec_seal = 0x0008;  // MFD_NOEXEC_SEAL, Linux 6.3; older headers lack it
constexpr int collapse_advice = 25;       // MADV_COLLAPSE, Linux 6.1; older headers lack it

bool may_have_files_of(std::int64_t nbytes) noexcept {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
         (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= static_cast<rlim_t>(nbytes));
}

}  // namespace

Descriptor create_memory_file(std::int64_t nbytes) noexcept {
#if defined(BYRE_WITHOUT_MEMFD)
  constexpr bool may_create = false;
#else
  constexpr bool may_create = true;
#endif
  if (!may_create || !may_have_files_of(nbytes)) {
    return Descriptor();
  }
  Descriptor file(::memfd_create("byre", MFD_CLOEXEC | noexec_seal));
  if (!file && errno == EINVAL) {
    file = Descriptor(::memfd_create("byre", MFD_CLOEXEC));
  }
  const int number = file.number();
  return number < 0 || ::ftruncate(number, nbytes) != 0 ? Descriptor() : std::move(file);
}

std::byte* map_memory_file(const Descriptor& file, std::int64_t offset, std::size_t nbytes,
                           Writes writes, std::byte* at) noexcept {
  const int number = file.number();
  if (number < 0) {
    return nullptr;
  }
  const int flags = (writes == Writes::to_file ? MAP_SHARED : MAP_PRIVATE) | MAP_NORESERVE |
                    (at != nullptr ? MAP_FIXED : 0);
  void* const mapping = ::mmap(at, nbytes, PROT_READ | PROT_WRITE, flags, number, offset);
  if (mapping == MAP_FAILED) {
    return nullptr;
  }
  // If the descriptor is valid now, it was valid at the call of mmap(): a memory file cannot be
  // opened again.
  if (file.number() < 0) {
    if (at == nullptr) {
      ::munmap(mapping, nbytes);
    }
    return nullptr;
  }
  return static_cast<std::byte*>(mapping);
}

bool move_mapping(std::byte* from, std::size_t nbytes, std::byte* to) noexcept {
  return ::mremap(from, nbytes, nbytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to;
}

bool make_inaccessible(std::byte* begin, std::size_t nbytes) noexcept {
  // The pages are unmapped first, because at the limit of mappings the system would refuse the new
  // mapping.
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  return ::munmap(begin, nbytes) == 0 && ::mmap(begin, nbytes, PROT_NONE, flags, -1, 0) == begin;
}

bool free_file_pages(std::byte* begin, std::size_t nbytes) noexcept {
  return ::madvise(begin, nbytes, MADV_REMOVE) == 0;
}

void collapse([[maybe_unused]] std::byte* begin, [[maybe_unused]] std::size_t nbytes) noexcept {
#if !defined(BYRE_WITHOUT_HUGE_PAGES)
  ::madvise(begin, nbytes, collapse_advice);
#endif
}

Pipe create_pipe() noexcept {
  int ends[2];
  return ::pipe2(ends, O_CLOEXEC) == 0 ? Pipe{Descriptor(ends[0]), Descriptor(ends[1])} : Pipe();
}

void wait_for_end(const Descriptor& reads) noexcept {
  char nothing = 0;
  while (reads.number() >= 0 && ::read(reads.number(), &nothing, 1) < 0 && errno == EINTR) {
  }
}

}  // namespace byre::inline BYRE_ABI::system
