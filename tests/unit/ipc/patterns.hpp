// SPDX-License-Identifier: BSL-1.0
/// Buffers with a pattern of bytes, and their exports within one process.
#pragma once

#include <byre/ipc/exported_pages.hpp>
#include <byre/memory/pages.hpp>
#include <byre/pages/paged_allocator.hpp>

#include <cstddef>

#include "../pages/paged_buffers.hpp"

namespace byre::test {

/// Byte `at` of the test data.
inline std::byte pattern(std::size_t at) noexcept {
  return static_cast<std::byte>((at * 7 + at / page_nbytes) % 251);
}

inline void fill(std::byte* data, std::size_t nbytes) {
  for (std::size_t at = 0; at < nbytes; ++at) {
    data[at] = pattern(at);
  }
}

/// The first byte that differs from the pattern, or nbytes.
inline std::size_t first_difference(const std::byte* data, std::size_t nbytes) {
  std::size_t at = 0;
  while (at < nbytes && data[at] == pattern(at)) {
    ++at;
  }
  return at;
}

inline Buffer patterned(std::size_t nbytes, Allocator& allocator = paged_allocator()) {
  Buffer buffer = Buffer::allocate(nbytes, allocator);
  fill(buffer.mutable_data(), nbytes);
  return buffer;
}

/// Exports and imports in this process.
template <class Data>
Data transferred(const Data& data) {
  const ExportedPages exported = export_pages(data);
  return import_pages<Data>(exported.message(), exported.descriptors());
}

inline std::size_t copied_by_export(const Buffer& buffer) {
  return export_pages(buffer).copied_nbytes();
}

}  // namespace byre::test
