// SPDX-License-Identifier: BSL-1.0
/// The bytes of one member of a zip archive, from the first to the last, inflated where they are deflated.
#pragma once

#include <byre/interop/detail/zip_bytes.hpp>
#include <byre/interop/detail/zip_deflate.hpp>
#include <byre/interop/detail/zip_records.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace byre::inline v0::detail {

/// One thread. Throws FileError, which names `source`, if the bytes are not what the directory says.
class ZipMemberReader {
 public:
  /// Of a member that read_zip_directory found. All outlive this. Throws OutOfMemory.
  ZipMemberReader(const ZipBytes& bytes, const ZipMember& member, const char* source);

  /// The bytes that follow those read before: no more than the member has.
  void read(std::span<std::byte> destination);
  /// Once all were read: that no more follow, and that they have the CRC of the directory.
  void finish();

 private:
  void inflate(std::span<std::byte> destination);
  /// What one step makes, which may be nothing once the data end.
  std::size_t inflate_some(std::span<std::byte> destination);
  void refuse_length() const;

  const ZipBytes& bytes_;
  const ZipMember& member_;
  const char* source_;
  std::size_t position_;  // of the next byte in the archive
  std::size_t left_;      // bytes in the archive that are not in input_ yet
  std::uint32_t crc_ = 0;
  std::optional<Inflater> inflater_;
  std::vector<std::byte> buffer_;
  std::span<const std::byte> input_;  // of buffer_, not yet inflated
  bool is_end_ = false;
};

}  // namespace byre::inline v0::detail
