// SPDX-License-Identifier: BSL-1.0
/// The steps that change, move or release values: on byre and on the model, of buffers and of storages.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "refused_steps.hpp"
#include "target_state.hpp"

namespace byre::fuzz {

template <class Slot>
void move_value(Slot& from, Slot& to) {
  trace("%s: move%s", Slot::kind, &from == &to ? " to itself" : "");
  to.real = std::move(from.real);
  if (&from != &to) {
    to.expected = std::exchange(from.expected, {});
  }
}

template <class Slot>
void swap_values(Slot& left, Slot& right) {
  trace("%s: swap%s", Slot::kind, &left == &right ? " with itself" : "");
  using std::swap;
  swap(left.real, right.real);
  swap(left.expected, right.expected);
}

template <class Slot>
void drop(Slot& slot) {
  trace("%s: drop", Slot::kind);
  slot.clear();
}

/// By the input's choice, unless it would wait for a copy that waits for this step.
inline Wait choose_wait(TargetState& target, const Value* value) {
  const bool would_wait = value != nullptr && value->owners() == 1 && value->data->copies != 0;
  return target.input.below(2) != 0 || would_wait ? Wait::never : Wait::allowed;
}

/// Materializes a slot by `call(wait)`. Returns the predicted result; none if it failed.
template <class Slot, class Call>
std::optional<Materialized> become_alone(TargetState& target, Slot& slot, Call call) {
  Value no_storage;
  Value& value = slot.value() != nullptr ? *slot.value() : no_storage;
  const Wait wait = choose_wait(target, &value);
  trace("  %s wait", wait == Wait::never ? "never to" : "may");
  Model::Write write = Model::begin_write(value, wait);
  const Materialized answer = write.answer;
  if (target.faults.during([&] { call(wait); }) != Fault::none) {
    Model::refuse_write(value, std::move(write));
    return std::nullopt;
  }
  target.model.end_write(value, std::move(write));
  return answer;
}

template <class Slot>
void materialize(TargetState& target, Slot& slot) {
  trace("%s: materialize", Slot::kind);
  Materialized answer{};
  const auto expected =
      become_alone(target, slot, [&](Wait wait) { answer = slot.real.materialize(wait); });
  if (expected && answer != *expected) {
    fail("materialize() answers %d, and the model has %d", int(answer), int(*expected));
  }
}

/// Bytes to write to a part of `all_nbytes`, by the input's choice.
class Written {
 public:
  Written(TargetState& target, std::size_t all_nbytes)
      : from_(target.input.byte() * all_nbytes / 256),
        bytes_(
            target.new_bytes(std::min<std::size_t>(target.input.byte() + 1U, all_nbytes - from_))) {
  }

  void put(std::byte* data) const noexcept {
    std::memcpy(data + from_, bytes_.data(), bytes_.size());
  }

