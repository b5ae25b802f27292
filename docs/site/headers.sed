# SPDX-License-Identifier: BSL-1.0
# What doxygen reads of a header. A header's first comment is about the file.
1s|.*|/// \\file|
# The inline namespace of the version is in no name that users write.
s/::inline v0\b//
# Figures and tables of comments are set as they are, and invariants as a list.
s|^\( *///\)   |\1       |
s|^\( *///\) \([IG][0-9]\)  |\1 - \2 |
