// SPDX-License-Identifier: BSL-1.0
/// PageMap: the system's information about the pages of this process.
#pragma once

#include <byre/config.hpp>
#include <byre/system/detail/descriptor.hpp>

#include <cstddef>

namespace byre::inline BYRE_ABI::system {

/// Create an object for each use: after a fork, an older object would describe the pages of the
/// parent. For one thread at a time.
class PageMap {
 public:
  /// Receives a run of whole pages; offsets are relative to the mapping. Returns false to stop.
  using Visit = bool (*)(void* context, std::size_t offset, std::size_t nbytes) noexcept;

  PageMap() noexcept;

  /// Calls `visit` for the pages of a private mapping of a file that no longer show the file, in
  /// ascending order. Adjacent pages may be passed in several runs. Returns false if the system
  /// does not report these pages; some runs may have been visited by then. Requires that `begin`
  /// and `nbytes` are multiples of actual_page_nbytes().
  bool for_each_private_run(const std::byte* begin, std::size_t nbytes, Visit visit,
                            void* context) noexcept;

 private:
  const byre::detail::Descriptor file_;
};

}  // namespace byre::inline BYRE_ABI::system
