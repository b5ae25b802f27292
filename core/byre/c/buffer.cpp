// SPDX-License-Identifier: BSL-1.0
#include <byre/c/detail/handles.hpp>
#include <byre/storage/explain.hpp>

/// The usual clone, with few stores in front of the atomic add, which would wait for them.
struct byre::detail::QuickClone {
  // byre.h writes through private_data if the first word of the header, the share word, is 1.
  static_assert(!from_c::is_in_place ||
                (offsetof(Buffer, data_) == offsetof(byre_buffer, private_data) &&
                 offsetof(Buffer, header_) == offsetof(byre_buffer, private_state)));
  static_assert(sizeof(ShareWord) == sizeof(uint64_t) && alignof(ShareWord) == alignof(uint64_t) &&
                std::is_standard_layout_v<cow::basic_header<sync::Default>>);

  static bool is_shareable(const Buffer& buffer) noexcept { return buffer.header().is_shareable(); }

  /// Counts `*clone`, which is a copy of another handle, as an owner. Returns false if the clone
  /// needs an entry in a recording.
  [[gnu::always_inline]] static bool count(const Buffer& clone) noexcept {
    if (stats::detail::may_record()) {
      return false;
    }
    auto& header = clone.header();
    stats::detail::count_clone(header, [&header]() noexcept { header.share().add_owner(); });
    return true;
  }
};

using namespace byre;
using namespace byre::detail::from_c;

namespace {

/// The place to report for a clone, which copies foreign memory.
CallSite site_of_clone(const Buffer& source) noexcept {
  return call_sites_are_set.is_set() && is_foreign(source.origin()) ? call_site
                                                                    : call_site_to_record();
}

[[gnu::noinline]] byre_status clone_slowly(const byre_buffer* source,
                                           byre_buffer* result) noexcept {
  return guarded([=] {
    store_made(result, "byre_buffer_clone", [=] {
      return read_value(
          source, [](const Buffer& buffer) { return buffer.lazy_clone(site_of_clone(buffer)); });
    });
  });
}

/// Clones the buffer that `*result` copies without being counted.
[[gnu::noinline]] byre_status clone_copied(byre_buffer* result) noexcept {
  const byre_buffer source = std::exchange(*result, byre_buffer());
  return clone_slowly(&source, result);
}

void expect_adoptable(uint32_t properties, byre_deleter deleter) {
  constexpr uint32_t all =
      BYRE_FOREIGN_READ_ONLY | BYRE_FOREIGN_OTHERS_WRITE | BYRE_FOREIGN_BORROWED;
  if ((properties & ~all) != 0) {
    throw InvalidArgument(
        format_text("byre_buffer_adopt: the properties are %#x, allowed are bits of %#x. Combine "
                    "BYRE_FOREIGN_* by |.",
                    properties, all));
  }
  if (deleter == nullptr && (properties & BYRE_FOREIGN_BORROWED) == 0) {
    throw InvalidArgument(format_text(
        "byre_buffer_adopt: the deleter is NULL, so byre cannot release the memory. Pass a "
        "function, or BYRE_FOREIGN_BORROWED for memory that the caller releases."));
  }
  if (deleter != nullptr && (properties & BYRE_FOREIGN_BORROWED) != 0) {
    throw InvalidArgument(format_text(
        "byre_buffer_adopt: the memory is borrowed and has a deleter, allowed is one of them. Pass "
        "NULL as deleter, or omit BYRE_FOREIGN_BORROWED."));
  }
}

}  // namespace

byre_status byre_buffer_allocate(size_t nbytes, byre_allocator* allocator, byre_buffer* result) {
  return guarded([=] {
    store_made(result, "byre_buffer_allocate",
               [&] { return Buffer::allocate(nbytes, allocator_or_default(allocator)); });
  });
}

byre_status byre_buffer_adopt(const void* data, size_t nbytes, uint32_t properties,
                              byre_deleter deleter, void* user, byre_allocator* allocator,
                              byre_buffer* result) {
  return guarded([=] {
    const auto release = [=](void* address) noexcept {
      if (deleter != nullptr) {
        deleter(address, user);
      }
    };
    const Foreign<decltype(release)> memory{
        .data = const_cast<void*>(data),
        .nbytes = nbytes,
        .deleter = release,
        .may_write = (properties & BYRE_FOREIGN_READ_ONLY) == 0,
        .others_write = (properties & BYRE_FOREIGN_OTHERS_WRITE) != 0,
        .outlives = (properties & BYRE_FOREIGN_BORROWED) == 0};
    try {
      expect_adoptable(properties, deleter);
      expect_given(result, "byre_buffer_adopt", "result");
    } catch (...) {
      release(memory.data);  // as Buffer::adopt() does if it throws
      throw;
    }
    store_made(result, "byre_buffer_adopt",
               [&] { return Buffer::adopt(memory, allocator_or_default(allocator)); });
  });
}

byre_status byre_buffer_map_file(const char* file_name, byre_allocator* allocator,
                                 byre_buffer* result) {
  return guarded([=] {
    store_made(result, "byre_buffer_map_file",
               [&] { return Buffer::map_file(file_name, allocator_or_default(allocator)); });
  });
}

