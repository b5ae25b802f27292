// SPDX-License-Identifier: BSL-1.0
// Each step of the share word in a separate function, so that steps.py can inspect its
// instructions.
#include <byre/cow/share_word.hpp>

extern "C" {

void add_owner(byre::ShareWord& word) {
  word.add_owner();
}
bool drop_owner(byre::ShareWord& word) {
  return word.drop_owner();
}
bool is_writable(const byre::ShareWord& word) {
  return word.is_writable();
}
bool is_unique(const byre::ShareWord& word) {
  return word.is_unique();
}
std::uint32_t use_count(const byre::ShareWord& word) {
  return word.use_count();
}
byre::Claim claim_never_to_wait(byre::ShareWord& word) {
  return word.claim(byre::Wait::never);
}
bool finish_copy(byre::ShareWord& word) {
  return word.finish_copy();
}
void abandon_copy(byre::ShareWord& word) {
  word.abandon_copy();
}

}  // extern "C"
