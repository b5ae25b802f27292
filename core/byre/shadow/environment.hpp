// SPDX-License-Identifier: BSL-1.0
/// What the environment says of reports:
///   BYRE_RESHAPE_SUMMARY=stderr, FILE.json or FILE.txt   print_summary there, at exit
///   BYRE_RESHAPE_SILENCE=FILE                            silence_sites(FILE)
///   BYRE_RESHAPE_BACKTRACE=1                             keep backtraces; 0 is not to
/// An empty value is as none. Each process writes its summary, also if it watched nothing: what an
/// earlier one wrote is not to be taken for its own. The others matter to who watches a reshape.
#pragma once

namespace byre::inline v0::shadow::detail {

/// Called when a reshape is watched; the first time that goes well does all that is to be done before
/// the exit. A summary that cannot be written there is a warning.
///
/// Thread-safe. Throws InvalidArgument for values that are none of these, and what silence_sites
/// throws, each time until the environment is right: nothing is silenced then.
void heed_environment();

}  // namespace byre::inline v0::shadow::detail
