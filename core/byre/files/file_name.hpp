// SPDX-License-Identifier: BSL-1.0
/// How functions take the name of a file.
#pragma once

#include <concepts>

namespace byre::inline v0 {

/// The name of a file as a parameter: a C string, a std::string or a std::filesystem::path, whose long header is not
/// needed here. Refers to the name, which has to outlive it. A null pointer is the empty name.
class FileName {
 public:
  FileName(const char* name) noexcept : name_(name == nullptr ? "" : name) {}
  template <class Path>
  requires requires(const Path& path) {
    { path.c_str() } -> std::convertible_to<const char*>;
  }
  FileName(const Path& path) noexcept : name_(path.c_str()) {}

  const char* c_str() const noexcept { return name_; }

 private:
  const char* name_;
};

}  // namespace byre::inline v0
