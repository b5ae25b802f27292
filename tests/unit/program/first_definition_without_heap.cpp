// SPDX-License-Identifier: BSL-1.0
// The operators that come along are defined by the first call that asks for one. Each of its allocations
// is made to fail, one after another: nothing of it is left then, and the next call tries again. A program
// of its own, since there is one first definition in each.
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/key.hpp>

#include <cstdio>
#include <string_view>

#include "support/failing_new.hpp"

namespace {

using namespace byre::functional;
using byre::test::live_new_count;
using byre::test::never_fails;
using byre::test::news_before_failure;

/// Answers whether an operator was found, with allocation number `nth` failing.
bool is_found_without_new(int nth) {
  news_before_failure = nth;
  const Operator* found = nullptr;
  try {
    found = find_if_any("add");
  } catch (const byre::OutOfMemory&) {
  }
  news_before_failure = never_fails;
  return found != nullptr;
}

/// All that a definition has: as many as any other program finds, that compute.
bool is_whole() {
  const AnyTensor numbers = call_for_one("arange", {3, byre::DType::f32});
  const AnyTensor sum = call_for_one("sum", {call_for_one("add", {numbers, numbers})});
  bool is_whole = sum.ndim() == 0 && fallback(Key::functionalize) != nullptr;
  for (const Operator* const op : operators()) {
    const bool is_computed = op->composite() != nullptr || op->view() != nullptr ||
                             op->functional_variant() != nullptr || op->view_variant() != nullptr ||
                             !op->registered_keys().empty();
    if (!is_computed) {
      std::printf("nothing computes %s\n", op->name().c_str());
      is_whole = false;
    }
  }
  return is_whole;
}

}  // namespace

int main() {
  news_before_failure = 0;
  const bool is_named = std::string_view(name_of(Key::cpu)) == "cpu";  // and no end of the program
  news_before_failure = never_fails;
  const auto before = live_new_count;
  int nth = 0;
  for (; !is_found_without_new(nth); ++nth) {
    if (live_new_count != before) {
      std::printf("allocation %d failed, and %td are left\n", nth, live_new_count - before);
      return 1;
    }
  }
  std::printf("found once %d allocations succeeded, %zu operators\n", nth, operators().size());
  return is_named && nth > 1000 && is_whole() ? 0 : 1;
}
