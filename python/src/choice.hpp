// SPDX-License-Identifier: BSL-1.0
/// Whether a copy is lazy: what was seen of the block so far.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace byre::inline v0::python {

/// Blocks below this size are copied faster than they are mapped.
inline constexpr std::size_t least_lazy_nbytes = std::size_t{64} << 10;

/// Why byre.copy copies now, or does not.
enum class Choice : std::uint8_t {
  lazy,
  small,     ///< below least_lazy_nbytes
  part,      ///< less than half of its block
  no_pages,  ///< ordinary memory, since the system had no pages
  dense,     ///< more than a tenth of it was written between the last two copies
};

/// How many sampled pages of a block differ from those of its last copy: 0 of 0 before the first one.
struct Changes {
  std::size_t pages = 0;
  std::size_t samples = 0;

  bool are_dense() const noexcept { return pages * 10 > samples; }
};

/// What sampled pages of a block were at its last copy. One thread at a time.
class History {
 public:
  static constexpr std::size_t most_samples = 64;

  Changes changes(const std::byte* data, std::size_t nbytes) const noexcept;
  /// As changes(), by a copy: later ones are held against it.
  Changes update(const std::byte* data, std::size_t nbytes) noexcept;

 private:
  std::array<std::uint64_t, most_samples> sums_{};
  std::size_t samples_ = 0;  // 0 in front of the first copy
};

/// Bytes that the process may still use: of the machine, or of its control group if that has fewer. The largest number
/// if the system does not say.
std::size_t available_nbytes() noexcept;

}  // namespace byre::inline v0::python
