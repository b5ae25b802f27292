// SPDX-License-Identifier: BSL-1.0
/// The C interface (byre.h) as C++17 classes, for programs that compile without exceptions or
/// run-time type information (-fno-exceptions -fno-rtti). Values release themselves; functions that
/// can fail return a Result.
///
/// This header defines no symbol of the library and includes no other header of byre than byre.h. A
/// program may use it together with byre.hpp. byre.h documents what each function does, and its
/// errors.
#pragma once

#include <byre/byre.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

namespace byre::c {

namespace detail {
/// Ends the program, because a Result or an Error was misused.
[[noreturn]] inline void misuse(const char* text, const char* failure = "") noexcept {
  std::fprintf(stderr, "byre: %s%s\n", text, failure);
  std::abort();
}
[[noreturn]] inline void no_value() noexcept {
  misuse("the value of a failed Result was used. Test it first. It failed: ", byre_last_error());
}
[[noreturn]] inline void no_error() noexcept {
  misuse("error() was called on a Result that has a value. Test it first.");
}
}  // namespace detail

/// Why a function failed.
class Error {
 public:
  /// Ends the program if `status` is BYRE_OK.
  explicit Error(byre_status status) noexcept : status_(status) {
    if (status == BYRE_OK) {
      detail::misuse("an Error was made of BYRE_OK. Pass the status of a failure.");
    }
  }
  byre_status status() const noexcept { return status_; }
  /// The name of the status.
  const char* name() const noexcept { return byre_status_name(status_); }
  /// The text of the latest failure on this thread: call it before another call fails.
  const char* text() const noexcept { return byre_last_error(); }

 private:
  byre_status status_;
};

/// The value of a function that succeeded, or the error of one that failed, as std::expected of
/// C++23. Access to the one that it does not contain ends the program with a message.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T&& value) noexcept : value_(std::move(value)), status_(BYRE_OK) {}
  Result(Error error) noexcept : unused_(), status_(error.status()) {}
  Result(Result&& other) noexcept : unused_(), status_(other.status_) {
    if (has_value()) {
      ::new (static_cast<void*>(&value_)) T(std::move(other.value_));
    }
  }
  Result& operator=(Result&&) = delete;
  ~Result() {
    if (has_value()) {
      value_.~T();
    }
  }

  bool has_value() const noexcept { return status_ == BYRE_OK; }
  /// Not for a Result<bool>, because the test would be ambiguous: call has_value() or value().
  template <class U = T, std::enable_if_t<!std::is_same_v<U, bool>, int> = 0>
  explicit operator bool() const noexcept {
    return has_value();
  }

  T& value() & noexcept {
    expect_value();
    return value_;
  }
  const T& value() const& noexcept {
    expect_value();
    return value_;
  }
  T&& value() && noexcept {
    expect_value();
    return std::move(value_);
  }
  T& operator*() & noexcept { return value(); }
  T&& operator*() && noexcept { return std::move(*this).value(); }
  const T& operator*() const& noexcept { return value(); }
  T* operator->() noexcept { return &value(); }
  const T* operator->() const noexcept { return &value(); }
  /// The value, or `other` after a failure.
  T value_or(T other) && noexcept { return has_value() ? std::move(value_) : std::move(other); }
  Error error() const noexcept {
    if (has_value()) {
      detail::no_error();
    }
    return Error(status_);
  }

 private:
  void expect_value() const noexcept {
    if (!has_value()) {
      detail::no_value();
    }
  }

  union {
    T value_;
    char unused_;
  };
  byre_status status_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() noexcept : status_(BYRE_OK) {}
  Result(Error error) noexcept : status_(error.status()) {}
  bool has_value() const noexcept { return status_ == BYRE_OK; }
  explicit operator bool() const noexcept { return has_value(); }
  void value() const noexcept {
    if (!has_value()) {
      detail::no_value();
    }
  }
  Error error() const noexcept {
    if (has_value()) {
      detail::no_error();
    }
    return Error(status_);
  }

 private:
  byre_status status_;
};

