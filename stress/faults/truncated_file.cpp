// SPDX-License-Identifier: BSL-1.0
#include "truncated_file.hpp"

#include <byre/memory/pages.hpp>
#include <byre/storage/storage.hpp>

#include <csignal>
#include <filesystem>
#include <stdexcept>

#include "../mixed/files.hpp"
#include "support/child_process.hpp"

namespace byre::stress {
namespace {

constexpr std::size_t whole_nbytes = 4 * page_nbytes;
constexpr Content in_file{1, 1};
constexpr Content written{2, 1};
constexpr std::chrono::minutes patience{2};

void expect(bool holds, const char* otherwise) {
  if (!holds) {
    throw std::runtime_error(otherwise);
  }
}

/// Reads the pages that are left, then one that is not.
void read_truncated(const std::filesystem::path& path, std::size_t left_nbytes) {
  // A sanitizer would turn the signal into a report of its own.
  std::signal(SIGBUS, SIG_DFL);
  const Storage mapped = Storage::map_file(path);
  Storage clone = mapped.lazy_clone();
  Storage changed_copy = mapped.lazy_clone();
  Storage copy = mapped.lazy_clone();
  write_content(changed_copy.mutable_data(), whole_nbytes, written);
  copy.materialize();

  std::filesystem::resize_file(path, left_nbytes);
  const std::size_t left_pages_nbytes = left_nbytes / page_nbytes * page_nbytes;
  expect(reads(mapped.data(), left_pages_nbytes, in_file, whole_nbytes),
         "lost a page that is still there");
  expect(reads(changed_copy.data(), whole_nbytes, written, whole_nbytes),
         "changed a clone that had been written before");
  expect(reads(copy.data(), whole_nbytes, in_file, whole_nbytes),
         "changed a clone that had been copied before");
  // A write copies, and so reads a page that is gone.
  clone.materialize();
  throw std::runtime_error("was read beyond its end");
}

std::string text_of(const test::ChildResult& result) {
  return result.exit.code() ? result.output.substr(0, result.output.find('\n'))
                            : "ended its reader by " + result.exit.text() + ", not SIGBUS";
}

}  // namespace

std::vector<std::string> survive_truncated_files(FaultCount& count) {
  std::vector<std::string> failures;
  const test::TemporaryFolder folder;
  for (const std::size_t left_nbytes : {std::size_t{0}, page_nbytes, 2 * page_nbytes}) {
    const auto path = folder / std::to_string(left_nbytes);
    write_content_file(path, whole_nbytes, in_file);
    ++count.injected;
    const auto result =
        test::run_in_child([&](int) { read_truncated(path, left_nbytes); }, patience);
    if (result.exit.signal() == SIGBUS) {
      ++count.survived;
    } else {
      failures.push_back("a file truncated to " + std::to_string(left_nbytes) + " bytes " +
                         text_of(result));
    }
  }
  return failures;
}

}  // namespace byre::stress
