// SPDX-License-Identifier: BSL-1.0
/// A program with one violation, at made-up lines, that ends as programs do. As `twice` it tries to
/// reshape twice and prints what is thrown; as `twice NAME VALUE` it sets that in the environment in
/// between. As `late` it violates where statics are destroyed; as `never` it reshapes nothing.
#include <byre/error/error.hpp>
#include <byre/shadow/detail/tracking.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

using namespace byre;

constexpr std::array<std::int64_t, 2> sizes{2, 3};
constexpr std::array<std::int64_t, 1> flat_sizes{6};

shadow::detail::Access at(std::uint32_t line) {
  return {{"src/program.cpp", line}, sizes};
}

shadow::ShadowHandle reshape(const Storage& storage) {
  return shadow::detail::link_by_reshape(storage, nullptr, shadow::ReshapeMode::warn, at(10),
                                         flat_sizes);
}

void try_to_reshape(const Storage& storage) {
  try {
    reshape(storage);
    std::puts("reshaped");
  } catch (const Error& error) {
    std::puts(error.what());
  }
}

void violate(const Storage& storage) {
  const shadow::ShadowHandle flat = reshape(storage);
  shadow::detail::end_write(storage, flat.get(), at(11));
  shadow::detail::record_read(storage, nullptr, at(12));
}

struct Late {
  ~Late() {
    if (storage) {
      violate(storage);
    }
  }
  Storage storage;
};

Late late;

}  // namespace

int main(int argc, char** argv) {
  const std::string_view how = argc > 1 ? argv[1] : "";
  const Storage storage = Storage::allocate(24);
  if (how == "twice") {
    try_to_reshape(storage);
    if (argc > 3) {
      ::setenv(argv[2], argv[3], 1);
    }
    try_to_reshape(storage);
  } else if (how == "late") {
    late.storage = storage;
  } else if (how != "never") {
    violate(storage);
  }
}
