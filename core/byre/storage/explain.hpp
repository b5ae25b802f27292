// SPDX-License-Identifier: BSL-1.0
/// A sentence that says what a write to a buffer would do, and why, and who shares the bytes: for people who wonder
/// about a copy.
#pragma once

#include <byre/config.hpp>
#include <byre/storage/buffer.hpp>
#include <byre/storage/storage.hpp>

#include <string>

namespace byre::inline v0 {

/// "65536 bytes at 0x7f.., allocated by the recycling pool, shared by 3 owners: a write copies
/// them." While there is a trace::Recording it names the lines that cloned them since it began, the latest four.
/// A read of the buffer; out of date as soon as another owner moves. Throws OutOfMemory.
BYRE_API std::string explain(const Buffer& buffer);
BYRE_API std::string explain(const Storage& storage);

}  // namespace byre::inline v0
