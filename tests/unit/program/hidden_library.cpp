// SPDX-License-Identifier: BSL-1.0
// A library that hides all its symbols but one, as many embedders build theirs.
#include <byre/byre.hpp>

[[gnu::visibility("default")]] byre::Buffer buffer_without_bytes() {
  return {};
}
