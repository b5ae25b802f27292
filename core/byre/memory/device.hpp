// SPDX-License-Identifier: BSL-1.0
/// Where memory lives. The host is device 0; other kinds are the embedder's to number.
#pragma once

#include <byre/error/detail/assert.hpp>

#include <cstdint>

namespace byre::inline v0 {

class Device {
 public:
  static constexpr Device cpu() noexcept { return Device(0, 0); }

  /// A device of the embedder's: `kind` > 0 says which sort, `index` which one of them. There is one
  /// host, of index 0; another ends the program.
  constexpr Device(std::uint16_t kind, std::uint16_t index) noexcept : kind_(kind), index_(index) {
    BYRE_ASSERT(kind != 0 || index == 0, "a device of kind 0 is the host, whose index is 0");
  }

  constexpr std::uint16_t kind() const noexcept { return kind_; }
  constexpr std::uint16_t index() const noexcept { return index_; }
  /// True iff the host may dereference its addresses.
  constexpr bool is_cpu() const noexcept { return kind_ == 0; }

  friend constexpr bool operator==(Device, Device) = default;

 private:
  std::uint16_t kind_;
  std::uint16_t index_;
};

}  // namespace byre::inline v0
