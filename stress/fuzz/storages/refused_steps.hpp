// SPDX-License-Identifier: BSL-1.0
/// Calls that have to be refused, before anything changes.
#pragma once

#include <byre/error/error.hpp>

#include "../target.hpp"
#include "target_state.hpp"

namespace byre::fuzz {

/// A call that has to throw a Refusal.
template <class Refusal, class Call>
void expect_refusal(const char* what, Call call) {
  try {
    call();
  } catch (const Refusal& refusal) {
    trace("  refused: %s", refusal.what());
    return;
  }
  fail("%s was not refused", what);
}

template <class Slot>
void adopt_nothing(Slot& slot) {
  using Real = typename Slot::Real;
  const auto expect_release = [](const char* what, const auto& adopt) {
    int releases = 0;
    expect_refusal<InvalidArgument>(what, [&] { adopt([&releases](void*) { ++releases; }); });
    if (releases != 1) {
      fail("%s: the deleter was called %d times", what, releases);
    }
  };
  void* const none = nullptr;
  const void* const no_constant = nullptr;
  expect_release("adopting five bytes of nothing",
                 [&](auto deleter) { slot.real = Real::adopt(none, 5, deleter); });
  expect_release("adopting five constant bytes of nothing",
                 [&](auto deleter) { slot.real = Real::adopt_read_only(no_constant, 5, deleter); });
  expect_release("adopting five aliased bytes of nothing",
                 [&](auto deleter) { slot.real = Real::adopt_aliased(none, 5, deleter); });
  expect_release("adopting five aliased constant bytes of nothing",
                 [&](auto deleter) { slot.real = Real::adopt_aliased(no_constant, 5, deleter); });
}

/// One of them, by the input's choice.
template <class Slot>
void ask_for_what_cannot_be(TargetState& target, Slot& slot) {
  using Real = typename Slot::Real;
  trace("%s: what cannot be", Slot::kind);
  switch (target.input.below(8)) {
    case 0:
      return expect_refusal<InvalidArgument>("an allocation larger than any object", [&] {
        slot.real = Real::allocate(max_nbytes + 1, target.choose_allocator());
      });
    case 1:
      return expect_refusal<OutOfMemory>("an allocation of all addresses",
                                         [&] { slot.real = Real::allocate(max_nbytes); });
    case 2:
      return adopt_nothing(slot);
    case 3:
      return expect_refusal<InvalidArgument>("adopting without a deleter", [&] {
        void (*const deleter)(void*) = nullptr;
        slot.real = Real::adopt(&target, 1, deleter);
      });
    case 4:
      return expect_refusal<InvalidArgument>("borrowing five bytes of nothing", [&] {
        slot.real = Real::borrow(static_cast<void*>(nullptr), 5);
      });
    case 5:
      return expect_refusal<FileError>("mapping a file that is not there", [&] {
        slot.real = Real::map_file(mappable_files().front().path / "none");
      });
    case 6:
      return expect_refusal<FileError>("mapping a folder", [&] {
        slot.real = Real::map_file(mappable_files().front().path.parent_path());
      });
    default:
      // Shared data is refused for being shared, and an empty storage for having nothing to resize.
      return expect_refusal<Error>("a resize beyond any object",
                                   [&] { slot.real.resize(max_nbytes + 1); });
  }
}

}  // namespace byre::fuzz
