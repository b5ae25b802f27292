// SPDX-License-Identifier: BSL-1.0
/// What the environment says of reports:
///   BYRE_RESHAPE_SUMMARY=stderr, FILE.json or FILE.txt   print_summary there, at exit
///   BYRE_RESHAPE_SUPPRESSIONS=FILE                       suppress_sites(FILE)
/// BYRE_RESHAPE_SILENCE is the name of the second in releases before, and is read if that is not set. An
/// empty value is as none. Each process writes its summary, also if it tracked nothing: what an earlier
/// one wrote is not to be taken for its own.
#pragma once

namespace byre::inline v0::shadow::detail {

/// Called when a reshape is tracked; the first time that succeeds does all that is to be done before the
/// exit. A summary that cannot be written there is a warning.
///
/// Thread-safe. Throws InvalidArgument for values that are none of these, and what suppress_sites
/// throws, each time until the environment is right: nothing is suppressed then.
void heed_environment();

}  // namespace byre::inline v0::shadow::detail