namespace detail {

/// The Result of a call: `value` if it succeeded.
template <class T>
Result<T> result_of(byre_status status, T& value) noexcept {
  if (status == BYRE_OK) {
    return Result<T>(std::move(value));
  }
  return Error(status);
}
inline Result<void> result_of(byre_status status) noexcept {
  return status == BYRE_OK ? Result<void>() : Result<void>(Error(status));
}

/// The status of a visitor, which may return nothing.
template <class Visit, class... Arguments>
byre_status visit_one(void* user, Arguments... arguments) {
  Visit& visit = *static_cast<Visit*>(user);
  if constexpr (std::is_void_v<decltype(visit(arguments...))>) {
    visit(arguments...);
    return BYRE_OK;
  } else {
    return visit(arguments...);
  }
}

/// An object behind a pointer, owned like by std::unique_ptr.
template <class Object, void (*release)(Object*)>
class Owner {
 public:
  Owner() noexcept = default;
  explicit Owner(Object* object) noexcept : object_(object) {}
  Owner(Owner&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Owner& operator=(Owner&& other) noexcept {
    Owner(std::move(other)).swap(*this);
    return *this;
  }
  ~Owner() { release(object_); }

  void swap(Owner& other) noexcept { std::swap(object_, other.object_); }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  /// The handle of byre.h, which this object keeps.
  Object* get() const noexcept { return object_; }
  /// Gives up the handle: the caller releases it.
  Object* release_handle() noexcept { return std::exchange(object_, nullptr); }

 protected:
  Object** out() noexcept { return &object_; }

 private:
  Object* object_ = nullptr;
};

/// A value of byre.h, which may only be moved.
template <class Value, void (*release)(Value*), void (*swap_values)(Value*, Value*)>
class Holder {
 public:
  Holder() noexcept : value_() {}
  Holder(Holder&& other) noexcept : value_() { swap(other); }
  Holder& operator=(Holder&& other) noexcept {
    Holder(std::move(other)).swap(*this);
    return *this;
  }
  ~Holder() { release(&value_); }

  void swap(Holder& other) noexcept { swap_values(&value_, &other.value_); }
  /// The value of byre.h, which this object keeps.
  Value* get() noexcept { return &value_; }
  const Value* get() const noexcept { return &value_; }

 private:
  Value value_;
};

}  // namespace detail

/// A text from byre.
class Text : public detail::Owner<char, byre_text_free> {
 public:
  using Owner::Owner;
  const char* c_str() const noexcept { return get() == nullptr ? "" : get(); }
};

/// Bytes for reading or writing, as std::span of C++20.
template <class Byte>
struct Bytes {
  Byte* data = nullptr;
  std::size_t nbytes = 0;
};

/// See byre_buffer. Copies are made by lazy_clone(), because they may fail.
class Buffer : public detail::Holder<byre_buffer, byre_buffer_release, byre_buffer_swap> {
 public:
  static Result<Buffer> allocate(std::size_t nbytes, byre_allocator* allocator = nullptr) noexcept {
    Buffer made;
    return detail::result_of(byre_buffer_allocate(nbytes, allocator, made.get()), made);
  }
  /// `properties` are BYRE_FOREIGN_*.
  static Result<Buffer> adopt(const void* data, std::size_t nbytes, std::uint32_t properties,
                              byre_deleter deleter, void* user,
                              byre_allocator* allocator = nullptr) noexcept {
    Buffer made;
    return detail::result_of(
        byre_buffer_adopt(data, nbytes, properties, deleter, user, allocator, made.get()), made);
  }
  static Result<Buffer> map_file(const char* file_name,
                                 byre_allocator* allocator = nullptr) noexcept {
    Buffer made;
    return detail::result_of(byre_buffer_map_file(file_name, allocator, made.get()), made);
  }

  Result<Buffer> lazy_clone() const noexcept {
    Buffer made;
    return detail::result_of(byre_buffer_clone(get(), made.get()), made);
  }
  Result<Buffer> writable_clone(byre_wait wait = BYRE_WAIT_ALLOWED,
                                byre_writers writers = BYRE_WRITERS_NONE) noexcept {
    Buffer made;
    return detail::result_of(byre_buffer_writable_clone(get(), wait, writers, made.get()), made);
  }

