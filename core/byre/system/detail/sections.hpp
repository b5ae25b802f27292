// SPDX-License-Identifier: BSL-1.0
/// Sections: memory without a name that a process maps several times. Only Windows defines these
/// functions; pages/meson.build lists the source that calls them.
#pragma once

#include <byre/config.hpp>
#include <byre/system/detail/memory_files.hpp>

#include <cstddef>

namespace byre::inline BYRE_ABI::system {

/// Owns a section. Its memory counts against the commit limit of the system from its creation on.
class Section {
 public:
  /// Is empty, with errno, if the system refuses.
  explicit Section(std::size_t nbytes) noexcept;
  ~Section();
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;

  explicit operator bool() const noexcept { return handle_ != nullptr; }

  /// Maps the section. The memory of a private mapping counts against the commit limit as a whole.
  /// Returns null if the system refuses. unmap() of memory.hpp unmaps the mapping as a whole.
  std::byte* map(Writes writes) const noexcept;

 private:
  void* handle_;
};

}  // namespace byre::inline BYRE_ABI::system
