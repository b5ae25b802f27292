// SPDX-License-Identifier: BSL-1.0
#include <byre/system/detail/memory_files.hpp>
#include <byre/system/detail/posix.hpp>

#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

namespace byre::inline BYRE_ABI::system {
namespace {

constexpr unsigned noexec_seal = 0x0008;   // MFD_NOEXEC_SEAL, Linux 6.3; older headers lack it
constexpr int future_write_seal = 0x0010;  // F_SEAL_FUTURE_WRITE, Linux 5.1
constexpr int size_seals = F_SEAL_SHRINK | F_SEAL_GROW;
constexpr int collapse_advice = 25;  // MADV_COLLAPSE, Linux 6.1; older headers lack it

bool may_have_files_of(std::int64_t nbytes) noexcept {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
         (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= static_cast<rlim_t>(nbytes));
}

/// Adds the seals. Returns false if the system refuses.
bool add_seals(int number, int seals) noexcept {
  // A process that has the file may have prevented further seals by F_SEAL_SEAL.
  const int present = ::fcntl(number, F_GET_SEALS);
  return present >= 0 && ((present & seals) == seals || ::fcntl(number, F_ADD_SEALS, seals) == 0);
}

/// Does not wait, because another process may hold an exclusive lock. Tries again a few times,
/// because wait_until_closed_elsewhere() of another thread holds one for a moment.
bool lock_shared(int number) noexcept {
  for (int tries = 0; tries < 100; ++tries) {
    if (::flock(number, LOCK_SH | LOCK_NB) == 0) {
      return true;
    }
    ::sched_yield();
  }
  return false;
}

bool has_seals(const Descriptor& file, int seals) noexcept {
  const int present = ::fcntl(file.number(), F_GET_SEALS);
  return present >= 0 && (present & seals) == seals;
}

}  // namespace

Descriptor create_memory_file(std::int64_t nbytes) noexcept {
#if defined(BYRE_WITHOUT_MEMFD)
  constexpr bool may_create = false;
#else
  constexpr bool may_create = true;
#endif
  if (!may_create || !may_have_files_of(nbytes)) {
    errno = may_create ? EFBIG : ENOSYS;
    return Descriptor();
  }
  Descriptor file(::memfd_create("byre", MFD_CLOEXEC | MFD_ALLOW_SEALING | noexec_seal));
  if (!file && errno == EINVAL) {
    file = Descriptor(::memfd_create("byre", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  }
  return !file || ::ftruncate(file.number(), nbytes) != 0 ? Descriptor() : std::move(file);
}

std::byte* map_memory_file(const Descriptor& file, std::int64_t offset, std::size_t nbytes,
                           Writes writes, std::byte* at) noexcept {
  const int number = file.number();
  if (number < 0) {
    return nullptr;
  }
  const int flags = (writes == Writes::to_file ? MAP_SHARED : MAP_PRIVATE) | MAP_NORESERVE |
                    (at != nullptr ? MAP_FIXED : 0);
  const int access = writes == Writes::none ? PROT_READ : PROT_READ | PROT_WRITE;
  void* const mapping = ::mmap(at, nbytes, access, flags, number, offset);
  if (mapping == MAP_FAILED) {
    errno = errno == EAGAIN ? ENOMEM : errno;  // EAGAIN: the limit of locked memory is reached
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

bool duplicate_mapping(std::byte* mapping, std::size_t nbytes, std::byte* to) noexcept {
  // With an old size of 0, mremap() duplicates shared mappings.
  return ::mremap(mapping, 0, nbytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to;
}

bool make_inaccessible(std::byte* begin, std::size_t nbytes) noexcept {
  // The pages are unmapped first, because at the limit of mappings the system would refuse the new
  // mapping.
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  return ::munmap(begin, nbytes) == 0 && ::mmap(begin, nbytes, PROT_NONE, flags, -1, 0) == begin;
}

void keep_from_children(std::byte* begin, std::size_t nbytes) noexcept {
  ::madvise(begin, nbytes, MADV_DONTFORK);
}

bool free_file_pages(std::byte* begin, std::size_t nbytes) noexcept {
  return ::madvise(begin, nbytes, MADV_REMOVE) == 0;
}

void collapse([[maybe_unused]] std::byte* begin, [[maybe_unused]] std::size_t nbytes) noexcept {
#if !defined(BYRE_WITHOUT_HUGE_PAGES)
  ::madvise(begin, nbytes, collapse_advice);
#endif
}

Descriptor duplicate_of(const Descriptor& file) noexcept {
  const int number = file.number();
  Descriptor copy(number < 0 ? -1 : ::fcntl(number, F_DUPFD_CLOEXEC, 3));
  return copy.identity() == file.identity() ? std::move(copy) : Descriptor();
}

Descriptor open_for_others(const Descriptor& file, Writers writers) noexcept {
  const int number = file.number();
  const int seals = size_seals | (writers == Writers::none ? F_SEAL_WRITE : future_write_seal);
  if (number < 0 || !add_seals(number, seals)) {
    return Descriptor();
  }
  std::array<char, 32> path{};
  std::snprintf(path.data(), path.size(), "/proc/self/fd/%d", number);
  Descriptor opened(::open(path.data(), O_RDONLY | O_CLOEXEC));
  if (!opened && writers == Writers::none) {
    return duplicate_of(file);  // there may be no /proc
  }
  const bool is_ours = opened.identity() == file.identity() && lock_shared(opened.number());
  return is_ours ? std::move(opened) : Descriptor();
}

bool is_open_elsewhere(const Descriptor& file) noexcept {
  const int number = file.number();
  if (number < 0 || ::flock(number, LOCK_EX | LOCK_NB) != 0) {
    return true;
  }
  ::flock(number, LOCK_UN);
  return false;
}

bool wait_until_closed_elsewhere(const Descriptor& file) noexcept {
  while (file.number() >= 0 && ::flock(file.number(), LOCK_EX) != 0) {
    if (errno != EINTR) {
      return false;
    }
  }
  // If the number is another file's now, is_open_elsewhere() ends the lock.
  return file.number() >= 0 && ::flock(file.number(), LOCK_UN) == 0;
}

bool keeps_its_size(const Descriptor& file) noexcept {
  return has_seals(file, F_SEAL_SHRINK);
}

bool is_constant(const Descriptor& file) noexcept {
  return has_seals(file, F_SEAL_SHRINK | F_SEAL_WRITE);
}

bool has_ordinary_pages(const Descriptor& file) noexcept {
  struct ::statfs about {};
  return ::fstatfs(file.number(), &about) == 0 &&
         static_cast<unsigned long>(about.f_type) != HUGETLBFS_MAGIC;
}

Descriptor with_spare_number(Descriptor file) noexcept {
  constexpr ::rlim_t first_high_number = 1024;
  rlimit limit{};
  if (!file || ::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return Descriptor();
  }
  const ::rlim_t first = limit.rlim_cur / 4 > first_high_number ? first_high_number : 0;
  if (first != 0) {
    file = Descriptor(::fcntl(file.number(), F_DUPFD_CLOEXEC, static_cast<int>(first)));
  }
  const int number = file.number();
  return number >= 0 && static_cast<::rlim_t>(number) - first < limit.rlim_cur / 4 ? std::move(file)
                                                                                   : Descriptor();
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
