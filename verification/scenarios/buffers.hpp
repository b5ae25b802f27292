// SPDX-License-Identifier: BSL-1.0
/// The buffers of the scenarios. Each has one cell of data.
#pragma once

#include <byre/storage/buffer.hpp>
#include <byre/storage/detail/buffer_impl.hpp>

#include "../search.hpp"

namespace byre::verification {

using CheckedBuffer = basic_buffer<Checked>;

/// A buffer of one cell that holds `value`.
template <class Sync = Checked>
basic_buffer<Sync> buffer_of(unsigned value, Tracked& memory) {
  auto buffer = basic_buffer<Sync>::allocate(cells(1), memory);
  cell(buffer.mutable_data()).set(value);
  return buffer;
}

/// `Owners` buffers that share one cell, which holds 7 at first, and their memory.
template <unsigned Owners, class Sync = Checked>
class SharedBuffers {
 public:
  SharedBuffers() : SharedBuffers([](Tracked& of) { return buffer_of<Sync>(7, of); }) {}
  template <class Make>
  explicit SharedBuffers(Make make) {
    buffers_[0] = make(memory);
    for (unsigned index = 1; index < Owners; ++index) {
      buffers_[index] = buffers_[0];
    }
  }

  basic_buffer<Sync>& operator[](unsigned index) { return buffers_[index]; }

  Tracked memory;

 private:
  basic_buffer<Sync> buffers_[Owners];
};

template <class Buffer>
unsigned read(const Buffer& buffer) {
  return cell(buffer.data()).get();
}

/// Whether a write was made in place or in a copy. write() finds out by comparing pointers, because
/// a call of materialize() would add an atomic step.
enum class Written : bool { in_place, in_a_copy };

template <class Buffer>
Written write(Buffer& buffer, unsigned value, Wait wait = Wait::allowed) {
  const std::byte* const before = buffer.data();
  std::byte* const now = buffer.mutable_data(wait);
  cell(now).set(value);
  return now == before ? Written::in_place : Written::in_a_copy;
}

/// Drops the buffer's data.
template <class Buffer>
void drop(Buffer& buffer) {
  buffer = Buffer();
}

}  // namespace byre::verification
