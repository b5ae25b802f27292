// SPDX-License-Identifier: BSL-1.0
/// explain() returns a sentence about what a write to a buffer or storage would do, and why. It is
/// for people who look for the cause of a copy.
#pragma once

#include <byre/config.hpp>
#include <byre/storage/buffer.hpp>
#include <byre/storage/storage.hpp>

#include <string>

namespace byre::inline BYRE_ABI {

/// Returns, for example: "65536 bytes at 0x7f.., allocated by the recycling pool, shared by 3
/// owners: a write copies them." While a trace::Recording exists, the sentence also names the call
/// sites that cloned the bytes since the recording began: the latest four.
///
/// A read of the buffer or storage. The sentence is out of date as soon as another owner writes or
/// is destroyed. Throws OutOfMemory if there is no memory for the sentence.
BYRE_API std::string explain(const Buffer& buffer);
BYRE_API std::string explain(const Storage& storage);

}  // namespace byre::inline BYRE_ABI
