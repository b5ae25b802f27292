// SPDX-License-Identifier: BSL-1.0
/// How a buffer allocates, grows and shrinks. Capacity grows geometrically, so that a program that
/// appends byte by byte copies each byte only a few times, not at each append.
#pragma once

#include <byre/memory/budget_exceeded.hpp>
#include <byre/pages/detail/paged.hpp>
#include <byre/storage/buffer.hpp>
#include <byre/storage/detail/allocated.hpp>
#include <byre/system/page_nbytes.hpp>

#include <algorithm>
#include <cstddef>

namespace byre::inline BYRE_ABI {

namespace detail {

/// The capacity to request if `capacity` does not suffice for `nbytes`: half more than `capacity`,
/// or `nbytes` if that is more.
constexpr std::size_t grown_capacity(std::size_t capacity, std::size_t nbytes) noexcept {
  const std::size_t half_more = capacity + (std::min)(capacity / 2, max_nbytes - capacity);
  return (std::max)(half_more, nbytes);
}

}  // namespace detail

template <sync::Sync Sync>
cow::basic_header<Sync>* cow::create_paged(std::size_t nbytes, Allocator& allocator) {
  return cow::basic_paged<Sync>::create(nbytes, allocator);
}

template <sync::Sync Sync>
basic_buffer<Sync> basic_buffer<Sync>::allocate_tile(std::size_t nbytes, Allocator& allocator) {
  return basic_buffer(cow::basic_allocated<Sync>::create(
      nbytes, allocator,
      nbytes >= page_nbytes ? cow::HeaderPlace::apart : cow::HeaderPlace::before_data));
}

template <sync::Sync Sync>
basic_buffer<Sync> basic_buffer<Sync>::map_file(FileName name, Allocator& allocator) {
  auto file = detail::map_file(name);
  const std::size_t nbytes = file->nbytes();
  const typename Header::Description description{file->data(), nbytes,         nbytes,
                                                 &allocator,   Origin::mapped, true};
  return basic_buffer(cow::basic_paged<Sync>::create(description, std::move(file)));
}

template <sync::Sync Sync>
void basic_buffer<Sync>::resize(std::size_t nbytes, CallSite site) {
  const auto access = monitor_.writes(site);
  if (has_data()) {
    expect_unique("resize", nbytes);
  }
  detail::within_budget(nullptr, [&] { set_size(nbytes, site); });
}

/// A copy in place of a claim: an owner that resizes shared data needs a block of the new size, so
/// stealing the original would save at most one copy of all owners' copies.
template <sync::Sync Sync>
void basic_buffer<Sync>::resize_unsharing(std::size_t nbytes, CallSite site) {
  const auto access = monitor_.writes(site);
  const bool fits = has_data() && nbytes <= header().capacity();
  // Repeats all steps: if a reclaimer drops the other owners, data that fits need not move.
  detail::within_budget(fits ? data_.get() : nullptr, [&] { resize_unsharing_once(nbytes, site); });
}

template <sync::Sync Sync>
void basic_buffer<Sync>::resize_unsharing_once(std::size_t nbytes, CallSite site) {
  if (has_data() && !becomes_unique(site)) {
    if (!header().has_pages() || nbytes > header().capacity()) {
      // Approximate: another owner may drop the data now.
      const auto cause = header().share().use_count() != 1 ? stats::CopyCause::shared
                         : header().is_read_only()         ? stats::CopyCause::read_only
                                                           : stats::CopyCause::pending;
      return move_to_new_block(nbytes, header().nbytes(), cause, site);
    }
    copy_or_steal(Wait::never, site);  // an overlay, which copies only the pages that are written
  }
  set_size(nbytes, site);
}

/// Requires that this buffer is empty or the only owner of its data.
template <sync::Sync Sync>
void basic_buffer<Sync>::set_size(std::size_t nbytes, CallSite site) {
  if (!has_data()) {
    adopt_header(cow::basic_allocated<Sync>::create(nbytes, default_allocator()));
  } else if (nbytes <= header().capacity()) {
    header().set_nbytes(nbytes);
  } else {
    move_to_new_block(nbytes, header().capacity(), stats::CopyCause::resized, site);
  }
}

/// Copies the data to a block of at least `nbytes` bytes; `former` is the size that grows.
template <sync::Sync Sync>
void basic_buffer<Sync>::move_to_new_block(std::size_t nbytes, std::size_t former,
                                           stats::CopyCause cause, CallSite site) {
  stats::detail::WriteReport report;
  report.begin();
  Header* const block = copy_with_room(nbytes, former);
  const std::size_t kept_nbytes = (std::min)(nbytes, header().nbytes());
  block->set_nbytes(nbytes);
  report.recorded(header(), *block, {kept_nbytes, cause, site});
  replace_header(block);
  report.counted_by([]() noexcept {}, {kept_nbytes, cause, site});
}

template <sync::Sync Sync>
void basic_buffer<Sync>::shrink_to_fit(CallSite site) {
  const auto access = monitor_.writes(site);
  if (!has_data()) {
    return;
  }
  const std::size_t nbytes = header().nbytes();
  expect_unique("shrink_to_fit", nbytes);
  const Origin origin = header().origin();
  if (header().capacity() - nbytes < data_alignment || origin == Origin::borrowed ||
      origin == Origin::aliased || origin == Origin::mapped) {
    return;
  }
  stats::detail::WriteReport
      report;  // destroyed last: it calls sinks, and the larger block is released by then
  basic_buffer fitting(cow::basic_allocated<Sync>::create(nbytes, allocator()));
  if (fitting.header().capacity() >= header().capacity()) {
    return;
  }
  report.begin();
  allocator().copy(fitting.header().data(), header().data(), nbytes);
  report.copied(header(), fitting.header(), {nbytes, stats::CopyCause::resized, site});
  exchange(fitting);
}

template <sync::Sync Sync>
void basic_buffer<Sync>::expect_unique(const char* operation, std::size_t nbytes) {
  look_for_other_processes();
  if (!header().share().is_unique() && !is_unique_in_order()) {
    throw NotUnique(
        format_text("cannot %s to %zu bytes: the buffer's %zu bytes are shared or being copied. "
                    "Call materialize() first, or %s before cloning.",
                    operation, nbytes, header().nbytes(), operation));
  }
}

/// If this is data in pages that other processes mapped, looks whether they still do.
template <sync::Sync Sync>
void basic_buffer<Sync>::look_for_other_processes() noexcept {
  if (header().origin() == Origin::paged) {
    static_cast<cow::basic_paged<Sync>&>(header()).look_for_other_processes();
  }
}

/// If the data grows, requests spare capacity first. If there is no memory for that, requests
/// exactly `nbytes` bytes.
template <sync::Sync Sync>
auto basic_buffer<Sync>::copy_with_room(std::size_t nbytes, std::size_t former) const -> Header* {
  if (const std::size_t roomy = detail::grown_capacity(former, nbytes);
      nbytes > former && roomy > nbytes) {
    try {
      return cow::basic_allocated<Sync>::create_copy(roomy, header());
    } catch (const OutOfMemory&) {
      // Fall through: `nbytes` bytes alone may fit.
    }
  }
  return cow::basic_allocated<Sync>::create_copy(nbytes, header());
}

}  // namespace byre::inline BYRE_ABI
