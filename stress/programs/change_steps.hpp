// SPDX-License-Identifier: BSL-1.0
/// Steps that read, change, move or release buffers and storages, on byre and on the model.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "create_steps.hpp"

namespace byre::programs {

template <class Slot>
void move_value(Slot& from, Slot& to) {
  to.real = std::move(from.real);
  if (&from != &to) {
    to.expected = std::exchange(from.expected, {});
  }
}

template <class Slot>
void swap_values(Slot& left, Slot& right) {
  using std::swap;
  swap(left.real, right.real);
  swap(left.expected, right.expected);
}

/// Chooses by the input whether a write may wait. A write must not wait for a copy that cannot end
/// before this step does.
template <class T>
Wait choose_wait(State<T>& state, const DataOwner& data) {
  const bool is_in_copy = state.depth != 0 && !state.is_only_program;
  const bool never = state.choices.flag() || is_in_copy ||
                     (state.is_only_program && data != nullptr && would_wait(data));
  return never ? Wait::never : Wait::allowed;
}

/// A write while other threads may drop or clone the data.
template <class T, class Slot>
std::optional<Materialized> materialize_among_others(State<T>& state, Slot& slot, Value& value,
                                                     Wait wait) {
  const bool was_shared = !slot.real.is_unique();
  const bool was_read_only = slot.real.is_read_only();
  Write write;
  value.busy = true;
  const Fault fault = state.faults.during([&] { write.answer = slot.real.materialize(wait); },
                                          state.is_of_pages(value));
  value.busy = false;
  if (fault != Fault::none) {
    return std::nullopt;
  }
  const Materialized answer = write.answer;
  const bool is_copy = answer == Materialized::copied || answer == Materialized::overlaid;
  if (!was_shared && !was_read_only && answer != Materialized::already_unique) {
    fail("%s: a write copied or stole unshared data", Slot::kind);
  }
  if (was_read_only && !is_copy) {
    fail("%s: read-only data was not copied", Slot::kind);
  }
  if (!slot.real.is_unique() || slot.real.is_read_only()) {
    fail("%s: a write left the data shared", Slot::kind);
  }
  state.end_write(std::as_const(slot.real), value, std::move(write));
  return answer;
}

/// Materializes a slot by `call(wait)`. Returns the result, or nothing if the call failed.
template <class T, class Slot, class Call>
std::optional<Materialized> materialize_by(State<T>& state, Slot& slot, Call call) {
  Value no_storage;
  Value& value = slot.value() != nullptr ? *slot.value() : no_storage;
  const Wait wait = choose_wait(state, value.data);
  trace("  %s wait", wait == Wait::never ? "must not" : "may");
  if (!state.is_only_program) {
    const auto answer = materialize_among_others(state, slot, value, wait);
    if (answer && state.faults.during([&] { call(wait); }) != Fault::none) {
      return std::nullopt;
    }
    return answer;
  }
  Write write = begin_write(value, wait);
  const bool may_be_overlaid =
      write.answer == Materialized::copied &&
      is_in_pages((write.source != nullptr ? write.source : value.data)->description().origin);
  if (state.faults.during([&] { call(wait); }, state.is_of_pages(value)) != Fault::none) {
    refuse_write(value, std::move(write));
    return std::nullopt;
  }
  if (may_be_overlaid && slot.real.origin() == Origin::overlay) {
    write.answer = Materialized::overlaid;
  }
  const Materialized answer = write.answer;
  state.end_write(std::as_const(slot.real), value, std::move(write));
  return answer;
}

template <class T, class Slot>
void materialize(State<T>& state, Slot& slot) {
  Materialized answer{};
  const bool knows_answer =
      state.is_only_program && (slot.value() == nullptr || state.knows_overlays_of(*slot.value()));
  const auto expected =
      materialize_by(state, slot, [&](Wait wait) { answer = slot.real.materialize(wait); });
  if (expected && knows_answer && answer != *expected) {
    fail("materialize() returned %d, expected %d", int(answer), int(*expected));
  }
}

/// Bytes to write to a part of `all_nbytes` bytes. The input chooses the part: a few bytes, or all
/// bytes from an offset on.
class RangeWrite {
 public:
  template <class T>
  RangeWrite(State<T>& state, std::size_t all_nbytes) {
    const std::size_t choice = state.choices.byte();
    from_ = choice < 128 ? state.choices.byte() * all_nbytes / 256 : 0;
    const std::size_t most = choice % 8 == 0 ? all_nbytes : state.choices.byte() + 1U;
    bytes_ = state.new_bytes(std::min(most, all_nbytes - from_), from_);
  }

  std::size_t offset() const noexcept { return from_; }
  std::size_t nbytes() const noexcept { return bytes_.size(); }
  void put(std::byte* data) const noexcept {
    std::copy(bytes_.begin(), bytes_.end(), data + from_);
  }
  void put(Value& value) const { value.put(from_, bytes_); }

