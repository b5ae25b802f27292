// SPDX-License-Identifier: BSL-1.0
/// Buffers and storages created from text and read back as text, so that a failed comparison is
/// readable.
#pragma once

#include <byre/storage/storage.hpp>

#include <cstring>
#include <string>
#include <string_view>

namespace byre::test {

/// Creates a Buffer or a Storage of these bytes.
template <class Memory>
Memory of_text(std::string_view text, Allocator& allocator = default_allocator()) {
  Memory memory = Memory::allocate(text.size(), allocator);
  std::memcpy(memory.mutable_data(), text.data(), text.size());
  return memory;
}

/// The bytes of a Buffer, Storage or Pin.
template <class Memory>
std::string text_of(const Memory& memory) {
  return {reinterpret_cast<const char*>(memory.data()), memory.nbytes()};
}

}  // namespace byre::test
