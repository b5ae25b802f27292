// SPDX-License-Identifier: BSL-1.0
/// What is in a zip archive, and where: read from its end, and checked so that whoever reads the members needs
/// to check no place and no size any more.
#pragma once

#include <byre/interop/detail/zip_bytes.hpp>
#include <byre/interop/detail/zip_records.hpp>

#include <vector>

namespace byre::inline v0::detail {

/// The members, in the order of the directory. Each is within the file, overlaps neither another one nor the
/// directory, has a name of its own, a local header that says what the directory does, and no size that its data
/// cannot have. Throws FileError, which names `source`.
std::vector<ZipMember> read_zip_directory(const ZipBytes& bytes, const char* source);

}  // namespace byre::inline v0::detail