 private:
  std::size_t from_ = 0;
  Bytes bytes_;
};

template <class T, class Slot>
void write(State<T>& state, Slot& slot) {
  std::byte* data = nullptr;
  if (!materialize_by(state, slot, [&](Wait wait) { data = slot.real.mutable_data(wait); })) {
    return;
  }
  if (data != slot.real.data()) {
    fail("mutable_data() and data() differ");
  }
  if (slot.value() == nullptr || slot.value()->nbytes() == 0) {
    return;
  }
  const RangeWrite written(state, slot.value()->nbytes());
  written.put(data);
  written.put(*slot.value());
}

/// Writes through mutable_range(), which allocates the pages of the range.
template <class T, class Slot>
void write_range(State<T>& state, Slot& slot) {
  const RangeWrite written(state, slot.value() == nullptr ? 0 : slot.value()->nbytes());
  trace("  of %zu bytes from %zu on", written.nbytes(), written.offset());
  std::span<std::byte> range;
  const auto request = [&](Wait wait) {
    range = slot.real.mutable_range(written.offset(), written.nbytes(), wait);
  };
  // If mutable_range() fails for lack of memory for the range, it has already unshared the data.
  const bool may_fail_then = state.faults.system_may_fail;
  const auto is_alone = materialize_by(state, slot, [&](Wait wait) {
    may_fail_then ? void(slot.real.materialize(wait)) : request(wait);
  });
  if (is_alone && may_fail_then) {
    state.faults.during([&] { request(Wait::never); });
  }
  if (!is_alone || range.empty()) {
    return;
  }
  if (range.data() != slot.real.data() + written.offset() || range.size() != written.nbytes()) {
    fail("mutable_range() returned another range");
  }
  written.put(range.data() - written.offset());
  written.put(*slot.value());
}

/// Writes the memory of the value as code other than byre would. Does nothing if no other code may
/// write that memory. The write changes all values in the memory.
template <class T>
void write_by_others(State<T>& state, const Value* value) {
  if (value == nullptr || !value->has_other_writers() || value->nbytes() == 0) {
    return;
  }
  const RangeWrite written(state, value->nbytes());
  const DataOwner data = value->data;
  written.put(data->description().others_data);
  // Several handles may share a value, which must be updated once.
  std::vector<const Value*> done;
  state.for_each_value([&](Value& each) {
    if (each.data == data && std::ranges::find(done, &each) == done.end()) {
      written.put(each);
      done.push_back(&each);
    }
  });
}

/// Asks a storage for its version, and compares its bytes with those at the last call, if that call
/// returned this version.
template <class T>
void ask_version(StorageSlot<T>& slot) {
  const std::uint64_t version = slot.real.version();
  Value* const value = slot.value();
  if (value == nullptr || value->data == nullptr) {
    if (version != 0) {
      fail("the version of an empty storage is not 0");
    }
    return;
  }
  value->data->has_versions = true;
  if (version == value->version && value->bytes != value->bytes_of_version) {
    fail("a write did not change version %llu", static_cast<unsigned long long>(version));
  }
  value->version = version;
  value->bytes_of_version = value->bytes;
  const bool is_constant = value->pins == 0 && !value->has_other_writers();
  if ((slot.real.version() == version) != is_constant) {
    fail("a second call returned %s version", is_constant ? "another" : "the previous");
  }
}

/// Makes a writable clone, after which the source and the clone may be written through older
/// pointers. If the data is in pages, both become overlays; other data is copied.
template <class T, class Slot>
void writable_clone(State<T>& state, Slot& from, Slot& to) {
  const auto make = [](typename Slot::Real& source) { return source.writable_clone(); };
  Value* const source = from.value();
  if (source == nullptr || source->data == nullptr) {
    return clone(state, from, to, make);
  }
  if (!materialize_by(state, from, [&](Wait wait) { from.real.materialize(wait); })) {
    return;
  }
  auto* const place = const_cast<std::byte*>(std::as_const(from.real).data());
  const bool is_of_pages = state.is_of_pages(*source);
  if (is_of_pages) {  // the model cannot tell a failed clone from a failed storage
    state.faults.disarm(Fault::heap);
  }
  const std::int64_t live_bytes = state.is_only_program ? state.counted().live_bytes : 0;
  typename Slot::Real made;
  source->busy = true;
  const Fault fault = state.faults.during([&] { made = make(from.real); }, is_of_pages);
  source->busy = false;
  if (std::as_const(from.real).data() != place) {
    fail("%s: writable_clone moved its source", Slot::kind);
  }
  const bool is_lazy = made.origin() == Origin::overlay;
  if (from.real.origin() == Origin::overlay) {
    state.end_writable_clone(*source, std::as_const(from.real), is_lazy, live_bytes);
  }
  if (is_lazy) {
    Value value{source->bytes, state.overlay_of(std::as_const(made), source->data)};
    to.put(std::move(made), std::move(value));
  } else if (fault == Fault::none) {
    Value value = value_of_clone(state, std::as_const(made), *source, stats::CopyCause::writable);
    to.put(std::move(made), std::move(value));
  } else if (fault == Fault::heap) {
    count_failed_clone(state, *source, stats::CopyCause::writable);
  }
  if (&from != &to && source->nbytes() != 0) {
    const RangeWrite written(state, source->nbytes());
    written.put(place);
    written.put(*source);
  }
}

}  // namespace byre::programs
