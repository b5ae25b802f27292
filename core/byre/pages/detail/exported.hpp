// SPDX-License-Identifier: BSL-1.0
/// The right to end the copier that stands for other processes, and the list of data that such
/// processes map.
///
/// Another process that maps a file privately is a copier which takes its time, like an overlay
/// (overlay.hpp). The share word of the file's data counts all other processes as one copier, so no
/// owner writes the file in place. The system knows when the last process has let go of the file
/// (PageFile::is_open_elsewhere()), however the process ended. byre asks it when an owner is about
/// to write, and in collect(). docs/compositions.md explains why this is correct.
#pragma once

#include <byre/config.hpp>
#include <byre/error/detail/intrusive_list.hpp>
#include <byre/sync/detail/site.hpp>
#include <byre/sync/sync.hpp>

#include <cstddef>
#include <cstdint>

namespace byre::inline BYRE_ABI {

namespace cow {

enum class OutsideCopierSite : std::uint8_t { put, take };

inline constexpr sync::SiteTable<OutsideCopierSite, 2> outside_copier_sites{{{
    {"outside_copier.put", sync::Operation::exchange, std::memory_order::acq_rel},
    {"outside_copier.take", sync::Operation::exchange, std::memory_order::acq_rel},
}}};

/// The right to end the copier that stands for all other processes. The thread that takes the right
/// asks the system, and either puts the right back or ends the copier.
///
/// Thread-safe; wait-free; throws nothing.
template <sync::Sync Sync>
class basic_outside_copier {
 public:
  basic_outside_copier() noexcept : is_here_(0) {}

  /// Stores the right to end a copier. Returns false if such a right is here already: the caller
  /// then ends its copier itself. Called after the file was opened for the other process.
  [[nodiscard]] bool put() noexcept {
    // Release pairs with take: a thread that takes the right finds the file open, or
    // exports_race_looks fails. Acquire pairs with the put that stored the right, because ...
    return is_here_.exchange(1, sites.at(At::put, std::memory_order::acq_rel)) == 0;
  }

  /// True iff the right was here. The caller has it now.
  [[nodiscard]] bool take() noexcept {
    // Acquire pairs with put, or exports_race_looks fails.
    return is_here_.exchange(0, sites.at(At::take, std::memory_order::acq_rel)) == 1;
  }

 private:
  using At = OutsideCopierSite;
  static constexpr const auto& sites = outside_copier_sites;

  typename Sync::template Atomic<std::uint32_t> is_here_;
};

}  // namespace cow

namespace detail {

/// Data whose file was exported, in the list of all such data of the process.
class ExportedData : public ListNode {
 public:
  /// Takes the right to end the copier. The caller then calls look() or keep().
  [[nodiscard]] virtual bool take() noexcept = 0;
  /// Ends the copier if no other process has the file open, or if only the copier keeps the data.
  /// Otherwise puts the right back. Returns whether the copier ended. The object may then be gone.
  virtual bool look() noexcept = 0;
  /// Waits until no other process has the file open. Requires that the caller has the right.
  virtual void wait_for_other_processes() noexcept = 0;

 protected:
  ExportedData() noexcept = default;
  ~ExportedData() = default;
};

// Thread-safe.

/// Adds data to the list, unless it is there.
void list_export(ExportedData& data) noexcept;
/// Removes data from the list before it is destroyed.
void unlist_export(ExportedData& data) noexcept;

struct Views {
  std::size_t ended = 0;
  std::size_t remaining = 0;
};
/// Takes and looks at the first `most` entries of the list, one after another, and moves them to
/// its end.
Views look_at_exports(std::size_t most, bool waits) noexcept;

}  // namespace detail
}  // namespace byre::inline BYRE_ABI
