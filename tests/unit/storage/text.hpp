// SPDX-License-Identifier: BSL-1.0
/// What memory holds, written so that a failed comparison can be read.
#pragma once

#include <byre/storage/storage.hpp>

#include <cstring>
#include <string>
#include <string_view>

namespace byre::test {

/// A Buffer or a Storage of these bytes.
template <class Memory>
Memory of_text(std::string_view text, Allocator& allocator = default_allocator()) {
  Memory memory = Memory::allocate(text.size(), allocator);
  std::memcpy(memory.mutable_data(), text.data(), text.size());
  return memory;
}

/// The bytes of a Buffer, a Storage or a Pin.
template <class Memory>
std::string text_of(const Memory& memory) {
  return {reinterpret_cast<const char*>(memory.data()), memory.nbytes()};
}

}  // namespace byre::test
