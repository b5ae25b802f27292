// SPDX-License-Identifier: BSL-1.0
/// Steps that change sizes of buffers and storages, on byre and on the model.
#pragma once

#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/detail/buffer_impl.hpp>

#include <algorithm>
#include <utility>

#include "change_steps.hpp"

namespace byre::programs {

/// Resizes unshared data by `call`.
template <class T, class Slot, class Call>
void resize_alone(State<T>& state, Slot& slot, std::size_t nbytes, Call call) {
  Value& value = *slot.value();
  const std::size_t kept_nbytes = std::min(nbytes, value.nbytes());
  const std::size_t capacity = value.data == nullptr ? 0 : value.data->description().capacity;
  const std::size_t asked = value.data == nullptr || nbytes <= capacity
                                ? nbytes
                                : byre::detail::grown_capacity(capacity, nbytes);
  const std::byte* const before = std::as_const(slot.real).data();
  value.busy = true;
  // If several threads run, the model knows neither the capacity of a storage nor whether the
  // resize requested more memory first.
  const bool may_have_grown =
      asked > nbytes || !(state.knows_capacities() || requires { slot.real.capacity(); });
  const Fault fault = state.faults.during(call, may_have_grown || state.is_of_pages(value));
  value.busy = false;
  if (fault != Fault::none) {
    return;
  }
  const bool has_moved = std::as_const(slot.real).data() != before;
  if (value.data == nullptr) {
    value.data = state.allocated(std::as_const(slot.real), default_allocator());
  } else if (has_moved) {
    Allocator& allocator = value.allocator();
    value.data.reset();
    value.data = state.allocated(std::as_const(slot.real), allocator, asked);
    state.predictions.copy(value.nbytes(), stats::CopyCause::resized);
  }
  if (state.knows_capacities() && capacity != 0 && has_moved != (nbytes > capacity)) {
    fail("a resize to %zu bytes moved wrongly: the capacity is %zu", nbytes, capacity);
  }
  value.resize(nbytes);
  // Bytes past the old size are indeterminate: the model copies them from byre.
  if (slot.real.nbytes() == nbytes && nbytes > kept_nbytes) {
    const Bytes unspecified(slot.real.data() + kept_nbytes, slot.real.data() + nbytes);
    value.put(kept_nbytes, unspecified);
  }
}

/// Whether a storage has other handles; always false for a buffer.
template <class Real>
bool has_aliases(const Real& real) {
  if constexpr (requires { real.handle_count(); }) {
    return real.handle_count() > 1;
  } else {
    return false;
  }
}

/// Makes a call, and fails unless the call throws `Refusal`.
template <class Refusal, class Call>
void expect_refusal(const char* what, Call call) {
  try {
    call();
  } catch (const Refusal& refusal) {
    trace("  refused: %s", refusal.what());
    return;
  }
  fail("%s did not throw", what);
}

/// Whether the data is shared, so that its size must not change. If other threads run, the result
/// `true` may be out of date at once; the result `false` is not.
template <class T, class Slot>
bool is_shared(const State<T>& state, Slot& slot) {
  return state.is_only_program ? !is_alone(slot.value()->data) : !slot.real.is_unique();
}

template <class T, class Slot>
void resize(State<T>& state, Slot& slot) {
  const std::size_t nbytes = state.choose_nbytes();
  trace("  to %zu bytes", nbytes);
  const auto call = [&] { slot.real.resize(nbytes); };
  if (slot.value() == nullptr) {
    expect_refusal<InvalidArgument>("a resize of an empty handle", call);
  } else if (slot.value()->pins != 0) {
    expect_refusal<NotUnique>("a resize of pinned bytes", call);
  } else if (is_shared(state, slot)) {
    if (state.is_only_program) {
      expect_refusal<NotUnique>("a resize of shared bytes", call);
    }
  } else if (nbytes < slot.real.nbytes() && has_aliases(slot.real)) {
    expect_refusal<NotUnique>("a shrinking resize with another handle", call);
  } else {
    resize_alone(state, slot, nbytes, call);
  }
}

/// Calls shrink_to_fit() for unshared data. Only the allocators that round sizes may lack a smaller
/// block.
template <class T, class Slot, class Call>
void shrink_alone(State<T>& state, Slot& slot, Call call) {
  Value& value = *slot.value();
  const std::byte* const before = std::as_const(slot.real).data();
  const Origin origin = value.data == nullptr ? Origin::borrowed : value.origin();
  const bool is_ours = origin == Origin::allocated || origin == Origin::adopted;
  const bool may_shrink = (is_ours || origin == Origin::paged || origin == Origin::overlay) &&
                          value.data->description().capacity >= value.nbytes() + data_alignment;
  const Faults::WithoutSteps without_steps(state.faults);
  value.busy = true;
  const Fault fault = state.faults.during(call, state.is_of_pages(value));
  value.busy = false;
  const bool did_shrink = std::as_const(slot.real).data() != before;
  if (did_shrink && ((!may_shrink && state.knows_capacities()) || fault != Fault::none)) {
    fail("%s: shrink_to_fit moved %zu bytes", Slot::kind, value.nbytes());
  }
  const Allocator* const allocator = &value.allocator();
  const bool is_rounded = allocator == &default_allocator() || allocator == &paged_allocator();
  if (!did_shrink && may_shrink && state.knows_capacities() && fault == Fault::none && is_ours &&
      !is_rounded) {
    fail("%s: shrink_to_fit did not shrink %zu bytes", Slot::kind, value.nbytes());
  }
  if (did_shrink) {
    Allocator& from = value.allocator();
    value.data.reset();
    value.data = state.allocated(std::as_const(slot.real), from);
    state.predictions.copy(value.nbytes(), stats::CopyCause::resized);
  }
}

template <class T, class Slot>
void shrink_to_fit(State<T>& state, Slot& slot) {
  const auto call = [&] { slot.real.shrink_to_fit(); };
  if (slot.value() == nullptr) {
    call();
  } else if (slot.value()->pins != 0) {
    expect_refusal<NotUnique>("a shrink_to_fit of pinned bytes", call);
  } else if (is_shared(state, slot)) {
    if (state.is_only_program) {
      expect_refusal<NotUnique>("a shrink_to_fit of shared bytes", call);
    }
  } else {
    shrink_alone(state, slot, call);
  }
}

}  // namespace byre::programs