  const void* data() const noexcept { return byre_buffer_data(get()); }
  std::size_t nbytes() const noexcept { return byre_buffer_nbytes(get()); }
  std::size_t capacity() const noexcept { return byre_buffer_capacity(get()); }
  Result<void*> mutable_data(byre_wait wait = BYRE_WAIT_ALLOWED) noexcept {
    void* data;
    return detail::result_of(byre_buffer_mutable_data(get(), wait, &data), data);
  }
  Result<byre_materialized> materialize(byre_wait wait = BYRE_WAIT_ALLOWED) noexcept {
    byre_materialized how;
    return detail::result_of(byre_buffer_materialize(get(), wait, &how), how);
  }
  Result<void*> mutable_range(std::size_t offset, std::size_t nbytes,
                              byre_wait wait = BYRE_WAIT_ALLOWED) noexcept {
    void* data;
    return detail::result_of(byre_buffer_mutable_range(get(), offset, nbytes, wait, &data), data);
  }
  Result<void> resize(std::size_t nbytes) noexcept {
    return detail::result_of(byre_buffer_resize(get(), nbytes));
  }
  Result<void> shrink_to_fit() noexcept {
    return detail::result_of(byre_buffer_shrink_to_fit(get()));
  }

  bool is_unique() const noexcept { return byre_buffer_is_unique(get()) != 0; }
  std::uint32_t use_count() const noexcept { return byre_buffer_use_count(get()); }
  bool shares_data_with(const Buffer& other) const noexcept {
    return byre_buffer_shares_data_with(get(), other.get()) != 0;
  }
  byre_origin origin() const noexcept { return byre_buffer_origin(get()); }
  bool is_read_only() const noexcept { return byre_buffer_is_read_only(get()) != 0; }
  byre_allocator* allocator() const noexcept { return byre_buffer_allocator(get()); }
  const void* memory_id() const noexcept { return byre_buffer_memory_id(get()); }
  void collapse(std::size_t offset, std::size_t nbytes) noexcept {
    byre_buffer_collapse(get(), offset, nbytes);
  }
  Result<Text> explain() const noexcept {
    char* text = nullptr;
    const byre_status status = byre_buffer_explain(get(), &text);
    Text made(text);
    return detail::result_of(status, made);
  }
};

/// See byre_pin.
class Pin : public detail::Owner<byre_pin, byre_pin_release> {
 public:
  using Owner::Owner;
  const void* data() const noexcept { return byre_pin_data(get()); }
  void* mutable_data() const noexcept { return byre_pin_mutable_data(get()); }
  std::size_t nbytes() const noexcept { return byre_pin_nbytes(get()); }
  bool is_writable() const noexcept { return byre_pin_is_writable(get()) != 0; }
};

/// See byre_storage. A copy is another handle to the storage.
class Storage : public detail::Owner<byre_storage, byre_storage_release> {
 public:
  using Owner::Owner;
  Storage() noexcept = default;
  Storage(Storage&&) noexcept = default;
  Storage(const Storage& other) noexcept : Owner(byre_storage_retain(other.get())) {}
  Storage& operator=(Storage other) noexcept {
    swap(other);
    return *this;
  }

  static Result<Storage> from(Buffer&& buffer) noexcept {
    Storage made;
    return detail::result_of(byre_storage_from_buffer(buffer.get(), made.out()), made);
  }
  static Result<Storage> allocate(std::size_t nbytes,
                                  byre_allocator* allocator = nullptr) noexcept {
    Storage made;
    return detail::result_of(byre_storage_allocate(nbytes, allocator, made.out()), made);
  }
  static Result<Storage> map_file(const char* file_name,
                                  byre_allocator* allocator = nullptr) noexcept {
    Storage made;
    return detail::result_of(byre_storage_map_file(file_name, allocator, made.out()), made);
  }

  Result<Storage> lazy_clone() const noexcept {
    Storage made;
    return detail::result_of(byre_storage_clone(get(), made.out()), made);
  }
  Result<Storage> writable_clone(byre_wait wait = BYRE_WAIT_ALLOWED) noexcept {
    Storage made;
    return detail::result_of(byre_storage_writable_clone(get(), wait, made.out()), made);
  }

