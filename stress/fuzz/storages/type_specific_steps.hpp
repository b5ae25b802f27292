// SPDX-License-Identifier: BSL-1.0
/// The steps that buffers and storages do not share: copies, and storages made of buffers.
#pragma once

#include <byre/storage/explain.hpp>

#include <string>
#include <utility>

#include "checks.hpp"
#include "create_steps.hpp"
#include "target_state.hpp"

namespace byre::fuzz {

/// The copy constructor. It ends the program where the copy of memory that others write fails.
inline void copy(TargetState& target, BufferSlot& from, BufferSlot& to) {
  if (from.expected.has_others() && target.faults.is_armed()) {
    return;
  }
  trace("buffer: copy construction");
  clone(target, from, to, [](const Buffer& source) { return Buffer(source); });
}

/// Another handle.
inline void copy(TargetState&, StorageSlot& from, StorageSlot& to) {
  trace("storage: another handle");
  to.real = from.real;
  to.expected = from.expected;
}

template <class Slot>
void explain_it(Slot& slot) {
  const std::string text = explain(slot.real);
  trace("explain: %s", text.c_str());
  const bool has_bytes = slot.value() != nullptr && slot.value()->data != nullptr;
  const std::string start =
      has_bytes ? std::to_string(slot.value()->bytes.size()) + " bytes at" : "no bytes:";
  if (!text.starts_with(start)) {
    fail("explain() says '%s', and the model has '%s'", text.c_str(), start.c_str());
  }
  const bool is_pinned = slot.value() != nullptr && slot.value()->pins != 0;
  if ((text.find("pinned") != std::string::npos) != is_pinned) {
    fail("explain() says '%s', and the model has %s", text.c_str(), is_pinned ? "pins" : "no pin");
  }
}

/// Copy assignment.
inline void special(TargetState& target, BufferSlot& from, BufferSlot& to) {
  if (from.expected.has_others()) {
    return explain_it(to);
  }
  trace("buffer: copy assignment%s", &from == &to ? " to itself" : "");
  to.real = from.real;
  to.expected = target.model.lazy_clone(from.expected);
}

/// A storage takes the bytes of a buffer, which keeps them if there is no memory for the storage.
inline void take_over(TargetState& target, BufferSlot& from, StorageSlot& to) {
  trace("storage: of a buffer's bytes");
  Storage made;
  if (target.faults.during([&] { made = Storage(std::move(from.real)); }) == Fault::none) {
    to.put(std::move(made), std::exchange(from.expected, {}));
  }
  check(from);
}

/// A storage of what a buffer has.
inline void special(TargetState& target, StorageSlot& from, StorageSlot& to) {
  BufferSlot& buffer = target.buffers[target.input.below(target.buffers.size())];
  switch (is_busy(buffer) ? 2 : target.input.below(3)) {
    case 0:
      return take_over(target, buffer, to);
    case 1:
      if (!buffer.expected.has_others() || !target.faults.is_armed()) {
        trace("storage: of a lazy clone of a buffer");
        clone(target, buffer, to, [](const Buffer& source) { return Storage(source); });
        check(buffer);
      }
      return;
    default:
      if ((from.real == to.real) != (from.expected == to.expected)) {
        fail("two handles are equal and do not alias, or the reverse");
      }
      explain_it(to);
  }
}

}  // namespace byre::fuzz
