// SPDX-License-Identifier: BSL-1.0
/// What the environment says of reports:
///   BYRE_RESHAPE_SUMMARY=stderr, FILE.json or FILE.txt   print_summary there, at exit
///   BYRE_RESHAPE_SILENCE=FILE                            silence_sites(FILE)
///   BYRE_RESHAPE_BACKTRACE=1                             keep backtraces; 0 is not to
/// An empty value is as none. A program that watches no reshape is none of their concern.
#pragma once

namespace byre::inline v0::shadow::detail {

/// Called when a reshape is watched; the first time that goes well does all that is to be done. A
/// summary that cannot be written at exit is a warning then; violations in destructors of statics that
/// were made before the first watched reshape come too late for it.
///
/// Thread-safe. Throws InvalidArgument for values that are none of these, and what silence_sites
/// throws, each time until the environment is right: nothing is silenced or printed then.
void heed_environment();

}  // namespace byre::inline v0::shadow::detail