byre_status byre_buffer_clone(const byre_buffer* source, byre_buffer* result) {
  if (!is_in_place || value_in(source) == nullptr ||
      !detail::QuickClone::is_shareable(*value_in(source)) || result == nullptr ||
      value_in(result) != nullptr) [[unlikely]] {
    return clone_slowly(source, result);
  }
  // Copied first, because the call that finds the counters of the thread would otherwise have to
  // save one more register.
  *result = *source;
  return detail::QuickClone::count(*value_in(result)) ? BYRE_OK : clone_copied(result);
}

byre_status byre_buffer_writable_clone(byre_buffer* source, byre_wait wait, byre_writers writers,
                                       byre_buffer* result) {
  return guarded([=] {
    expect_enumerator(writers, 2, "byre_writers");
    store_made(result, "byre_buffer_writable_clone", [&] {
      return value_to_write(source, "byre_buffer_writable_clone", "source")
          .writable_clone(wait_of(wait), call_site, static_cast<Writers>(writers));
    });
  });
}

void byre_buffer_release(byre_buffer* buffer) {
  release_value(buffer);
}

void byre_buffer_swap(byre_buffer* left, byre_buffer* right) {
  swap_handles(left, right);
}

const void* byre_buffer_data(const byre_buffer* buffer) {
  return read_value(buffer,
                    [](const Buffer& value) -> const void* { return value.data(call_site); });
}

size_t byre_buffer_nbytes(const byre_buffer* buffer) {
  return read_value(buffer, [](const Buffer& value) { return value.nbytes(call_site); });
}

byre_status byre_buffer_mutable_data(byre_buffer* buffer, byre_wait wait, void** data) {
  return guarded([=] {
    expect_given(data, "byre_buffer_mutable_data", "data");
    *data = nullptr;
    *data = value_to_write(buffer, "byre_buffer_mutable_data", "buffer")
                .mutable_data(wait_of(wait), call_site);
  });
}

byre_status byre_buffer_materialize(byre_buffer* buffer, byre_wait wait, byre_materialized* how) {
  return guarded([=] {
    const Materialized done = value_to_write(buffer, "byre_buffer_materialize", "buffer")
                                  .materialize(wait_of(wait), call_site);
    store_unless_null(how, done);
  });
}

byre_status byre_buffer_mutable_range(byre_buffer* buffer, size_t offset, size_t nbytes,
                                      byre_wait wait, void** data) {
  return guarded([=] {
    expect_given(data, "byre_buffer_mutable_range", "data");
    *data = nullptr;
    *data = value_to_write(buffer, "byre_buffer_mutable_range", "buffer")
                .mutable_range(offset, nbytes, wait_of(wait), call_site)
                .data();
  });
}

byre_status byre_buffer_resize(byre_buffer* buffer, size_t nbytes) {
  return guarded(
      [=] { value_to_write(buffer, "byre_buffer_resize", "buffer").resize(nbytes, call_site); });
}

byre_status byre_buffer_shrink_to_fit(byre_buffer* buffer) {
  return guarded([=] {
    value_to_write(buffer, "byre_buffer_shrink_to_fit", "buffer").shrink_to_fit(call_site);
  });
}

size_t byre_buffer_capacity(const byre_buffer* buffer) {
  return read_value(buffer, [](const Buffer& value) { return value.capacity(call_site); });
}

int byre_buffer_is_unique(const byre_buffer* buffer) {
  return read_value(buffer, [](const Buffer& value) { return value.is_unique(call_site); });
}

uint32_t byre_buffer_use_count(const byre_buffer* buffer) {
  return read_value(buffer, [](const Buffer& value) { return value.use_count(call_site); });
}

int byre_buffer_shares_data_with(const byre_buffer* left, const byre_buffer* right) {
  return read_value(left, [=](const Buffer& value) {
    return read_value(
        right, [&](const Buffer& other) { return value.shares_data_with(other, call_site); });
  });
}

byre_origin byre_buffer_origin(const byre_buffer* buffer) {
  return read_value(buffer,
                    [](const Buffer& value) { return static_cast<byre_origin>(value.origin()); });
}

int byre_buffer_is_read_only(const byre_buffer* buffer) {
  return read_value(buffer, [](const Buffer& value) { return value.is_read_only(); });
}

byre_allocator* byre_buffer_allocator(const byre_buffer* buffer) {
  return read_value(buffer, [](const Buffer& value) { return handle_of(value.allocator()); });
}

const void* byre_buffer_memory_id(const byre_buffer* buffer) {
  const Buffer* const value = value_in(buffer);
  return value == nullptr ? nullptr : value->memory_id();
}

void byre_buffer_collapse(byre_buffer* buffer, size_t offset, size_t nbytes) {
  if (Buffer* const value = value_in(buffer)) {
    value->collapse(offset, nbytes);
  }
}

byre_status byre_buffer_explain(const byre_buffer* buffer, char** text) {
  return guarded([=] {
    expect_given(text, "byre_buffer_explain", "text");
    *text = copied_text(read_value(buffer, [](const Buffer& value) { return explain(value); }));
  });
}
