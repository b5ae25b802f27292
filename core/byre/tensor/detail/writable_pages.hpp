// SPDX-License-Identifier: BSL-1.0
/// The pages that a view has in a storage, made writable before the first of its elements is written.
#pragma once

#include <byre/error/call_site.hpp>
#include <byre/storage/storage.hpp>
#include <byre/tensor/layout.hpp>

#include <cstddef>

namespace byre::inline v0::detail {

/// Of a storage whose data is in pages, and which has been materialized: as Storage::mutable_range of each part
/// of it that the view has. Throws OutOfMemory, having changed nothing that is read.
void make_pages_writable(Storage& storage, const Layout& layout, std::size_t itemsize,
                         CallSite site);

}  // namespace byre::inline v0::detail
