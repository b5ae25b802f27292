// SPDX-License-Identifier: BSL-1.0
/// FileName: the parameter type of functions that take the name of a file.
#pragma once

#include <byre/config.hpp>
#include <byre/error/error.hpp>

#include <algorithm>
#include <concepts>
#include <memory>
#include <new>

namespace byre::inline BYRE_ABI {

/// Converts from a C string, a std::string and a std::filesystem::path, without including the large
/// header `<filesystem>`. A FileName refers to the characters of the name, which must outlive it. A
/// null pointer is the empty name. Allocates nothing, except on Windows: there names are in UTF-8,
/// and a path, which has wide characters, is converted. Throws OutOfMemory if memory for that is
/// lacking.
class FileName {
 public:
  FileName(const char* name) noexcept : name_(name == nullptr ? "" : name) {}
  template <class Path>
  requires requires(const Path& path) {
    { path.c_str() } -> std::convertible_to<const char*>;
  }
  FileName(const Path& path) noexcept : name_(path.c_str()) {}
  template <class Path>
  requires requires(const Path& path) {
    { path.c_str() } -> std::convertible_to<const wchar_t*>;
    path.u8string();
  }
  FileName(const Path& path) try : FileName(Converted{}, path.u8string()) {
  } catch (const std::bad_alloc&) {
    throw OutOfMemory::of_heap("converting the name of a file");
  }

  const char* c_str() const noexcept { return name_; }

 private:
  struct Converted {};
  template <class Utf8>
  FileName(Converted, const Utf8& name)
      : converted_(new char[name.size() + 1]{}), name_(converted_.get()) {
    std::copy(name.begin(), name.end(), converted_.get());
  }

  std::shared_ptr<char[]> converted_;
  const char* name_;
};

}  // namespace byre::inline BYRE_ABI