 private:
  std::size_t from_;
  Bytes bytes_;
};

template <class Slot>
void write(TargetState& target, Slot& slot) {
  trace("%s: write", Slot::kind);
  std::byte* data = nullptr;
  if (!become_alone(target, slot, [&](Wait wait) { data = slot.real.mutable_data(wait); })) {
    return;
  }
  if (data != slot.real.data()) {
    fail("mutable_data() is not where data() is");
  }
  if (slot.value() == nullptr || slot.value()->bytes.empty()) {
    return;
  }
  const Written written(target, slot.value()->bytes.size());
  written.put(data);
  written.put(slot.value()->bytes.data());
}

/// By others, if they may: seen by all that have that memory.
inline void write_by_others(TargetState& target, const Value& value) {
  if (!value.has_others() || value.bytes.empty()) {
    return;
  }
  trace("  others write");
  const Written written(target, value.bytes.size());
  written.put(value.data->is().others_data);
  target.for_each_value([&](Value& each) {
    if (each.data == value.data) {
      written.put(each.bytes.data());
    }
  });
}

/// The resize of unshared data, by `call`.
template <class Slot, class Call>
void resize_alone(TargetState& target, Slot& slot, std::size_t nbytes, Call call) {
  Value& value = *slot.value();
  const std::size_t kept_nbytes = std::min(nbytes, value.bytes.size());
  const bool may_do_with_less =
      value.data != nullptr && nbytes > value.data->is().capacity &&
      byre::detail::grown_capacity(value.data->is().capacity, nbytes) > nbytes;
  value.busy = true;
  const Fault fault = target.faults.during(call, may_do_with_less);
  value.busy = false;
  if (fault != Fault::none) {
    return;
  }
  if (value.data == nullptr) {
    value = target.model.allocated(Bytes(nbytes), default_allocator());
  } else if (nbytes <= value.data->is().capacity) {
    value.bytes.resize(nbytes);
  } else {
    target.model.end_move(value, nbytes);
  }
  // Bytes beyond those that were kept are unspecified.
  if (slot.real.nbytes() == nbytes) {
    std::copy(slot.real.data() + kept_nbytes, slot.real.data() + nbytes,
              value.bytes.data() + kept_nbytes);
  }
}

/// Whether a storage has other handles; a buffer never has.
template <class Real>
bool has_aliases(const Real& real) {
  if constexpr (requires { real.handle_count(); }) {
    return real.handle_count() > 1;
  } else {
    return false;
  }
}

template <class Slot>
void resize(TargetState& target, Slot& slot) {
  const std::size_t nbytes = target.choose_nbytes();
  trace("%s: resize to %zu bytes", Slot::kind, nbytes);
  const auto call = [&] { slot.real.resize(nbytes); };
  if (slot.value() == nullptr) {
    expect_refusal<InvalidArgument>("a resize of no storage", call);
  } else if (slot.value()->pins != 0) {
    expect_refusal<NotUnique>("a resize of what is pinned", call);
  } else if (!slot.value()->is_unique()) {
    expect_refusal<NotUnique>("a resize of what is shared", call);
  } else if (nbytes < slot.real.nbytes() && has_aliases(slot.real)) {
    expect_refusal<NotUnique>("a resize to less than another handle sees", call);
  } else {
    resize_alone(target, slot, nbytes, call);
  }
}

/// The shrink_to_fit of unshared data. Only the pool may have no smaller block.
template <class Slot, class Call>
void shrink_alone(TargetState& target, Slot& slot, Call call) {
  Value& value = *slot.value();
  const std::byte* const before = std::as_const(slot.real).data();
  const Origin origin = value.data == nullptr ? Origin::borrowed : value.data->is().origin;
  const bool may_shrink = (origin == Origin::allocated || origin == Origin::adopted) &&
                          value.data->is().capacity >= value.bytes.size() + data_alignment;
  const Faults::WithoutSteps without_steps(target.faults);
  value.busy = true;
  const Fault fault = target.faults.during(call);
  value.busy = false;
  const bool did_shrink = std::as_const(slot.real).data() != before;
  if (did_shrink && (!may_shrink || fault != Fault::none)) {
    fail("%s: shrink_to_fit moved %zu bytes", Slot::kind, value.bytes.size());
  }
  if (!did_shrink && may_shrink && fault == Fault::none &&
      &value.allocator() != &default_allocator()) {
    fail("%s: shrink_to_fit left %zu bytes", Slot::kind, value.bytes.size());
  }
  if (did_shrink) {
    target.model.end_shrink(value);
  }
}

template <class Slot>
void shrink_to_fit(TargetState& target, Slot& slot) {
  trace("%s: shrink_to_fit", Slot::kind);
  const auto call = [&] { slot.real.shrink_to_fit(); };
  if (slot.value() == nullptr) {
    call();
  } else if (slot.value()->pins != 0) {
    expect_refusal<NotUnique>("a shrink_to_fit of pinned bytes", call);
  } else if (!slot.value()->is_unique()) {
    expect_refusal<NotUnique>("a shrink_to_fit of shared bytes", call);
  } else {
    shrink_alone(target, slot, call);
  }
}

}  // namespace byre::fuzz
