// SPDX-License-Identifier: BSL-1.0
/// The words the two forms of the protocol share.
#pragma once

#include <cstdint>

namespace byre::inline v0 {

/// Whether an owner about to write may be parked until pending copies end, so that it can steal the
/// data, or must never wait, and copies then.
enum class Wait : std::uint8_t { allowed, never };

/// What an owner that is about to write has to do.
enum class Claim : std::uint8_t {
  steal,  ///< it is the last owner and no copy is pending: the data is its own to write
  copy,   ///< it gave up its ownership for a share of the copy lock: it copies, then finish_copy()
};

/// Says that a share word belongs to no data.
struct NoOwner {};

}  // namespace byre::inline v0
