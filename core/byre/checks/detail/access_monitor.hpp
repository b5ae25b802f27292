// SPDX-License-Identifier: BSL-1.0
/// The access monitor of a checked build (Meson option `checks`) records which threads are
/// accessing a buffer. A write that overlaps another access ends the program with a message that
/// names both call sites. Writes in parallel, by the threads of a parallel loop that call
/// mutable_data_in_parallel(), may overlap each other and reads, but no other access. Without
/// checks the monitor is empty and costs nothing.
#pragma once

#include <byre/config.hpp>
#include <byre/error/call_site.hpp>

#include <cstdint>

namespace byre::inline BYRE_ABI::detail {

#if BYRE_CHECKS

/// Thread-safe. Progress: blocking, because each access takes a lock of a global table.
class BYRE_API AccessMonitor {
 public:
  /// An access in progress, from construction to destruction. It is stored on the stack of its
  /// thread.
  class [[nodiscard]] BYRE_API Access {
   public:
    enum class Kind : std::uint8_t { read, lazy_clone, write_in_parallel, write };
    Access(AccessMonitor& monitor, Kind kind, CallSite site) noexcept;
    ~Access();
    Access(const Access&) = delete;
    Access& operator=(const Access&) = delete;

   private:
    friend class AccessMonitor;
    AccessMonitor& monitor_;
    const Kind kind_;
    const CallSite site_;
    Access* next_ = nullptr;
  };

  // Each function begins an access, which ends when the returned object is destroyed. If a
  // conflicting access is in progress, the function ends the program.

  Access reads(CallSite site) const noexcept {
    return {const_cast<AccessMonitor&>(*this), Access::Kind::read, site};
  }
  Access is_cloned(CallSite site) const noexcept {
    return {const_cast<AccessMonitor&>(*this), Access::Kind::lazy_clone, site};
  }
  /// A thread that writes in parallel holds this access while it checks that the data is unique.
  Access writes_in_parallel(CallSite site) noexcept {
    return {*this, Access::Kind::write_in_parallel, site};
  }
  Access writes(CallSite site) noexcept { return {*this, Access::Kind::write, site}; }

 private:
  Access* under_way_ = nullptr;
  std::uint32_t process_ = 0;  // the process number at the last access
};

#else

class AccessMonitor {
 public:
  struct [[maybe_unused, nodiscard]] Access{
      // Not trivial, so that compilers do not warn of an unused variable.
      ~Access(){}  // NOLINT(modernize-use-equals-default)
  };
  Access reads(CallSite) const noexcept { return {}; }
  Access is_cloned(CallSite) const noexcept { return {}; }
  Access writes_in_parallel(CallSite) noexcept { return {}; }
  Access writes(CallSite) noexcept { return {}; }
};

#endif

}  // namespace byre::inline BYRE_ABI::detail
