// SPDX-License-Identifier: BSL-1.0
/// Where an archive is read from: memory, a mapping included, or an open file.
#pragma once

#include <byre/files/detail/input_file.hpp>

#include <array>
#include <cstddef>
#include <span>

namespace byre::inline v0::detail {

/// One thread. Nothing outside is read: whoever asks for that ends the program.
class ZipBytes {
 public:
  /// Both outlive this.
  explicit ZipBytes(std::span<const std::byte> memory) noexcept
      : memory_(memory), nbytes_(memory.size()) {}
  explicit ZipBytes(InputFile& file) noexcept : file_(&file), nbytes_(file.nbytes()) {}

  std::size_t nbytes() const noexcept { return nbytes_; }
  /// Copies `destination.size()` bytes from `offset` on. Throws FileError if the file cannot be read any more.
  void read(std::size_t offset, std::span<std::byte> destination) const;

 private:
  std::span<const std::byte> memory_;
  InputFile* file_ = nullptr;
  std::size_t nbytes_;
};

/// The bytes of a record whose size is fixed.
template <std::size_t nbytes>
std::array<std::byte, nbytes> read_zip_record(const ZipBytes& bytes, std::size_t offset) {
  std::array<std::byte, nbytes> record;
  bytes.read(offset, record);
  return record;
}

}  // namespace byre::inline v0::detail
