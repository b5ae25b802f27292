// SPDX-License-Identifier: BSL-1.0
/// Explains in one sentence what a write to a buffer or storage would do, and why. For people who
/// look for the cause of a copy.
#pragma once

#include <byre/config.hpp>
#include <byre/storage/buffer.hpp>
#include <byre/storage/storage.hpp>

#include <string>

namespace byre::inline v0 {

/// Returns a sentence such as "65536 bytes at 0x7f.., allocated by the recycling pool, shared by 3
/// owners: a write copies them." While a trace::Recording exists, the sentence names the call sites
/// that cloned the bytes since the recording began, the latest four of them.
///
/// A read of the buffer. The answer is out of date as soon as another owner writes or is destroyed.
/// Throws OutOfMemory.
BYRE_API std::string explain(const Buffer& buffer);
BYRE_API std::string explain(const Storage& storage);

}  // namespace byre::inline v0
