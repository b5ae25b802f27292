// SPDX-License-Identifier: BSL-1.0
/// How a write to shared data gets data of its own: the last owner steals it, others copy. It stays in the header since
/// programs are measured by it. docs/protocol.md says why it is right; buffer_impl.hpp has the rarer cases.
#pragma once

#include <byre/storage/buffer.hpp>
#include <byre/storage/detail/allocated.hpp>

namespace byre::inline v0 {

template <sync::Sync Sync>
inline basic_buffer<Sync> basic_buffer<Sync>::allocate(std::size_t nbytes, Allocator& allocator) {
  return basic_buffer(cow::basic_allocated<Sync>::create(nbytes, allocator));
}

// The step that is measured where small data is copied has all its calls inlined.
template <sync::Sync Sync>
[[gnu::noinline]] BYRE_FLATTEN inline Materialized basic_buffer<Sync>::copy_or_steal(
    Wait wait, CallSite site) {
  stats::detail::WriteReport report;
  return header().is_ordinary() ? claim_and_copy(wait, site, report, false)
                                : copy_or_steal_unordinary(wait, site, report);
}

/// Steals the data, or copies it before the claim ends.
template <sync::Sync Sync>
[[gnu::always_inline]] inline Materialized basic_buffer<Sync>::claim_and_copy(
    Wait wait, CallSite site, stats::detail::WriteReport& report, bool has_pages) {
  // Who may not wait and finds itself the last owner copies for that alone.
  const auto cause = wait == Wait::never && header().share().use_count() == 1
                         ? stats::CopyCause::pending
                         : stats::CopyCause::shared;
  report.begin();
  if (header().share().claim(wait) == Claim::steal) {
    report.stole(header(), site);
    return Materialized::stole;
  }
  header().compares(site);
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
  report.copied_by([&]() noexcept { was_last = source.share().finish_copy(); }, source.data(),
                   copy->data(), {copy->nbytes(), cause, site});
  if (was_last) {
    source.release();
  }
  return Materialized::copied;
}

}  // namespace byre::inline v0
