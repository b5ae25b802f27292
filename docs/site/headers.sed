# SPDX-License-Identifier: BSL-1.0
# Filters a header for doxygen. The first comment of a header documents the file.
1s|.*|/// \\file|
# Users do not write the inline namespace of the version.
s/::inline BYRE_ABI\b//
# Figures and tables in comments stay preformatted, and invariants become a list.
s|^\( *///\)   |\1       |
s|^\( *///\) \([IG][0-9]\)  |\1 - \2 |
