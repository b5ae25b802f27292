// SPDX-License-Identifier: BSL-1.0
#include <byre/c/detail/handles.hpp>
#include <byre/storage/atomic_buffer.hpp>

using namespace byre;
using namespace byre::detail::from_c;

struct byre_atomic_buffer {
  AtomicBuffer content;
};

byre_status byre_atomic_buffer_create(byre_atomic_buffer** result) {
  return guarded([=] { create(result, "byre_atomic_buffer_create"); });
}

void byre_atomic_buffer_destroy(byre_atomic_buffer* place) {
  delete place;
}

byre_status byre_atomic_buffer_load(const byre_atomic_buffer* place, byre_buffer* result) {
  return guarded([=] {
    expect_given(place, "byre_atomic_buffer_load", "place");
    store_made(result, "byre_atomic_buffer_load", [&] { return place->content.load(call_site); });
  });
}

byre_status byre_atomic_buffer_store(byre_atomic_buffer* place, byre_buffer* desired) {
  return guarded([=] {
    expect_given(place, "byre_atomic_buffer_store", "place");
    place->content.store(std::move(value_to_write(desired, "byre_atomic_buffer_store", "desired")),
                         call_site);
  });
}

byre_status byre_atomic_buffer_exchange(byre_atomic_buffer* place, byre_buffer* buffer) {
  return guarded([=] {
    expect_given(place, "byre_atomic_buffer_exchange", "place");
    Buffer& value = value_to_write(buffer, "byre_atomic_buffer_exchange", "buffer");
    value = place->content.exchange(std::move(value), call_site);
  });
}

byre_status byre_atomic_buffer_compare_exchange(byre_atomic_buffer* place, byre_buffer* expected,
                                                byre_buffer* desired, int* stored) {
  return guarded([=] {
    constexpr const char* call = "byre_atomic_buffer_compare_exchange";
    expect_given(place, call, "place");
    expect_given(stored, call, "stored");
    if (expected == desired) {
      throw InvalidArgument(
          format_text("%s: `expected` and `desired` are one buffer. Pass two buffers.", call));
    }
    Buffer& now = value_to_write(expected, call, "expected");
    *stored = place->content.compare_exchange(
        now, std::move(value_to_write(desired, call, "desired")), call_site);
  });
}

int byre_atomic_buffer_holds(const byre_atomic_buffer* place, const byre_buffer* buffer) {
  return read_value(buffer, [=](const Buffer& value) {
    return place == nullptr ? value.data() == nullptr : place->content.holds(value);
  });
}

void byre_atomic_buffer_wait(const byre_atomic_buffer* place, const byre_buffer* expected) {
  if (place != nullptr) {
    read_value(expected, [=](const Buffer& value) { place->content.wait(value); });
  }
}

void byre_atomic_buffer_notify(byre_atomic_buffer* place) {
  if (place != nullptr) {
    place->content.notify();
  }
}

uint64_t byre_atomic_buffer_version(const byre_atomic_buffer* place) {
  return place == nullptr ? 0 : place->content.version();
}
