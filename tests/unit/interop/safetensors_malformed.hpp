// SPDX-License-Identifier: BSL-1.0
/// Models that are not what they claim, and what is said of them: the same however they are read.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "safetensors_files.hpp"

namespace byre::test {

/// What reading the file says, which is the same however it is read.
inline std::string complaint_about_model(const std::string& file) {
  const std::string complaint = complaint_of<FileError>([&] { read_model(file); });
  const TemporaryFolder folder;
  const auto path = folder / "model.safetensors";
  write_file(path, file);
  const std::string named = "\"" + path.string() + "\"";
  const std::string in_memory = "\"memory\"";
  for (const auto& read : {load_safetensors, map_safetensors}) {
    std::string on_disk = complaint_of<FileError>([&] { read(path); });
    if (const std::size_t at = on_disk.find(named); at != std::string::npos) {
      on_disk.replace(at, named.size(), in_memory);
    }
    if (!file.empty()) {  // which cannot be mapped
      EXPECT_EQ(on_disk, complaint);
    }
  }
  EXPECT_EQ(complaint.find("\"...\""), std::string::npos) << complaint;
  return complaint;
}

/// Each text has to be said of a file that is refused.
template <class... Said>
void expect_refused_model(const std::string& file, const Said&... said) {
  EXPECT_TRUE(says(complaint_about_model(file),
                   "cannot read \"memory\" as a .safetensors file: ", said...));
}

/// The header of one tensor, whose data are two bytes.
template <class... Said>
void expect_refused_entry(const std::string& entry, const Said&... said) {
  expect_refused_model(model_of("{" + entry + "}", "\1\1"), said...);
}

inline constexpr const char* an_entry = "An entry is \"name\": {\"dtype\"";

}  // namespace byre::test
