// SPDX-License-Identifier: BSL-1.0
/// The book of reports: each distinct triple of call sites, reshape, write and access, is reported once
/// and counted after that. Advice is made here, by all that is in the book.
#pragma once

#include <byre/shadow/report.hpp>

namespace byre::inline v0::shadow::detail {

/// What advice is made of, beside the violation itself.
struct Circumstances {
  bool writer_is_reshaped = false;  ///< the writing family came out of the accessing one
  bool follows =
      false;  ///< the accessing one came out of the writing one, and observed earlier writes
  bool replaces = false;      ///< the access writes all there is
  CallSite writer_reshape{};  ///< which made the writing family; line 0 for none
};

/// Reports a violation that is not suppressed, counts it, or throws it: ReshapeViolation, if its reshape
/// was in error mode.
[[gnu::cold]] void report(Violation violation, const Circumstances& circumstances);

// Wait-free.
void count_reshape() noexcept;
void count_suppressed() noexcept;
void count_escape() noexcept;
/// The first one of a storage. Locks.
void record_escape_site(const CallSite& site) noexcept;

}  // namespace byre::inline v0::shadow::detail
