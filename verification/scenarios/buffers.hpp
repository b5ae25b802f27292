// SPDX-License-Identifier: BSL-1.0
/// The buffers of the scenarios, of one cell of data each.
#pragma once

#include <byre/cow/share_lock.hpp>
#include <byre/storage/buffer.hpp>

#include "../search.hpp"

namespace byre::verification {

template <template <class> class Share>
using CheckedBuffer = basic_buffer<Checked, Share>;

/// A buffer of one cell that holds `value`.
template <template <class> class Share>
CheckedBuffer<Share> buffer_of(unsigned value, Tracked& memory) {
  auto buffer = CheckedBuffer<Share>::allocate(cells(1), memory);
  cell(buffer.mutable_data()).set(value);
  return buffer;
}

template <class Buffer>
unsigned read(const Buffer& buffer) {
  return cell(buffer.data()).get();
}

/// Writes, and says what had to be done to be alone with the data.
template <class Buffer>
Materialized write(Buffer& buffer, unsigned value, Wait wait = Wait::allowed) {
  const Materialized how = buffer.materialize(wait);
  cell(buffer.mutable_data(wait)).set(value);
  return how;
}

/// Ends the buffer's share of its data.
template <class Buffer>
void drop(Buffer& buffer) {
  buffer = Buffer();
}

}  // namespace byre::verification
