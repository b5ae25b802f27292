// SPDX-License-Identifier: BSL-1.0
// Two libraries of one program that contain a byre each share no state of it.
#include <cstdio>

#include "copy.hpp"

int main() {
  first::clone_and_write(3);
  second::clone_and_write(5);
  std::printf("%d and %d lazy clones\n", int(first::lazy_clones()), int(second::lazy_clones()));
  const bool apart = first::lazy_clones() == 3 && second::lazy_clones() == 5 &&
                     first::default_allocator() != second::default_allocator();
  return apart ? 0 : 1;
}
