// SPDX-License-Identifier: BSL-1.0
/// FileName: the parameter type of functions that take the name of a file.
#pragma once

#include <byre/config.hpp>

#include <concepts>

namespace byre::inline BYRE_ABI {

/// Converts from a C string, a std::string and a std::filesystem::path, without including the large
/// header `<filesystem>`. A FileName refers to the characters of the name, which must outlive it. A
/// null pointer is the empty name. Allocates nothing.
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

}  // namespace byre::inline BYRE_ABI
