// SPDX-License-Identifier: BSL-1.0
/// Where the directory of a zip archive is, which its last bytes say: the end record, and zip64's if there is one.
#pragma once

#include <byre/interop/detail/zip_bytes.hpp>

#include <cstdint>

namespace byre::inline v0::detail {

/// Where it is, and of how many records.
struct ZipDirectory {
  std::uint64_t offset = 0;
  std::uint64_t nbytes = 0;
  std::uint64_t count = 0;
};

/// A directory that is within the file and can have that many records. Throws FileError, which names `source`.
ZipDirectory find_zip_directory(const ZipBytes& bytes, const char* source);

}  // namespace byre::inline v0::detail
