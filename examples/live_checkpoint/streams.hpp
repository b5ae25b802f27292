// SPDX-License-Identifier: BSL-1.0
/// Sequences of numbers and of streams. A stream is a sequence of bytes that zstd compresses, if
/// the program is built with zstd and the stream becomes smaller:
///
///     word    size of the bytes
///     word    size of the stored bytes; compressed if it is smaller than the size of the bytes
///     bytes   the stored bytes: a frame of zstd (RFC 8878), or the bytes themselves
///
/// A word is a little-endian 64-bit number. A number is an unsigned LEB128 number: its lowest 7
/// bits first, and the highest bit of a byte is set if another byte follows.
#pragma once

#include "failure.hpp"

#ifdef EXAMPLES_WITH_ZSTD
#include <zstd.h>
#endif

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace examples::live_checkpoint {

#ifdef EXAMPLES_WITH_ZSTD
inline constexpr bool has_zstd = true;
#else
inline constexpr bool has_zstd = false;
#endif

using Bytes = std::vector<std::byte>;

inline constexpr std::size_t word_nbytes = 8;

inline void put_word(std::uint64_t word, Bytes& to) {
  for (std::size_t byte = 0; byte < word_nbytes; ++byte) {
    to.push_back(static_cast<std::byte>(word >> 8 * byte));
  }
}

inline void put_number(std::uint64_t number, Bytes& to) {
  for (; number >= 0x80; number >>= 7) {
    to.push_back(static_cast<std::byte>(number | 0x80));
  }
  to.push_back(static_cast<std::byte>(number));
}

/// Bytes are not as their format describes. The text is a clause that ends a sentence.
class Malformed : public Failure {
 public:
  using Failure::Failure;
};

/// Reads bytes in order. The members throw Malformed.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) : left_(bytes) {}

  bool is_at_end() const noexcept { return left_.empty(); }

  std::span<const std::byte> take(std::uint64_t nbytes) {
    if (nbytes > left_.size()) {
      throw Malformed("it ends too early: " + std::to_string(nbytes) + " bytes are needed, " +
                      std::to_string(left_.size()) + " are left");
    }
    const auto taken = left_.first(static_cast<std::size_t>(nbytes));
    left_ = left_.subspan(taken.size());
    return taken;
  }

  std::uint64_t word() {
    const auto bytes = take(word_nbytes);
    std::uint64_t word = 0;
    for (std::size_t byte = word_nbytes; byte-- > 0;) {
      word = word << 8 | std::to_integer<std::uint64_t>(bytes[byte]);
    }
    return word;
  }

  std::uint64_t number() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
      const auto byte = std::to_integer<std::uint64_t>(take(1)[0]);
      number |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        return number;
      }
    }
    throw Malformed("a number has more than 63 bits");
  }

 private:
  std::span<const std::byte> left_;
};

/// Appends a stream, compressed at the level `level` of zstd; 0 stores the bytes themselves.
inline void put_stream(std::span<const std::byte> bytes, int level, Bytes& to) {
  put_word(bytes.size(), to);
#ifdef EXAMPLES_WITH_ZSTD
  if (level != 0) {
    Bytes packed(bytes.size());
    // An error is a large number. It includes that the result needs more room than the bytes.
    const std::size_t nbytes =
        ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), level);
    if (nbytes < bytes.size()) {
      put_word(nbytes, to);
      to.insert(to.end(), packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(nbytes));
      return;
    }
  }
#else
  static_cast<void>(level);
#endif
  put_word(bytes.size(), to);
  to.insert(to.end(), bytes.begin(), bytes.end());
}

/// Reads a stream of at most `most_nbytes` bytes. Allocates no more, regardless of the sizes that
/// the stream states. Throws Malformed, or Failure if the stream is compressed and the program is
/// built without zstd.
inline Bytes take_stream(Cursor& from, std::uint64_t most_nbytes) {
  const std::uint64_t nbytes = from.word();
  const std::uint64_t stored_nbytes = from.word();
  if (nbytes > most_nbytes || stored_nbytes > nbytes) {
    throw Malformed("a stream has " + std::to_string(nbytes) + " bytes, stored in " +
                    std::to_string(stored_nbytes) + "; at most " + std::to_string(most_nbytes) +
                    " bytes fit the table");
  }
  const auto stored = from.take(stored_nbytes);
  if (stored_nbytes == nbytes) {
    return {stored.begin(), stored.end()};
  }
#ifdef EXAMPLES_WITH_ZSTD
  Bytes bytes(static_cast<std::size_t>(nbytes));
  if (ZSTD_decompress(bytes.data(), bytes.size(), stored.data(), stored.size()) != nbytes) {
    throw Malformed("zstd cannot decompress a stream of " + std::to_string(nbytes) + " bytes");
  }
  return bytes;
#else
  throw Failure(
      "it is compressed, and this program was built without zstd. Build the program with libzstd "
      "(Debian: apt-get install libzstd-dev)");
#endif
}

}  // namespace examples::live_checkpoint
