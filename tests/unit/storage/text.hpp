// SPDX-License-Identifier: BSL-1.0
/// What memory holds, written so that a failed comparison can be read.
#pragma once

#include <string>

namespace byre::test {

/// The bytes of a Buffer or a Storage.
template <class Memory>
std::string text_of(const Memory& memory) {
  return {reinterpret_cast<const char*>(memory.data()), memory.nbytes()};
}

}  // namespace byre::test
