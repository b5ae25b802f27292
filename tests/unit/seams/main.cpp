// SPDX-License-Identifier: BSL-1.0
// One program with two libraries of byre, which have different seams.
#include <cstdio>
#include <initializer_list>

#include "seam.hpp"

int main() {
  int failures = 0;
  for (const Seam* const seam : {&own_seam, &other_seam}) {
    if (const char* const wrong = seam->check(100)) {
      std::printf("%s seam: %s\n", seam == &own_seam ? "own" : "other", wrong);
      ++failures;
    }
  }
  if (own_seam.pool == other_seam.pool) {
    std::puts("both seams use one pool");
    ++failures;
  }
  return failures == 0 ? 0 : 1;
}
