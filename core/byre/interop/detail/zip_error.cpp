// SPDX-License-Identifier: BSL-1.0
#include <byre/interop/detail/npy_error.hpp>
#include <byre/interop/detail/shown.hpp>
#include <byre/interop/detail/zip_error.hpp>

namespace byre::inline v0::detail {

void refuse_zip(const char* source, const Text& found, const char* advice) {
  throw FileError(format_text("cannot read \"%.400s\" as a .npz file: %.400s. %s", source,
                              found.chars.data(), advice));
}

void refuse_member(const char* source, std::string_view member, const Text& found,
                   const char* advice) {
  refuse_zip(source,
             format_text("its member \"%s\" %.300s", shown(member).c_str(), found.chars.data()),
             advice);
}

void refuse_parts(const char* source) {
  refuse_zip(source, format_text("it is one of several files of an archive"), save_with_numpy);
}

}  // namespace byre::inline v0::detail