  const void* data() const noexcept { return byre_storage_data(get()); }
  std::size_t nbytes() const noexcept { return byre_storage_nbytes(get()); }
  Result<void*> mutable_data(byre_wait wait = BYRE_WAIT_ALLOWED) noexcept {
    void* data;
    return detail::result_of(byre_storage_mutable_data(get(), wait, &data), data);
  }
  Result<byre_materialized> materialize(byre_wait wait = BYRE_WAIT_ALLOWED) noexcept {
    byre_materialized how;
    return detail::result_of(byre_storage_materialize(get(), wait, &how), how);
  }
  Result<void*> mutable_range(std::size_t offset, std::size_t nbytes,
                              byre_wait wait = BYRE_WAIT_ALLOWED) noexcept {
    void* data;
    return detail::result_of(byre_storage_mutable_range(get(), offset, nbytes, wait, &data), data);
  }
  Result<void*> mutable_data_in_parallel(byre_wait wait = BYRE_WAIT_ALLOWED) noexcept {
    void* data;
    return detail::result_of(byre_storage_mutable_data_in_parallel(get(), wait, &data), data);
  }
  Result<void*> mutable_range_in_parallel(std::size_t offset, std::size_t nbytes,
                                          byre_wait wait = BYRE_WAIT_ALLOWED) noexcept {
    void* data;
    return detail::result_of(
        byre_storage_mutable_range_in_parallel(get(), offset, nbytes, wait, &data), data);
  }
  Result<byre_materialized> materialize_in_parallel(byre_wait wait = BYRE_WAIT_ALLOWED) noexcept {
    byre_materialized how;
    return detail::result_of(byre_storage_materialize_in_parallel(get(), wait, &how), how);
  }
  Result<void> resize(std::size_t nbytes) noexcept {
    return detail::result_of(byre_storage_resize(get(), nbytes));
  }
  Result<void> shrink_to_fit() noexcept {
    return detail::result_of(byre_storage_shrink_to_fit(get()));
  }

  Result<Pin> pin(byre_wait wait = BYRE_WAIT_ALLOWED) noexcept {
    byre_pin* pin = nullptr;
    const byre_status status = byre_storage_pin(get(), wait, &pin);
    Pin made(pin);
    return detail::result_of(status, made);
  }
  Result<Pin> pin_to_read() const noexcept {
    byre_pin* pin = nullptr;
    const byre_status status = byre_storage_pin_to_read(get(), &pin);
    Pin made(pin);
    return detail::result_of(status, made);
  }
  bool is_pinned() const noexcept { return byre_storage_is_pinned(get()) != 0; }

  bool is_unique() const noexcept { return byre_storage_is_unique(get()) != 0; }
  std::uint32_t use_count() const noexcept { return byre_storage_use_count(get()); }
  std::uint32_t handle_count() const noexcept { return byre_storage_handle_count(get()); }
  std::uint64_t version() const noexcept { return byre_storage_version(get()); }
  bool shares_data_with(const Storage& other) const noexcept {
    return byre_storage_shares_data_with(get(), other.get()) != 0;
  }
  byre_origin origin() const noexcept { return byre_storage_origin(get()); }
  bool is_read_only() const noexcept { return byre_storage_is_read_only(get()) != 0; }
  byre_allocator* allocator() const noexcept { return byre_storage_allocator(get()); }
  Result<Text> explain() const noexcept {
    char* text = nullptr;
    const byre_status status = byre_storage_explain(get(), &text);
    Text made(text);
    return detail::result_of(status, made);
  }
  friend bool operator==(const Storage& left, const Storage& right) noexcept {
    return left.get() == right.get();
  }
  friend bool operator!=(const Storage& left, const Storage& right) noexcept {
    return !(left == right);
  }
};

/// See byre_tiles. Copies are made by lazy_clone(), because they may fail.
class Tiles : public detail::Holder<byre_tiles, byre_tiles_release, byre_tiles_swap> {
 public:
  static Result<Tiles> allocate(std::size_t nbytes,
                                std::size_t tile_nbytes = BYRE_DEFAULT_TILE_NBYTES,
                                byre_allocator* allocator = nullptr) noexcept {
    Tiles made;
    return detail::result_of(byre_tiles_allocate(nbytes, tile_nbytes, allocator, made.get()), made);
  }
  Result<Tiles> lazy_clone() const noexcept {
    Tiles made;
    return detail::result_of(byre_tiles_clone(get(), made.get()), made);
  }

