// SPDX-License-Identifier: BSL-1.0
/// The C++ objects behind the handles of the C interface.
///
///   handle            C++ object    where
///   byre_buffer       Buffer        in the handle itself
///   byre_tiles        TiledBuffer   in the handle itself
///   byre_storage*     Storage       the pointer itself is the only member of the Storage
///   byre_allocator*   Allocator     at the address
///
/// So a clone needs no allocation. Only in a checked build, whose values are larger, a byre_buffer
/// or byre_tiles contains the address of its value. private_state is null then, so that programs
/// call byre for every write.
#pragma once

#include <byre/c/detail/calls.hpp>
#include <byre/memory/allocator.hpp>
#include <byre/storage/buffer.hpp>
#include <byre/storage/storage.hpp>
#include <byre/storage/tiles/tiled_buffer.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

namespace byre::inline BYRE_ABI::detail::from_c {

inline Buffer value_type(const byre_buffer&);
inline TiledBuffer value_type(const byre_tiles&);
template <class Handle>
using ValueOf = decltype(value_type(std::declval<const Handle&>()));

inline constexpr bool is_in_place = BYRE_CHECKS == 0;
static_assert(!is_in_place ||
              (sizeof(Buffer) == sizeof(byre_buffer) && sizeof(TiledBuffer) == sizeof(byre_tiles) &&
               alignof(Buffer) <= alignof(byre_buffer) &&
               alignof(TiledBuffer) <= alignof(byre_tiles)));

/// The value in a handle, or null if the handle is empty or null. The last member of a value is
/// never null: the header of a buffer, the allocator of tiles.
template <class Handle>
inline ValueOf<Handle>* value_in(const Handle* handle) noexcept {
  if (handle == nullptr) {
    return nullptr;
  }
  if constexpr (is_in_place) {
    return handle->private_state == nullptr
               ? nullptr
               : reinterpret_cast<ValueOf<Handle>*>(const_cast<Handle*>(handle));
  } else {
    return static_cast<ValueOf<Handle>*>(handle->private_data);
  }
}

/// Calls `use` with the value to read.
template <class Handle, class Use>
[[gnu::always_inline]] inline auto read_value(const Handle* handle, Use use) {
  if (const ValueOf<Handle>* const value = value_in(handle)) [[likely]] {
    return use(*value);
  }
  const ValueOf<Handle> empty;
  return use(empty);
}

/// The value of `*handle`, to write. Throws InvalidArgument if `handle` is null, and OutOfMemory.
template <class Handle>
inline ValueOf<Handle>& value_to_write(Handle* handle, const char* call, const char* name) {
  expect_given(handle, call, name);
  using Value = ValueOf<Handle>;
  if (Value* const value = value_in(handle)) [[likely]] {
    return *value;
  }
  if constexpr (is_in_place) {
    return *::new (static_cast<void*>(handle)) Value();
  } else {
    auto* const value = new (std::nothrow) Value();
    if (value == nullptr) {
      throw OutOfMemory(sizeof(Value), "heap, for a handle of the C interface");
    }
    handle->private_data = value;
    return *value;
  }
}

/// Does what store_made() does if the value cannot be constructed in the handle.
template <class Handle, class Make>
[[gnu::noinline]] inline void replace_by_made(Handle* result, const char* call, const Make& make) {
  expect_given(result, call, "result");
  ValueOf<Handle> made = make();
  value_to_write(result, call, "result") = std::move(made);
}

/// Stores the value that `make` returns in `*result`, and drops the former value. Constructs it in
/// place in an empty handle: a move would cost as much as half of a clone. Throws what `make` and
/// value_to_write() throw.
template <class Handle, class Make>
[[gnu::always_inline]] inline void store_made(Handle* result, const char* call, const Make& make) {
  if (is_in_place && result != nullptr && value_in(result) == nullptr) [[likely]] {
    ::new (static_cast<void*>(result)) ValueOf<Handle>(make());
  } else {
    replace_by_made(result, call, make);
  }
}

/// Empties the handle before it drops the value, whose deleter may look at the handle.
template <class Handle>
inline void release_value(Handle* handle) noexcept {
  if (value_in(handle) == nullptr) {
    return;
  }
  Handle former = std::exchange(*handle, Handle());
  if constexpr (is_in_place) {
    std::destroy_at(value_in(&former));
  } else {
    delete value_in(&former);
  }
}

template <class Handle>
inline void swap_handles(Handle* left, Handle* right) noexcept {
  if (left != nullptr && right != nullptr) {
    std::swap(*left, *right);
  }
}

/// The Storage of a pointer. It counts no handle of its own: its destructor does nothing.
class StorageOf {
 public:
  explicit StorageOf(const byre_storage* handle) noexcept {
    std::memcpy(place_, &handle, sizeof handle);
  }
  Storage& operator*() noexcept { return *std::launder(reinterpret_cast<Storage*>(place_)); }
  Storage* operator->() noexcept { return &**this; }

 private:
  static_assert(sizeof(Storage) == sizeof(byre_storage*));
  alignas(Storage) std::byte place_[sizeof(Storage)];
};

/// The pointer for a Storage. It takes over the handle that `storage` counts.
inline byre_storage* pointer_to(Storage&& storage) noexcept {
  alignas(Storage) std::byte place[sizeof(Storage)];
  ::new (static_cast<void*>(place)) Storage(std::move(storage));
  byre_storage* handle;
  std::memcpy(&handle, place, sizeof handle);
  return handle;
}

inline Allocator& allocator_or_default(byre_allocator* allocator) noexcept {
  return allocator == nullptr ? default_allocator() : *reinterpret_cast<Allocator*>(allocator);
}
inline byre_allocator* handle_of(Allocator& allocator) noexcept {
  return reinterpret_cast<byre_allocator*>(&allocator);
}

inline void store_unless_null(byre_materialized* how, Materialized done) noexcept {
  if (how != nullptr) {
    *how = static_cast<byre_materialized>(done);
  }
}

inline Wait wait_of(byre_wait wait) {
  if (wait != BYRE_WAIT_ALLOWED) {
    expect_enumerator(wait, 2, "byre_wait");
  }
  return static_cast<Wait>(wait);
}

}  // namespace byre::inline BYRE_ABI::detail::from_c
