// SPDX-License-Identifier: BSL-1.0
/// The write trap of a checked build (Meson option `checks`) detects stale pointers: a write to
/// shared data, through a pointer that was taken before the lazy clone, ends the program. Shared
/// data in whole pages that byre allocated is write-protected. For other data, byre stores a
/// checksum and compares it when an owner next writes, copies, or is destroyed. Without checks the
/// trap is empty and costs nothing.
///
/// becomes_shared() selects one of the last three states; becomes_unique(), becomes_writable() and
/// disarm() return to the first.
///
///   state         data                    effect
///   disarmed      unshared                the owner may write
///   guarded       whole pages of byre     a write faults, and page_guard.hpp reports it
///   checksummed   other, up to 1 MiB      owners compare at a copy, steal or destruction
///   unwatched     other, above 1 MiB      writes are not detected
#pragma once

#include <byre/config.hpp>
#if BYRE_CHECKS
#include <byre/checks/detail/page_guard.hpp>
#endif
#include <byre/error/call_site.hpp>

#include <cstddef>
#include <cstdint>

namespace byre::inline BYRE_ABI::detail {

#if BYRE_CHECKS

/// Each header (cow/detail/header.hpp) contains a trap, which all owners of the data share.
/// Thread-safety: each function states which threads may call it; calls of becomes_shared() and
/// check_unchanged() may be concurrent. Progress: the first lazy clone, and the end of page
/// protection, take a lock of the process. Throws nothing.
class BYRE_API WriteTrap {
 public:
  /// The size limit for checksums. Larger data is not watched.
  static constexpr std::size_t max_checksum_nbytes = std::size_t{1} << 20;

  /// An owner calls becomes_shared() before it adds another owner.
  template <class Header>
  void becomes_shared(const Header& header, CallSite site) noexcept {
    if (is_watched(header)) {
      arm(data_of(header), header.may_be_guarded(), site);
    }
  }
  /// The only owner calls becomes_unique() before it writes through a pointer taken at `site`. Ends
  /// the program if the data has changed while it was shared.
  template <class Header>
  void becomes_unique(const Header& header, CallSite site) noexcept {
    if (is_watched(header)) {
      compare_checksum(header.data(), site);
      disarm();
      taken_ = SavedCallSite(site);
    }
  }
  /// An owner calls check_unchanged() before it copies the data or is destroyed. Ends the program
  /// if the data has changed since the first lazy clone.
  template <class Header>
  void check_unchanged(const Header& header, CallSite site) const noexcept {
    if (is_watched(header)) {
      compare_checksum(header.data(), site);
    }
  }
  /// A copier (a former owner that still copies the data) calls becomes_writable() before it writes
  /// the data, when no owner remains. Thread-safe.
  void becomes_writable() noexcept;
  /// The thread that releases the data calls disarm(), when no owner remains.
  void disarm() noexcept;

 private:
  enum class State : std::uint8_t { disarmed, guarded, checksummed, unwatched };

  /// Excludes read-only data, which byre never writes in place but whose file may change, and data
  /// of devices, which the host cannot address.
  template <class Header>
  static bool is_watched(const Header& header) noexcept {
    return !header.is_read_only() && header.allocator().device().is_cpu();
  }
  template <class Header>
  static GuardedData data_of(const Header& header) noexcept {
    return {static_cast<std::byte*>(header.data()), header.nbytes(), header.capacity(), {}, {}};
  }

  void arm(GuardedData data, bool may_be_guarded, CallSite site) noexcept;
  void compare_checksum(const void* data, CallSite site) const noexcept;

  State state_ = State::disarmed;
  PageGuard* guard_ = nullptr;       // if guarded
  std::uint64_t checksum_ = 0;       // if checksummed
  std::size_t checksum_nbytes_ = 0;  // the size at the first clone; a resize may change nbytes()
  SavedCallSite taken_;
  SavedCallSite cloned_;
};

#else

class WriteTrap {
 public:
  template <class Header>
  void becomes_shared(const Header&, CallSite) noexcept {}
  template <class Header>
  void becomes_unique(const Header&, CallSite) noexcept {}
  template <class Header>
  void check_unchanged(const Header&, CallSite) const noexcept {}
  void becomes_writable() noexcept {}
  void disarm() noexcept {}
};

#endif

}  // namespace byre::inline BYRE_ABI::detail
