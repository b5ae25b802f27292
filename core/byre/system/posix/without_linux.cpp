// SPDX-License-Identifier: BSL-1.0
/// What POSIX systems other than Linux have in place of Linux's own calls.
#include <byre/system/detail/faults.hpp>
#include <byre/system/detail/memory.hpp>
#include <byre/system/detail/page_map.hpp>
#include <byre/system/detail/posix.hpp>
#include <byre/system/detail/process.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>

namespace byre::inline BYRE_ABI::system {

/// Fresh pages replace the pages, because no call of POSIX frees the memory of pages.
bool discard(void* begin, std::size_t nbytes) noexcept {
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  return ::mmap(begin, nbytes, PROT_READ | PROT_WRITE, flags, -1, 0) == begin;
}

bool populate(std::byte*, std::size_t) noexcept {
  return true;
}

bool grants_huge_pages() noexcept {
  return false;
}

void advise_huge(std::byte*, std::size_t) noexcept {}

void advise_reclaimable(std::byte*, std::size_t) noexcept {}

std::uint64_t usable_memory_nbytes() noexcept {
  return physical_nbytes();
}

const char* program_name() noexcept {
  return "program";
}

const char* trusted_variable(const char* name) noexcept {
  const bool is_trusted = ::getuid() == ::geteuid() && ::getgid() == ::getegid();
  return is_trusted ? std::getenv(name) : nullptr;
}

std::uint64_t seconds() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec);
}

std::uint64_t thread_id() noexcept {
  return 0;
}

void write_thread_name(char* name, std::size_t) noexcept {
  *name = '\0';
}

byre::detail::Descriptor open_unreadable_folder(const char*) noexcept {
  errno = EACCES;
  return {};
}

bool sync_file_system(int) noexcept {
  return false;
}

bool stay_loaded() noexcept {
  return false;
}

void handle_faults(FaultUser, FaultAction) noexcept {}

PageMap::PageMap() noexcept = default;

bool PageMap::for_each_private_run(const std::byte*, std::size_t, Visit, void*) noexcept {
  return false;
}

}  // namespace byre::inline BYRE_ABI::system
