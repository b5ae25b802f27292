// SPDX-License-Identifier: BSL-1.0
/// The records of a recording, shown.
#pragma once

#include <byre/stats/counters.hpp>
#include <byre/stats/detail/records.hpp>

#include <string>

namespace byre::inline v0::trace::detail {

/// "train.cpp:42", or "" for a line that is not known. Throws std::bad_alloc, as all here.
std::string line_of(stats::detail::SiteId site);

/// "train.cpp:42 (3 times)"
std::string line_of(const stats::detail::ClonedAt& line);

/// `before`: what was counted when the recording began, at `begin_ns`.
std::string chrome_trace(const stats::detail::Records& records, const stats::Counters& before,
                         std::int64_t begin_ns);
std::string summary_of(const stats::detail::Records& records);

}  // namespace byre::inline v0::trace::detail
