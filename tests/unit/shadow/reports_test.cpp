// SPDX-License-Identifier: BSL-1.0
/// What reports say, how often, and to whom.
#include <byre/shadow/summary.hpp>

#include "../support/at_once.hpp"
#include "../support/caught_warnings.hpp"
#include "tracked.hpp"

namespace byre::test {
namespace {

/// Writes through the reshaped tensor, and reads the input.
void violate(Tracked& tracked) {
  const ShadowHandle flat = tracked.reshape(10);
  tracked.write(flat.get(), 11);
  tracked.read(nullptr, 12);
}

TEST_F(Shadows, a_report_says_what_happens_where_and_what_to_write) {
  violate(tracked);
  EXPECT_EQ(
      to_string(reports.only()),
      "this code relies on reshape sharing memory with what it reshapes, and reshape is to "
      "become a copy.\n"
      "  reshaped at src/model/layers.cpp:10, [2, 3] to [6]\n"
      "  written at src/model/layers.cpp:11, as [2, 3]\n"
      "  then read at src/model/layers.cpp:12, as [2, 3]\n"
      "Today the read sees what was written; with a copy it will not. If the two are to share "
      "memory, write view in place of reshape at src/model/layers.cpp:10.");
}

TEST_F(Shadows, one_triple_of_lines_is_told_once_and_counted) {
  for (int time = 0; time < 5; ++time) {
    Tracked another({time, 4});  // other shapes, the same lines
    violate(another);
  }
  EXPECT_EQ(reports.count(), 1U);
  const shadow::Summary summary = shadow::summary();
  ASSERT_EQ(summary.triples.size(), 1U);
  EXPECT_EQ(summary.triples[0].count, 5U);
  EXPECT_EQ(summary.violations, 5U);
  EXPECT_EQ(summary.reshapes, 5U);
}

}  // namespace
}  // namespace byre::test
