// SPDX-License-Identifier: BSL-1.0
#include <byre/interop/detail/npy_error.hpp>

namespace byre::inline v0::detail {

void refuse_npy(const char* source, const Text& found, const char* advice) {
  throw FileError(format_text("cannot read \"%.400s\" as a .npy file: %.400s. %s", source,
                              found.chars.data(), advice));
}

}  // namespace byre::inline v0::detail
