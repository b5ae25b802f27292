// SPDX-License-Identifier: BSL-1.0
/// The members of basic_buffer that are compiled out of line, above all writes to data that is in
/// pages or read-only, or that is on a device with deferred copies. The library compiles them once,
/// for sync::Default; a test or a checker that uses another Sync includes this file.
#pragma once

#include <byre/memory/budget_exceeded.hpp>
#include <byre/pages/detail/overlay.hpp>
#include <byre/storage/buffer.hpp>
#include <byre/storage/detail/buffer_sizes.hpp>
#include <byre/sync/detail/lock_table.hpp>
#include <byre/system/detail/memory.hpp>

#include <algorithm>
#include <optional>

namespace byre::inline BYRE_ABI {

template <sync::Sync Sync>
[[gnu::cold, gnu::noinline]] Materialized basic_buffer<Sync>::copy_or_steal_unordinary(
    Wait wait, CallSite site, stats::detail::WriteReport& report) {
  return detail::within_budget(data_.get(), [&] { return copy_or_steal_once(wait, site, report); });
}

/// Throws BudgetExceeded if there is no room for the copy; the claim is abandoned then. If the
/// other owners drop the data, a second call steals it.
template <sync::Sync Sync>
Materialized basic_buffer<Sync>::copy_or_steal_once(Wait wait, CallSite site,
                                                    stats::detail::WriteReport& report) {
  if (!has_data()) {
    return Materialized::already_unique;
  }
  if (header().allocator().copies_end() != CopiesEnd::on_return) {
    return submit_copy_or_steal(wait, site, report);
  }
  if (header().is_read_only()) {
    return copy_read_only(site, report);
  }
  // Never wait for copies that may never end. In a child of fork(), copies that other threads of
  // the parent had begun never end. An overlay counts as a copy until it is released.
  if (!header().is_of_this_process() || header().has_pages()) {
    wait = Wait::never;
  }
  look_for_other_processes();
  return claim_and_copy(wait, site, report, header().has_pages());
}

/// Case 3 of copy_or_steal(): read-only data is never written, so an owner copies it without a
/// claim.
template <sync::Sync Sync>
[[gnu::cold]] Materialized basic_buffer<Sync>::copy_read_only(CallSite site,
                                                              stats::detail::WriteReport& report) {
  report.begin();
  if (map_overlay(stats::CopyCause::read_only, site, report)) {
    return Materialized::overlaid;
  }
  Header* copy = cow::basic_allocated<Sync>::create_copy(header().nbytes(), header());
  // If the data is not shareable, its other owners are pins, not lazy clones.
  const bool is_shareable = header().is_shareable();
  stats::detail::if_listening([&] {
    // Approximate if another owner drops the data now. The cause counted below is exact.
    const bool is_shared = is_shareable && header().share().use_count() != 1;
    const auto cause = is_shared ? stats::CopyCause::shared : stats::CopyCause::read_only;
    report.recorded(header(), *copy, {copy->nbytes(), cause, site});
  });
  copy->becomes_unique(site);
  const bool was_last = replace_header(copy);
  const auto cause =
      was_last || !is_shareable ? stats::CopyCause::read_only : stats::CopyCause::shared;
  report.counted_by([]() noexcept {}, {copy->nbytes(), cause, site});
  return Materialized::copied;
}

/// Case 2 of copy_or_steal(), deferred copies. A lock of the source lets one owner at a time claim
/// and submit its copy, so that every pending copy has been submitted when an owner claims. A
/// writer of read-only data does not claim: it remains an owner until its copy ends.
template <sync::Sync Sync>
[[gnu::cold]] Materialized basic_buffer<Sync>::submit_copy_or_steal(
    Wait wait, CallSite site, stats::detail::WriteReport& report) {
  Header& source = header();
  std::optional<sync::detail::AddressLock<Sync>> turn(std::in_place, &source);
  const bool is_claimed = !source.is_read_only();
  const stats::detail::DataFacts source_facts = stats::detail::facts_with_tag(source);
  const auto cause = source.share().use_count() != 1 ? stats::CopyCause::shared
                     : is_claimed                    ? stats::CopyCause::pending
                                                     : stats::CopyCause::read_only;
  report.begin();
  if (is_claimed && claim_to_submit(wait) == Claim::steal) {
    report.stole(source, site);
    return Materialized::stole;
  }
  PendingCopy pending(&source, &end_copy);
  stats::detail::count(stats::detail::plus(stats::Counter::pending_bytes, source.capacity()));
  Header* copy;
  try {
    copy = cow::basic_allocated<Sync>::submit_copy(source, pending);
  } catch (...) {
    pending.forget();
    stats::detail::count(stats::detail::minus(stats::Counter::pending_bytes, source.capacity()));
    if (is_claimed) {
      source.share().abandon_copy();
    }
    throw;
  }
  turn.reset();
  // The source may have been released by now: if the copy is complete, the allocator has ended
  // `pending`.
  report.copied(source_facts, *copy, {copy->nbytes(), cause, site});
  adopt_header(copy);
  return Materialized::copied;
}

template <sync::Sync Sync>
Claim basic_buffer<Sync>::claim_to_submit(Wait wait) {
  Header& source = header();
  if (source.allocator().copies_end() == CopiesEnd::in_order) {
    return source.share().claim_in_order();
  }
  return source.share().claim(source.is_of_this_process() ? wait : Wait::never);
}

template <sync::Sync Sync>
void basic_buffer<Sync>::end_copy(void* source) noexcept {
  auto& copied = *static_cast<Header*>(source);
  stats::detail::count(stats::detail::minus(stats::Counter::pending_bytes, copied.capacity()));
  if (copied.is_read_only() ? copied.share().drop_owner() : copied.share().finish_copy()) {
    copied.release();
  }
}

template <sync::Sync Sync>
bool basic_buffer<Sync>::is_unique_in_order() noexcept {
  Header& shared = header();
  if (shared.allocator().copies_end() == CopiesEnd::in_order && !shared.is_read_only()) {
    const sync::detail::AddressLock<Sync> one_at_a_time(&shared);
    return shared.share().use_count() == 1 && shared.share().claim_in_order() == Claim::steal;
  }
  return false;
}

template <sync::Sync Sync>
auto basic_buffer<Sync>::copy_at_once(stats::CopyCause cause, CallSite site) const -> Header* {
  if (!has_data()) {
    return header_.get();
  }
  stats::detail::WriteReport report;
  report.begin();
  Header* copy = detail::within_budget(nullptr, [&] {
    return cow::basic_allocated<Sync>::create_copy(header().nbytes(), header());
  });
  report.copied(header(), *copy, {header().nbytes(), cause, site});
  return copy;
}

template <sync::Sync Sync>
Materialized basic_buffer<Sync>::materialize_and_report_in(stats::detail::WriteReport& report,
                                                           Wait wait, CallSite site) {
  const auto access = monitor_.writes(site);
  return becomes_unique(site) ? Materialized::already_unique
                              : copy_or_steal_unordinary(wait, site, report);
}

template <sync::Sync Sync>
void basic_buffer<Sync>::expect_range(std::size_t offset, std::size_t nbytes, CallSite site) const {
  const std::size_t all_nbytes = this->nbytes(site);
  if (offset > all_nbytes || nbytes > all_nbytes - offset) {
    throw InvalidArgument(format_text(
        "mutable_range: %zu bytes from byte %zu on are out of range, the buffer has %zu "
        "bytes. Pass a range within it.",
        nbytes, offset, all_nbytes));
  }
}

template <sync::Sync Sync>
std::span<std::byte> basic_buffer<Sync>::populated(std::size_t offset, std::size_t nbytes) {
  auto* const first = static_cast<std::byte*>(data_.get()) + offset;
  if (header().has_pages() && nbytes != 0 && !system::populate(first, nbytes)) {
    throw OutOfMemory(nbytes, header().allocator().name());
  }
  return {first, nbytes};
}

template <sync::Sync Sync>
const void* basic_buffer<Sync>::memory_id() const noexcept {
  return header().origin() == Origin::overlay
             ? static_cast<const Header*>(&cow::basic_overlay<Sync>::base_of(header()))
             : &header();
}

template <sync::Sync Sync>
void basic_buffer<Sync>::collapse(std::size_t offset, std::size_t nbytes) noexcept {
  if (header().origin() == Origin::overlay) {
    static_cast<cow::basic_overlay<Sync>&>(header()).collapse(offset, nbytes);
  }
}

/// Maps an overlay instead of copying the data. Requires that the data has been claimed or is
/// read-only. Returns false if the data is not in pages or the system cannot map an overlay.
template <sync::Sync Sync>
bool basic_buffer<Sync>::map_overlay(stats::CopyCause cause, CallSite site,
                                     stats::detail::WriteReport& report) {
  if (header().has_pages()) [[unlikely]] {
    const stats::detail::DataFacts shown = stats::detail::facts_with_tag(header());
    const auto [overlay, copied_nbytes] = cow::basic_overlay<Sync>::create(header());
    if (overlay != nullptr) {
      adopt_header(overlay);
      report.overlaid(*overlay, shown, {copied_nbytes, cause, site}, &detail::count_written_pages);
      return true;
    }
  }
  return false;
}

template <sync::Sync Sync>
basic_buffer<Sync> basic_buffer<Sync>::writable_clone(Wait wait, CallSite site, Writers writers) {
  const auto access = monitor_.writes(site);
  if (!has_data()) {
    return {};
  }
  if (!becomes_unique(site)) {
    copy_or_steal(wait, site);
  }
  if (Header* const clone = create_writable_clone(site, writers)) {
    return basic_buffer(clone);
  }
  return basic_buffer(copy_at_once(stats::CopyCause::writable, site));
}

/// Requires that this buffer is the only owner of its data. Returns null if the data is not in
/// pages, or if the system cannot map the pages.
template <sync::Sync Sync>
auto basic_buffer<Sync>::create_writable_clone(CallSite site, Writers writers) -> Header* {
  if (header().has_pages()) {
    using Overlay = cow::basic_overlay<Sync>;
    const Header* const former = header_.get();
    stats::detail::WriteReport report;
    report.begin();
    const auto [source, clone, copied_nbytes] =
        Overlay::create_writable(header(), writers == Writers::none);
    adopt_header(source);
    if (source == former) {
      source->becomes_unique(site);
    } else {
      report.overlaid(*source, static_cast<Overlay*>(source)->facts_of_file(),
                      {0, stats::CopyCause::writable, site}, &detail::count_written_pages);
    }
    if (clone != nullptr) {
      const std::size_t nbytes = source->nbytes();
      stats::detail::report_clone_of([from = source] { return from->facts(); }, nbytes,
                                     (std::min)(copied_nbytes, nbytes), true, site);
      report.overlaid(*clone, source->facts(), {copied_nbytes, stats::CopyCause::writable, site},
                      &detail::count_written_pages);
    }
    return clone;
  }
  return nullptr;
}

}  // namespace byre::inline BYRE_ABI
