// SPDX-License-Identifier: BSL-1.0
/// The records of a recording, shown.
#pragma once

#include <byre/observe/counters.hpp>
#include <byre/observe/detail/records.hpp>

#include <string>

namespace byre::inline v0::trace::detail {

/// "train.cpp:42", or "" for a line that is not known. Throws std::bad_alloc, as all here.
std::string line_of(stats::detail::SiteId site);

/// "train.cpp:42 (3 times)"
std::string line_of(const stats::detail::ClonedAt& line);

/// `after`: what was counted when the records were taken.
std::string chrome_trace(const stats::detail::Records& records, const stats::Counters& after);
std::string summary_of(const stats::detail::Records& records);

}  // namespace byre::inline v0::trace::detail
