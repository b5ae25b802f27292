// SPDX-License-Identifier: BSL-1.0
/// What a checked build (Meson option `checks`) knows of one buffer: who is reading or writing it
/// right now. A write that meets anything else ends the program, naming both call sites; writes in parallel
/// exclude all but one another and reads. Without checks it is empty and costs nothing.
#pragma once

#include <byre/config.hpp>
#include <byre/error/call_site.hpp>

#include <cstdint>

namespace byre::inline v0::detail {

#if BYRE_CHECKS

/// Thread-safe. Progress: blocking, under a lock of a table beside the buffer.
class BYRE_API AccessMonitor {
 public:
  /// An access under way: lives on the stack of the accessing thread.
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

  Access reads(CallSite site) const noexcept {
    return {const_cast<AccessMonitor&>(*this), Access::Kind::read, site};
  }
  Access is_cloned(CallSite site) const noexcept {
    return {const_cast<AccessMonitor&>(*this), Access::Kind::lazy_clone, site};
  }
  /// By a thread that found the data its storage's own, and nothing left to be done.
  Access writes_in_parallel(CallSite site) noexcept {
    return {*this, Access::Kind::write_in_parallel, site};
  }
  Access writes(CallSite site) noexcept { return {*this, Access::Kind::write, site}; }

 private:
  Access* under_way_ = nullptr;
  std::uint32_t process_ = 0;  // that it is of, the last time it was used
};

#else

class AccessMonitor {
 public:
  struct [[maybe_unused, nodiscard]] Access{
      // Not trivial, so that a guard that is only there to be destroyed is no unused variable.
      ~Access(){}  // NOLINT(modernize-use-equals-default)
  };
  Access reads(CallSite) const noexcept { return {}; }
  Access is_cloned(CallSite) const noexcept { return {}; }
  Access writes_in_parallel(CallSite) noexcept { return {}; }
  Access writes(CallSite) noexcept { return {}; }
};

#endif

}  // namespace byre::inline v0::detail
