// SPDX-License-Identifier: BSL-1.0
/// How a write to shared data obtains unique data: the last owner steals the data, and the other
/// owners copy it. These functions are in a header so that the compiler inlines them into each
/// write; buffer_impl.hpp has the rarer cases, which are compiled once. docs/protocol.md explains
/// why the steps are correct.
#pragma once

#include <byre/storage/buffer.hpp>
#include <byre/storage/detail/allocated.hpp>

namespace byre::inline BYRE_ABI {

template <sync::Sync Sync>
inline basic_buffer<Sync> basic_buffer<Sync>::allocate(std::size_t nbytes, Allocator& allocator) {
  return basic_buffer(cow::basic_allocated<Sync>::create(nbytes, allocator));
}

// How a write proceeds if the data must not be written in place. The first case that applies
// decides:
//
//   1. The buffer is empty: do nothing.                                         already_unique
//   2. The copies of the allocator are deferred (they end later, on a device):  copied, stole
//      submit a copy, or steal in the order of the device's queue.
//   3. The data is read-only: copy it without a claim, because no owner ever    copied, overlaid
//      writes it.
//   4. The data is in pages or was created before a fork: claim as in case 5,   copied, overlaid,
//      but with Wait::never, because pending copies may never end. Overlay      stole
//      data in pages instead of copying it.
//   5. Otherwise: claim. If there are other owners, copy, then finish_copy().   copied
//      The last owner waits for pending copies and steals.                      stole
//
// Ordinary data (basic_header::is_ordinary()) is always in case 5. This function inlines all calls
// of that path, because the calls dominate the cost of copying small data.
// copy_or_steal_unordinary() distinguishes all five cases.
template <sync::Sync Sync>
[[gnu::noinline]] BYRE_FLATTEN inline Materialized basic_buffer<Sync>::copy_or_steal(
    Wait wait, CallSite site) {
  stats::detail::WriteReport report;
  return header().is_ordinary() ? claim_and_copy(wait, site, report, false)
                                : copy_or_steal_unordinary(wait, site, report);
}

/// Case 5; also case 4, for which `has_pages` tells whether to try an overlay. Throws the errors of
/// materialize(); the claim is then abandoned.
template <sync::Sync Sync>
[[gnu::always_inline]] inline Materialized basic_buffer<Sync>::claim_and_copy(
    Wait wait, CallSite site, stats::detail::WriteReport& report, bool has_pages) {
  // The last owner copies only if it must not wait for pending copies.
  const auto cause = wait == Wait::never && header().share().use_count() == 1
                         ? stats::CopyCause::pending
                         : stats::CopyCause::shared;
  report.begin();
  if (header().share().claim(wait) == Claim::steal) {
    report.stole(header(), site);
    return Materialized::stole;
  }
  header().check_unchanged(site);
  Header* copy;
  try {
    if (has_pages && map_overlay(cause, site, report)) {
      return Materialized::overlaid;
    }
    copy = cow::basic_allocated<Sync>::create_copy(header().nbytes(), header());
  } catch (...) {
    header().share().abandon_copy();
    throw;
  }
  Header& source = header();
  adopt_header(copy);
  copy->becomes_unique(site);
  bool was_last = false;
  report.copied_by([&]() noexcept { was_last = source.share().finish_copy(); }, source, *copy,
                   {copy->nbytes(), cause, site});
  if (was_last) {
    source.release();
  }
  return Materialized::copied;
}

}  // namespace byre::inline BYRE_ABI
