// SPDX-License-Identifier: BSL-1.0
/// The open files and the mappings of this process, by /proc. Systems without /proc show none.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <system_error>

namespace byre::test {

/// Maps the descriptors of this process's open files to the names of the files. Includes the
/// descriptor with which this function reads /proc/self/fd.
inline std::map<int, std::string> open_files() {
  std::map<int, std::string> files;
  std::error_code unreadable;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", unreadable)) {
    std::error_code is_gone;  // set for the directory's own descriptor, which is closed again
    files[std::stoi(entry.path().filename())] =
        std::filesystem::read_symlink(entry.path(), is_gone).string();
  }
  return files;
}

/// Whether `name`, of an open file or in a line of /proc/self/maps, is that of byre's memory files.
inline bool is_memory_file(const std::string& name) {
  return name.find("/memfd:byre") != std::string::npos;
}

/// The number of this process's mappings whose lines of /proc/self/maps are counted.
template <class IsCounted>
std::size_t count_mappings(const IsCounted& is_counted) {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) {
    count += is_counted(line) ? 1U : 0U;
  }
  return count;
}

}  // namespace byre::test
