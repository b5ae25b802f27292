// SPDX-License-Identifier: BSL-1.0
#include "truncated_file.hpp"

#include <byre/memory/pages.hpp>
#include <byre/storage/storage.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "../content/content.hpp"
#include "../world/files.hpp"

namespace byre::stress {
namespace {

constexpr std::size_t whole_nbytes = 4 * page_nbytes;
constexpr Content in_file{1, 1};
constexpr Content written{2, 1};

/// What the process of the mapping exits with if it outlives its last read, or finds wrong bytes.
enum Exit : int { outlived = 10, lost_a_page, lost_a_clone, changed_a_copy };

/// Reads what is left, then what is not.
[[noreturn]] void read_truncated(const std::filesystem::path& path, std::size_t left_nbytes) {
  // A sanitizer would turn the signal into a report of its own.
  std::signal(SIGBUS, SIG_DFL);
  const Storage mapped = Storage::map_file(path);
  Storage clone = mapped.lazy_clone();
  Storage copy = mapped.lazy_clone();
  Storage copy_as_it_was = mapped.lazy_clone();
  write_content(copy.mutable_data(), whole_nbytes, written);
  copy_as_it_was.materialize();

  std::filesystem::resize_file(path, left_nbytes);
  const std::size_t left_pages_nbytes = left_nbytes / page_nbytes * page_nbytes;
  if (!reads(mapped.data(), left_pages_nbytes, in_file, whole_nbytes)) {
    _exit(lost_a_page);
  }
  if (!reads(copy.data(), whole_nbytes, written, whole_nbytes)) {
    _exit(changed_a_copy);
  }
  if (!reads(copy_as_it_was.data(), whole_nbytes, in_file, whole_nbytes)) {
    _exit(lost_a_clone);
  }
  // A write has to copy, and so to read what is gone.
  clone.materialize();
  _exit(outlived);
}

int in_child(const std::filesystem::path& path, std::size_t left_nbytes) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) {
    throw std::system_error(errno, std::generic_category(), "no process for a truncated file");
  }
  if (child == 0) {
    read_truncated(path, left_nbytes);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::string fault_in(int status) {
  if (WIFSIGNALED(status)) {
    return WTERMSIG(status) == SIGBUS
               ? ""
               : "ended its reader by signal " + std::to_string(WTERMSIG(status)) + ", not SIGBUS";
  }
  switch (WEXITSTATUS(status)) {
    case outlived:
      return "was read beyond its end";
    case lost_a_page:
      return "lost a page that is still there";
    case lost_a_clone:
      return "changed a clone that had been copied before";
    case changed_a_copy:
      return "changed a clone that had been written before";
    default:
      return "ended its reader with " + std::to_string(WEXITSTATUS(status));
  }
}

}  // namespace

std::vector<std::string> survive_truncated_files(FaultCount& count) {
  std::vector<std::string> failures;
  const TemporaryFolder folder;
  for (const std::size_t left_nbytes : {std::size_t{0}, page_nbytes, 2 * page_nbytes}) {
    const auto path = folder.path() / std::to_string(left_nbytes);
    write_file(path, whole_nbytes, in_file);
    ++count.injected;
    const std::string fault = fault_in(in_child(path, left_nbytes));
    if (fault.empty()) {
      ++count.survived;
    } else {
      failures.push_back("a file truncated to " + std::to_string(left_nbytes) + " bytes " + fault);
    }
  }
  return failures;
}

}  // namespace byre::stress
