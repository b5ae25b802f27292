// SPDX-License-Identifier: BSL-1.0
#include <byre/c/detail/handles.hpp>
#include <byre/storage/explain.hpp>
#include <byre/storage/pin.hpp>

using namespace byre;
using namespace byre::detail::from_c;

struct byre_pin {
  Pin pin;
};

struct byre::detail::QuickWrite {
  /// True if a write may be in place, and there is no version that it would have to change.
  static bool is_in_place(const Storage& storage) noexcept {
    return storage.identity_->buffer.is_unique() && !storage.is_read_only();
  }
};

namespace {

/// Stores the storage that `make` returns. Nothing is made if `result` is null.
template <class Make>
byre_status store_storage(byre_storage** result, const char* call, Make make) noexcept {
  return guarded([&] {
    expect_given(result, call, "result");
    *result = pointer_to(make());
  });
}

/// Stores the address that `write` returns, or null if it throws.
template <class Write>
byre_status store_address(void** data, const char* call, Write write) noexcept {
  return guarded([&] {
    expect_given(data, call, "data");
    *data = nullptr;
    *data = write();
  });
}

/// True if a write may be in place, and needs no call site because no check reports it.
[[gnu::always_inline]] inline bool is_writable(const byre_storage* storage, byre_wait wait) {
  return BYRE_CHECKS == 0 && storage != nullptr && wait == BYRE_WAIT_ALLOWED &&
         detail::QuickWrite::is_in_place(*StorageOf(storage));
}

[[gnu::noinline]] byre_status write_slowly(byre_storage* storage, byre_wait wait,
                                           void** data) noexcept {
  return store_address(data, "byre_storage_mutable_data",
                       [=] { return StorageOf(storage)->mutable_data(wait_of(wait), call_site); });
}
[[gnu::noinline]] byre_status materialize_slowly(byre_storage* storage, byre_wait wait,
                                                 byre_materialized* how) noexcept {
  return guarded(
      [=] { store_unless_null(how, StorageOf(storage)->materialize(wait_of(wait), call_site)); });
}

/// Stores the pin that `make_pin` returns, or null if the storage is null.
template <class MakePin>
byre_status store_pin(const byre_storage* storage, byre_pin** result, const char* call,
                      MakePin make_pin) noexcept {
  return guarded([&] {
    expect_given(result, call, "result");
    // Allocated first, because a pin to write materializes the bytes.
    std::unique_ptr<byre_pin> made(made_new<byre_pin>());
    made->pin = make_pin(StorageOf(storage));
    *result = storage == nullptr ? nullptr : made.release();
  });
}

}  // namespace

byre_status byre_storage_from_buffer(byre_buffer* buffer, byre_storage** result) {
  return store_storage(result, "byre_storage_from_buffer", [=] {
    return Storage(std::move(value_to_write(buffer, "byre_storage_from_buffer", "buffer")));
  });
}

byre_status byre_storage_allocate(size_t nbytes, byre_allocator* allocator, byre_storage** result) {
  return store_storage(result, "byre_storage_allocate",
                       [=] { return Storage::allocate(nbytes, allocator_or_default(allocator)); });
}

byre_status byre_storage_map_file(const char* file_name, byre_allocator* allocator,
                                  byre_storage** result) {
  return store_storage(result, "byre_storage_map_file", [=] {
    return Storage::map_file(file_name, allocator_or_default(allocator));
  });
}

byre_storage* byre_storage_retain(byre_storage* storage) {
  return pointer_to(Storage(*StorageOf(storage)));
}

void byre_storage_release(byre_storage* storage) {
  std::destroy_at(&*StorageOf(storage));
}

byre_status byre_storage_clone(const byre_storage* storage, byre_storage** result) {
  return store_storage(result, "byre_storage_clone",
                       [=] { return StorageOf(storage)->lazy_clone(call_site); });
}

byre_status byre_storage_writable_clone(byre_storage* storage, byre_wait wait,
                                        byre_storage** result) {
  return store_storage(result, "byre_storage_writable_clone", [=] {
    return StorageOf(storage)->writable_clone(wait_of(wait), call_site);
  });
}

const void* byre_storage_data(const byre_storage* storage) {
  return std::as_const(*StorageOf(storage)).data(call_site);
}

size_t byre_storage_nbytes(const byre_storage* storage) {
  return StorageOf(storage)->nbytes(call_site);
}

byre_status byre_storage_mutable_data(byre_storage* storage, byre_wait wait, void** data) {
  if (is_writable(storage, wait) && data != nullptr) [[likely]] {
    *data = const_cast<std::byte*>(std::as_const(*StorageOf(storage)).data());
    return BYRE_OK;
  }
  return write_slowly(storage, wait, data);
}

