// SPDX-License-Identifier: BSL-1.0
// The first call that needs a built-in operator defines all built-in operators. The program lets
// each allocation of that call fail, one after another. A failed call must leave nothing behind,
// and the next call must try again. This is a separate program, because a process has only one
// first definition.
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

/// Whether an operator is found if allocation number `nth` fails.
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

/// Whether all operators are defined, and each can be computed.
bool is_whole() {
  const AnyTensor numbers = call_for_one("arange", {3, byre::DType::f32});
  const AnyTensor sum = call_for_one("sum", {call_for_one("add", {numbers, numbers})});
  bool is_whole = sum.ndim() == 0 && fallback(Key::functionalize) != nullptr;
  for (const Operator* const op : operators()) {
    const bool is_computed = op->composite() != nullptr || op->view() != nullptr ||
                             op->functional_variant() != nullptr || op->view_variant() != nullptr ||
                             !op->registered_keys().empty();
    if (!is_computed) {
      std::printf("%s has no implementation\n", op->name().c_str());
      is_whole = false;
    }
  }
  return is_whole;
}

}  // namespace

int main() {
  news_before_failure = 0;
  // name_of() must not allocate.
  const bool is_named = std::string_view(name_of(Key::cpu)) == "cpu";
  news_before_failure = never_fails;
  const auto before = live_new_count;
  int nth = 0;
  for (; !is_found_without_new(nth); ++nth) {
    if (live_new_count != before) {
      std::printf("allocation %d failed, and %td were not released\n", nth,
                  live_new_count - before);
      return 1;
    }
  }
  std::printf("%zu operators, found after %d successful allocations\n", operators().size(), nth);
  return is_named && nth > 1000 && is_whole() ? 0 : 1;
}
