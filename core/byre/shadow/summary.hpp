// SPDX-License-Identifier: BSL-1.0
/// The summary of all violations, written for people and for programs.
#pragma once

#include <byre/shadow/report_book.hpp>

#include <string>

namespace byre::inline v0::shadow {

/// For people, with a newline at its end. Throws std::bad_alloc.
std::string to_string(const Summary& summary);
/// One JSON object: reshapes, violations, silenced, unaudited, unaudited_lines, triples. Throws
/// std::bad_alloc.
std::string to_json(const Summary& summary);

/// Writes summary() to `where`: "stderr", or a file, which appears complete or not at all, as JSON if
/// its name ends in .json and as text if in .txt; the first %p in it is replaced by the number of the
/// process. Thread-safe. Throws InvalidArgument for other names, FileError, std::bad_alloc.
void print_summary(const std::string& where);

namespace detail {
/// Throws what print_summary would for a name that is no file's it could write.
void check_place_of_summary(const std::string& where);
}  // namespace detail
}  // namespace byre::inline v0::shadow