byre_status byre_storage_materialize(byre_storage* storage, byre_wait wait,
                                     byre_materialized* how) {
  if (is_writable(storage, wait)) [[likely]] {
    store_unless_null(how, Materialized::already_unique);
    return BYRE_OK;
  }
  return materialize_slowly(storage, wait, how);
}

byre_status byre_storage_mutable_range(byre_storage* storage, size_t offset, size_t nbytes,
                                       byre_wait wait, void** data) {
  return store_address(data, "byre_storage_mutable_range", [=] {
    return StorageOf(storage)->mutable_range(offset, nbytes, wait_of(wait), call_site).data();
  });
}

int byre_storage_is_unique(const byre_storage* storage) {
  return StorageOf(storage)->is_unique(call_site);
}

uint32_t byre_storage_use_count(const byre_storage* storage) {
  return StorageOf(storage)->use_count(call_site);
}

uint64_t byre_storage_version(const byre_storage* storage) {
  return StorageOf(storage)->version(call_site);
}

int byre_storage_shares_data_with(const byre_storage* left, const byre_storage* right) {
  return StorageOf(left)->shares_data_with(*StorageOf(right), call_site);
}

byre_origin byre_storage_origin(const byre_storage* storage) {
  return static_cast<byre_origin>(StorageOf(storage)->origin());
}

int byre_storage_is_read_only(const byre_storage* storage) {
  return StorageOf(storage)->is_read_only();
}

byre_allocator* byre_storage_allocator(const byre_storage* storage) {
  return handle_of(StorageOf(storage)->allocator());
}

byre_status byre_storage_explain(const byre_storage* storage, char** text) {
  return guarded([=] {
    expect_given(text, "byre_storage_explain", "text");
    *text = copied_text(explain(*StorageOf(storage)));
  });
}

byre_status byre_storage_resize(byre_storage* storage, size_t nbytes) {
  return guarded([=] {
    expect_given(storage, "byre_storage_resize", "storage");
    StorageOf(storage)->resize(nbytes, call_site);
  });
}

byre_status byre_storage_shrink_to_fit(byre_storage* storage) {
  return guarded([=] { StorageOf(storage)->shrink_to_fit(call_site); });
}

uint32_t byre_storage_handle_count(const byre_storage* storage) {
  return StorageOf(storage)->handle_count();
}

byre_status byre_storage_mutable_data_in_parallel(byre_storage* storage, byre_wait wait,
                                                  void** data) {
  return store_address(data, "byre_storage_mutable_data_in_parallel", [=] {
    return StorageOf(storage)->mutable_data_in_parallel(wait_of(wait), call_site);
  });
}

byre_status byre_storage_mutable_range_in_parallel(byre_storage* storage, size_t offset,
                                                   size_t nbytes, byre_wait wait, void** data) {
  return store_address(data, "byre_storage_mutable_range_in_parallel", [=] {
    return StorageOf(storage)
        ->mutable_range_in_parallel(offset, nbytes, wait_of(wait), call_site)
        .data();
  });
}

byre_status byre_storage_materialize_in_parallel(byre_storage* storage, byre_wait wait,
                                                 byre_materialized* how) {
  return guarded([=] {
    store_unless_null(how, StorageOf(storage)->materialize_in_parallel(wait_of(wait), call_site));
  });
}

byre_status byre_storage_pin(byre_storage* storage, byre_wait wait, byre_pin** result) {
  return store_pin(storage, result, "byre_storage_pin",
                   [=](StorageOf&& pinned) { return pinned->pin(wait_of(wait), call_site); });
}

byre_status byre_storage_pin_to_read(const byre_storage* storage, byre_pin** result) {
  return store_pin(storage, result, "byre_storage_pin_to_read",
                   [](StorageOf&& pinned) { return pinned->pin_to_read(call_site); });
}

int byre_storage_is_pinned(const byre_storage* storage) {
  return StorageOf(storage)->is_pinned();
}

void byre_pin_release(byre_pin* pin) {
  delete pin;
}

const void* byre_pin_data(const byre_pin* pin) {
  return pin == nullptr ? nullptr : pin->pin.data();
}

void* byre_pin_mutable_data(const byre_pin* pin) {
  return pin == nullptr ? nullptr : pin->pin.mutable_data();
}

size_t byre_pin_nbytes(const byre_pin* pin) {
  return pin == nullptr ? 0 : pin->pin.nbytes();
}

int byre_pin_is_writable(const byre_pin* pin) {
  return pin != nullptr && pin->pin.is_writable();
}
