// SPDX-License-Identifier: BSL-1.0
/// What zlib does for archives: CRC-32, and data that become smaller and what they were again. A step at a time, with
/// no memory but the caller's and zlib's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

struct z_stream_s;

namespace byre::inline v0::detail {

/// Of what is deflated that is not in memory as a whole.
inline constexpr std::size_t deflate_buffer_nbytes = std::size_t{64} << 10;

/// Of bytes that follow those whose CRC is `before`.
std::uint32_t zip_crc(std::span<const std::byte> bytes, std::uint32_t before = 0) noexcept;

struct DeflateStep {
  std::size_t taken = 0;        ///< bytes of the input
  std::size_t made = 0;         ///< bytes of the output
  bool is_end = false;          ///< of the deflated data
  const char* wrong = nullptr;  ///< what is wrong with them, or null
};

/// One thread.
class Inflater {
 public:
  /// Throws OutOfMemory.
  Inflater();

  /// Inflates as much as there is input for, or room. A step that does neither lacks input.
  DeflateStep step(std::span<const std::byte> input, std::span<std::byte> output);

 private:
  struct End {
    void operator()(z_stream_s* stream) const noexcept;
  };
  std::unique_ptr<z_stream_s, End> stream_;
};

/// One thread.
class Deflater {
 public:
  /// Throws OutOfMemory.
  Deflater();

  /// Deflates as much as there is input for, or room.
  DeflateStep step(std::span<const std::byte> input, std::span<std::byte> output);
  /// What is left once all input was taken; is_end says that this was all.
  DeflateStep finish(std::span<std::byte> output);

 private:
  struct End {
    void operator()(z_stream_s* stream) const noexcept;
  };
  std::unique_ptr<z_stream_s, End> stream_;
};

}  // namespace byre::inline v0::detail
