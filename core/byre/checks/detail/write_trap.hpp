// SPDX-License-Identifier: BSL-1.0
/// The trap for stale pointers, of a checked build (Meson option `checks`): a write to data that lazy
/// clones share, through a pointer that was taken before the clone, ends the program. Whole pages of
/// byre's own are write-protected while they are shared; of other data a checksum is taken, and compared
/// where an owner next writes or leaves. Without checks it is empty and costs nothing.
///
///   state      by becomes_shared       until becomes_unique or releases
///   open                               the owner may write
///   guarded    byre's own whole pages  a write is a fault, which page_guard.hpp reports
///   summed     other data              compared by an owner before it copies, steals or leaves
///   unwatched  large other data        nothing is seen
#pragma once

#include <byre/config.hpp>
#if BYRE_CHECKS
#include <byre/checks/detail/page_guard.hpp>
#endif
#include <byre/error/call_site.hpp>

#include <cstddef>
#include <cstdint>

namespace byre::inline v0::detail {

#if BYRE_CHECKS

/// One for the data of each header, which all its owners share. Thread-safety: each step says who may
/// take it; becomes_shared and compares may be concurrent. Progress: a first clone takes a lock of the
/// process, and so does who ends protection. Nothing throws.
class BYRE_API WriteTrap {
 public:
  /// The most bytes that a checksum is taken of.
  static constexpr std::size_t max_checksum_nbytes = std::size_t{1} << 20;

  /// By an owner that is about to give the data another.
  template <class Header>
  void becomes_shared(const Header& header, CallSite site) noexcept {
    if (is_watched(header)) {
      arm(data_of(header), header.may_be_guarded(), site);
    }
  }
  /// By the only owner, which is about to write through a pointer that it takes at `site`.
  template <class Header>
  void becomes_unique(const Header& header, CallSite site) noexcept {
    if (is_watched(header)) {
      compare_checksum(header.data(), site);
      disarm();
      taken_ = SavedCallSite(site);
    }
  }
  /// By an owner that is about to copy or leave.
  template <class Header>
  void check_unchanged(const Header& header, CallSite site) const noexcept {
    if (is_watched(header)) {
      compare_checksum(header.data(), site);
    }
  }
  /// By a copier that may write the data, which has no owner any more. Thread-safe.
  void becomes_writable() noexcept;
  void disarm() noexcept;

 private:
  enum class State : std::uint8_t { disarmed, guarded, checksummed, unwatched };

  /// Not what is never written in place, whose file may change, nor what the host cannot address.
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
  PageGuard* guard_ = nullptr;       // of `guarded`
  std::uint64_t checksum_ = 0;       // of `summed`
  std::size_t checksum_nbytes_ = 0;  // which a resize does not change
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

}  // namespace byre::inline v0::detail