  std::size_t nbytes() const noexcept { return byre_tiles_nbytes(get()); }
  std::size_t tile_count() const noexcept { return byre_tiles_tile_count(get()); }
  std::size_t tile_nbytes() const noexcept { return byre_tiles_tile_nbytes(get()); }
  byre_allocator* allocator() const noexcept { return byre_tiles_allocator(get()); }

  Result<Bytes<const void>> tile(std::size_t index) const noexcept {
    Bytes<const void> bytes;
    return detail::result_of(byre_tiles_tile(get(), index, &bytes.data, &bytes.nbytes), bytes);
  }
  Result<Bytes<void>> mutable_tile(std::size_t index, byre_wait wait = BYRE_WAIT_ALLOWED) noexcept {
    Bytes<void> bytes;
    return detail::result_of(
        byre_tiles_mutable_tile(get(), index, wait, &bytes.data, &bytes.nbytes), bytes);
  }
  Result<void> read(std::size_t offset, void* destination, std::size_t nbytes) const noexcept {
    return detail::result_of(byre_tiles_read(get(), offset, destination, nbytes));
  }
  Result<void> write(std::size_t offset, const void* bytes, std::size_t nbytes,
                     byre_wait wait = BYRE_WAIT_ALLOWED) noexcept {
    return detail::result_of(byre_tiles_write(get(), offset, bytes, nbytes, wait));
  }
  Result<void> append(const void* bytes, std::size_t nbytes,
                      byre_wait wait = BYRE_WAIT_ALLOWED) noexcept {
    return detail::result_of(byre_tiles_append(get(), bytes, nbytes, wait));
  }
  Result<void> resize(std::size_t nbytes, byre_wait wait = BYRE_WAIT_ALLOWED) noexcept {
    return detail::result_of(byre_tiles_resize(get(), nbytes, wait));
  }
  Result<void> truncate(std::size_t nbytes, byre_wait wait = BYRE_WAIT_ALLOWED) noexcept {
    return detail::result_of(byre_tiles_truncate(get(), nbytes, wait));
  }

  bool shares_data_with(const Tiles& other) const noexcept {
    return byre_tiles_shares_data_with(get(), other.get()) != 0;
  }
  bool shares_tile_with(const Tiles& other, std::size_t index) const noexcept {
    return byre_tiles_shares_tile_with(get(), other.get(), index) != 0;
  }
  /// Calls visit(data, nbytes) for each part of the range that is in one tile. A visitor returns
  /// nothing, or a status: BYRE_STOP ends the iteration, other failures also fail this call.
  template <class Visit>
  Result<void> for_each_part(std::size_t offset, std::size_t nbytes, Visit visit) const noexcept {
    return detail::result_of(byre_tiles_for_each_part(
        get(), offset, nbytes, &detail::visit_one<Visit, const void*, std::size_t>, &visit));
  }
  /// Calls visit(index) for each tile that the two do not share, as for_each_part() does.
  template <class Visit>
  Result<void> for_each_difference(const Tiles& other, Visit visit) const noexcept {
    return detail::result_of(byre_tiles_for_each_difference(
        get(), other.get(), &detail::visit_one<Visit, std::size_t>, &visit));
  }
};

/// See byre_atomic_buffer.
class AtomicBuffer : public detail::Owner<byre_atomic_buffer, byre_atomic_buffer_destroy> {
 public:
  using Owner::Owner;
  static Result<AtomicBuffer> create() noexcept {
    AtomicBuffer made;
    return detail::result_of(byre_atomic_buffer_create(made.out()), made);
  }

