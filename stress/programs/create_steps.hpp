// SPDX-License-Identifier: BSL-1.0
/// Steps that create buffers and storages of every origin, and clones, on byre and on the model.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "checks.hpp"

namespace byre::programs {

template <class T, class Slot>
void allocate(State<T>& state, Slot& to) {
  Allocator& allocator = state.choose_allocator();
  Bytes bytes = state.new_bytes(state.choose_nbytes());
  trace("  %zu bytes from the %s", bytes.size(), allocator.name());
  typename Slot::Real made;
  const Fault fault =
      state.faults.during([&] { made = Slot::Real::allocate(bytes.size(), allocator); },
                          &allocator == &paged_allocator());
  if (fault == Fault::none) {
    DataOwner data = state.allocated(made, allocator);
    std::copy(bytes.begin(), bytes.end(), made.mutable_data());
    to.put(std::move(made), Value{content_of(std::move(bytes)), std::move(data)});
  }
}

/// Creates a value over foreign memory by `make(allocator)`. `description` describes the value for
/// the model.
template <class T, class Slot, class Make>
void make_foreign(State<T>& state, Slot& to, Bytes bytes, Data::Description description,
                  Make make) {
  Allocator& allocator = state.choose_allocator();
  typename Slot::Real made;
  if (state.faults.during([&] { made = make(allocator); }) == Fault::none) {
    description.allocator = &allocator;
    description.capacity = bytes.size();
    to.put(std::move(made), state.make(std::move(bytes), std::move(description)));
  }
}

/// Adopted or aliased memory, writable or read-only.
template <class T, class Slot>
void adopt(State<T>& state, Slot& to) {
  const bool is_aliased = state.choices.flag();
  const bool read_only = state.choices.flag();
  Bytes bytes = state.new_bytes(state.choose_nbytes());
  const std::size_t nbytes = bytes.size();
  trace("  %zu %s%s bytes", nbytes, is_aliased ? "aliased " : "",
        read_only ? "constant" : "writable");
  std::byte* const data = state.memory.adopt(bytes);
  const Memory::Release release{&state.memory, nbytes};
  make_foreign(
      state, to, std::move(bytes),
      {.origin = is_aliased ? Origin::aliased : Origin::adopted,
       .read_only = read_only,
       .others_data = is_aliased ? data : nullptr},
      [&](Allocator& allocator) {
        return typename Slot::Real(T::Buffer::adopt(
            Foreign<Memory::Release>{data, nbytes, release, !read_only, is_aliased}, allocator));
      });
}

template <class T, class Slot>
void borrow(State<T>& state, Slot& to) {
  const bool read_only = state.choices.flag();
  Bytes bytes = state.new_bytes(state.choose_nbytes());
  const std::size_t nbytes = bytes.size();
  trace("  %zu %s bytes", nbytes, read_only ? "constant" : "writable");
  auto lender = std::make_unique<std::byte[]>(nbytes);
  std::copy(bytes.begin(), bytes.end(), lender.get());
  std::byte* const data = lender.get();
  make_foreign(
      state, to, std::move(bytes),
      {.origin = Origin::borrowed,
       .read_only = read_only,
       .others_data = data,
       .lender = std::move(lender)},
      [&](Allocator& allocator) {
        return typename Slot::Real(T::Buffer::adopt(
            Foreign<>{.data = data, .nbytes = nbytes, .may_write = !read_only, .outlives = false},
            allocator));
      });
}

template <class T, class Slot>
void map_file(State<T>& state, Slot& to) {
  const auto& files = state.memory.files();
  const MappableFile& file =
      state.limits.only_pages ? files.back() : files[state.choices.below(files.size())];
  trace("  a file of %zu bytes", file.bytes.size());
  make_foreign(state, to, file.bytes, {.origin = Origin::mapped, .read_only = true},
               [&](Allocator& allocator) { return Slot::Real::map_file(file.path, allocator); });
}

/// Models `made`, a clone of `source`. If `cause` is set, the clone was a copy.
template <class T, class Real>
Value value_of_clone(State<T>& state, const Real& made, const Value& source,
                     std::optional<stats::CopyCause> cause) {
  if (!cause) {
    return state.lazy_clone(source);
  }
  DataOwner data = state.allocated(made, source.allocator());
  state.predictions.copy(source.nbytes(), *cause);
  return {source.bytes, std::move(data)};
}

/// Updates the model after operator new has failed. If the new storage could not be allocated, the
/// buffer had been cloned before, and a copy made by that clone was counted. Small blocks come from
/// operator new, too: if such a block could not be allocated, there was no copy.
template <class T>
void count_failed_clone(State<T>& state, const Value& source,
                        std::optional<stats::CopyCause> cause) {
  if (!cause) {
    state.lazy_clone(source);
  } else if (state.seen_copies.size() > state.predictions.copies.size()) {
    state.predictions.copy(source.nbytes(), *cause);
  }
}

/// Replaces `to` by a lazy clone of `from`, created by `make`. `from` and `to` may be the same
/// slot.
template <class T, class From, class Slot, class Make>
void clone(State<T>& state, From& from, Slot& to, Make make) {
  Value* const source = from.value();
  typename Slot::Real made;
  if (source == nullptr) {  // an empty handle: its clone is empty
    made = make(from.real);
    to.clear();
    return;
  }
  // Computed before the call: pins may be released during it.
  const std::optional<stats::CopyCause> cause = source->cause_of_eager_clone();
  source->busy = true;
  const Fault fault =
      state.faults.during([&] { made = make(from.real); }, cause && state.is_of_pages(*source));
  source->busy = false;
  if (fault == Fault::none) {
    Value value = value_of_clone(state, made, *source, cause);
    to.put(std::move(made), std::move(value));
  } else if (fault == Fault::heap) {
    count_failed_clone(state, *source, cause);
  }
}

template <class T, class Slot>
void lazy_clone(State<T>& state, Slot& from, Slot& to) {
  using Real = typename Slot::Real;
  clone(state, from, to, [](const Real& source) { return source.lazy_clone(); });
}

/// Copies by the copy constructor, which terminates the program if it has to copy memory with other
/// writers and that copy fails.
template <class T>
void copy(State<T>& state, BufferSlot<T>& from, BufferSlot<T>& to) {
  if (from.expected.has_other_writers() &&
      (state.faults.is_armed() || state.faults.system_may_fail)) {
    return;
  }
  using Real = typename T::Buffer;
  clone(state, from, to, [](const Real& source) { return Real(source); });
}

/// Copies the handle.
template <class T>
void copy(State<T>&, StorageSlot<T>& from, StorageSlot<T>& to) {
  to.real = from.real;
  to.expected = from.expected;
}

/// Copy assignment.
template <class T>
void assign(State<T>& state, BufferSlot<T>& from, BufferSlot<T>& to) {
  if (from.expected.has_other_writers()) {
    return;
  }
  to.real = from.real;
  to.expected = state.lazy_clone(from.expected);
}

/// Creates a storage from a buffer, which is moved or lazily cloned. If there is no memory for the
/// storage, the buffer retains its bytes.
template <class T>
void assign(State<T>& state, StorageSlot<T>& from, StorageSlot<T>& to) {
  BufferSlot<T>& buffer = state.buffers[state.choices.below(state.buffers.size())];
  if ((from.real == to.real) != (from.expected == to.expected)) {
    fail("two handles compare equal but do not alias, or vice versa");
  }
  if (is_busy(buffer)) {
    return;
  }
  if (state.choices.flag()) {
    trace("  takes a buffer's bytes");
    typename T::Storage made;
    if (state.faults.during([&] { made = typename T::Storage(std::move(buffer.real)); }) ==
        Fault::none) {
      to.put(std::move(made), std::exchange(buffer.expected, {}));
    }
  } else if (!buffer.expected.has_other_writers() ||
             !(state.faults.is_armed() || state.faults.system_may_fail)) {
    trace("  clones a buffer");
    clone(state, buffer, to, [](const auto& source) { return typename T::Storage(source); });
  }
  check(state, buffer);
}

}  // namespace byre::programs
