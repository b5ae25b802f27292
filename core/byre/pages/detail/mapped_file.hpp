// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <byre/config.hpp>
#include <byre/files/file_name.hpp>
#include <byre/pages/detail/page_file.hpp>

#include <memory>

namespace byre::inline v0::detail {

/// A file, mapped read-only. Throws FileError if the file is missing, not a regular file, empty or unreadable;
/// OutOfMemory.
BYRE_API std::unique_ptr<PageFile> map_file(const FileName& name);

}  // namespace byre::inline v0::detail