  Result<Buffer> load() const noexcept {
    Buffer loaded;
    return detail::result_of(byre_atomic_buffer_load(get(), loaded.get()), loaded);
  }
  Result<void> store(Buffer&& desired) noexcept {
    return detail::result_of(byre_atomic_buffer_store(get(), desired.get()));
  }
  Result<Buffer> exchange(Buffer&& desired) noexcept {
    const byre_status status = byre_atomic_buffer_exchange(get(), desired.get());
    return detail::result_of(status, desired);
  }
  /// True if `desired` was stored; else `expected` is a clone of the content, and `desired` keeps
  /// its bytes.
  Result<bool> compare_exchange(Buffer& expected, Buffer&& desired) noexcept {
    int stored = 0;
    const byre_status status =
        byre_atomic_buffer_compare_exchange(get(), expected.get(), desired.get(), &stored);
    bool is_stored = stored != 0;
    return detail::result_of(status, is_stored);
  }
  bool holds(const Buffer& buffer) const noexcept {
    return byre_atomic_buffer_holds(get(), buffer.get()) != 0;
  }
  void wait(const Buffer& expected) const noexcept {
    byre_atomic_buffer_wait(get(), expected.get());
  }
  void notify() noexcept { byre_atomic_buffer_notify(get()); }
  std::uint64_t version() const noexcept { return byre_atomic_buffer_version(get()); }
};

/// See byre_pool.
class Pool : public detail::Owner<byre_pool, byre_pool_destroy> {
 public:
  using Owner::Owner;
  static Result<Pool> create(std::size_t limit_nbytes) noexcept {
    Pool made;
    return detail::result_of(byre_pool_create(limit_nbytes, made.out()), made);
  }
  byre_allocator* allocator() const noexcept { return byre_pool_allocator(get()); }
  std::size_t limit_nbytes() const noexcept { return byre_pool_limit_nbytes(get()); }
  std::size_t idle_nbytes() const noexcept { return byre_pool_idle_nbytes(get()); }
  void set_limit_nbytes(std::size_t nbytes) noexcept { byre_pool_set_limit_nbytes(get(), nbytes); }
  void trim(std::size_t keep_nbytes) noexcept { byre_pool_trim(get(), keep_nbytes); }
};

/// See byre_copy_sink_install().
class InstalledSink : public detail::Owner<byre_installed_sink, byre_copy_sink_remove> {
 public:
  using Owner::Owner;
  static Result<InstalledSink> install(byre_copy_sink sink, void* user) noexcept {
    InstalledSink made;
    return detail::result_of(byre_copy_sink_install(sink, user, made.out()), made);
  }
};

/// See byre_recording.
class Recording : public detail::Owner<byre_recording, byre_recording_destroy> {
 public:
  using Owner::Owner;
  static Result<Recording> create(std::size_t limit_nbytes = 0) noexcept {
    Recording made;
    return detail::result_of(byre_recording_create(limit_nbytes, made.out()), made);
  }
  Result<void> stop() noexcept { return detail::result_of(byre_recording_stop(get())); }
  Result<Text> to_json() const noexcept { return text_of(&byre_recording_to_json); }
  Result<Text> summary() const noexcept { return text_of(&byre_recording_summary); }
  Result<void> write(const char* file_name) const noexcept {
    return detail::result_of(byre_recording_write(get(), file_name));
  }
  std::uint64_t lost() const noexcept { return byre_recording_lost(get()); }

 private:
  Result<Text> text_of(byre_status (*make)(const byre_recording*, char**)) const noexcept {
    char* text = nullptr;
    const byre_status status = make(get(), &text);
    Text made(text);
    return detail::result_of(status, made);
  }
};

/// See byre_memory_report_to_text().
inline Result<Text> memory_report_to_text() noexcept {
  char* text = nullptr;
  const byre_status status = byre_memory_report_to_text(&text);
  Text made(text);
  return detail::result_of(status, made);
}
/// See byre_memory_report_to_json().
inline Result<Text> memory_report_to_json() noexcept {
  char* text = nullptr;
  const byre_status status = byre_memory_report_to_json(&text);
  Text made(text);
  return detail::result_of(status, made);
}

/// See byre_allocator_create().
class Allocator : public detail::Owner<byre_allocator, byre_allocator_destroy> {
 public:
  using Owner::Owner;
  static Result<Allocator> create(const byre_allocator_functions& functions) noexcept {
    Allocator made;
    return detail::result_of(byre_allocator_create(&functions, made.out()), made);
  }
};

}  // namespace byre::c
