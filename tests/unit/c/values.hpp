// SPDX-License-Identifier: BSL-1.0
/// Handles of the C interface that release themselves at the end of a test, and checks of statuses.
#pragma once

#include <byre/byre.h>

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>

#include "support/complaint.hpp"

namespace byre::test {

/// A handle in memory of zeros.
template <class Handle, void (*release)(Handle*)>
class Value {
 public:
  Value() { std::memset(static_cast<void*>(&handle_), 0, sizeof handle_); }
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;
  ~Value() { release(&handle_); }
  operator Handle*() { return &handle_; }

 private:
  Handle handle_;
};
using CBuffer = Value<byre_buffer, byre_buffer_release>;
using CTiles = Value<byre_tiles, byre_tiles_release>;

/// An object behind a pointer, which functions set.
template <class Object, void (*release)(Object*)>
class Pointer {
 public:
  Pointer() = default;
  Pointer(const Pointer&) = delete;
  Pointer& operator=(const Pointer&) = delete;
  ~Pointer() { release(object_); }
  operator Object*() const { return object_; }
  Object** result() { return &object_; }

 private:
  Object* object_ = nullptr;
};
using CStorage = Pointer<byre_storage, byre_storage_release>;
using CPin = Pointer<byre_pin, byre_pin_release>;
using CAllocator = Pointer<byre_allocator, byre_allocator_destroy>;
using CPool = Pointer<byre_pool, byre_pool_destroy>;
using CAtomicBuffer = Pointer<byre_atomic_buffer, byre_atomic_buffer_destroy>;
using CSink = Pointer<byre_installed_sink, byre_copy_sink_remove>;
using CRecording = Pointer<byre_recording, byre_recording_destroy>;
using CText = Pointer<char, byre_text_free>;

/// Whether a call succeeded.
inline testing::AssertionResult ok(byre_status status) {
  return status == BYRE_OK ? testing::AssertionSuccess()
                           : testing::AssertionFailure() << byre_last_error();
}

/// Whether a call failed with `expected`, and an error text that contains all of `parts`.
template <class... Parts>
testing::AssertionResult fails(byre_status status, byre_status expected, const Parts&... parts) {
  if (status != expected) {
    return testing::AssertionFailure() << "status " << status << " (" << byre_status_name(status)
                                       << "), expected " << expected << ": " << byre_last_error();
  }
  EXPECT_FALSE(has_doubled_stop(byre_last_error())) << byre_last_error();
  return says(byre_last_error(), "", parts...);  // "" because there may be no part
}

/// Fills `buffer` with the characters of `text`.
inline void allocate(byre_buffer* buffer, std::string_view text,
                     byre_allocator* allocator = nullptr) {
  void* data = nullptr;
  ASSERT_TRUE(ok(byre_buffer_allocate(text.size(), allocator, buffer)));
  ASSERT_TRUE(ok(byre_buffer_mutable_data(buffer, BYRE_WAIT_ALLOWED, &data)));
  std::memcpy(data, text.data(), text.size());
}

inline std::string text_of(const void* data, std::size_t nbytes) {
  return data == nullptr ? "" : std::string(static_cast<const char*>(data), nbytes);
}
inline std::string text_of(const byre_buffer* buffer) {
  return text_of(byre_buffer_data(buffer), byre_buffer_nbytes(buffer));
}
inline std::string text_of(const byre_storage* storage) {
  return text_of(byre_storage_data(storage), byre_storage_nbytes(storage));
}

/// Writes `text` at the start of the bytes of a buffer.
inline byre_status write(byre_buffer* buffer, std::string_view text) {
  void* data = nullptr;
  const byre_status status = byre_buffer_mutable_data(buffer, BYRE_WAIT_ALLOWED, &data);
  if (status == BYRE_OK) {
    std::memcpy(data, text.data(), text.size());
  }
  return status;
}

}  // namespace byre::test
