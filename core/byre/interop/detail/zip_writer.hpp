// SPDX-License-Identifier: BSL-1.0
/// A zip archive that is written member by member, from its first byte to its last: to a pipe too.
#pragma once

#include <byre/files/output_file.hpp>
#include <byre/interop/detail/zip_records.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace byre::inline v0::detail {

/// One thread. Throws as OutputFile::write.
class ZipWriter {
 public:
  /// The file outlives this.
  explicit ZipWriter(OutputFile& file) noexcept : file_(file) {}

  /// A member of these pieces, one after the other, which begin at a multiple of 64 bytes in the file. A deflated
  /// one has a descriptor, as its size is not known before. Throws OutOfMemory.
  void add(std::string name, ZipMethod method,
           std::initializer_list<std::span<const std::byte>> pieces);
  /// The directory, once all members are there.
  void finish();

 private:
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  /// How many bytes were written.
  std::uint64_t deflate(std::initializer_list<std::span<const std::byte>> pieces);

  OutputFile& file_;
  std::uint64_t position_ = 0;
  std::uint64_t count_ = 0;
  std::string directory_;
};

}  // namespace byre::inline v0::detail
