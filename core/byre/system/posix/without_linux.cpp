// SPDX-License-Identifier: BSL-1.0
/// What systems other than Linux have in place of Linux's own calls.
#include <byre/system/detail/faults.hpp>
#include <byre/system/detail/memory.hpp>
#include <byre/system/detail/page_map.hpp>
#include <byre/system/detail/posix.hpp>
#include <byre/system/detail/process.hpp>

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>

namespace byre::inline BYRE_ABI::system {

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

PageMap::PageMap() noexcept : file_() {}

bool PageMap::for_each_private_run(const std::byte*, std::size_t, Visit, void*) noexcept {
  return false;
}

}  // namespace byre::inline BYRE_ABI::system
