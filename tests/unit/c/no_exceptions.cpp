// SPDX-License-Identifier: BSL-1.0
// A program in C++17 without exceptions and run-time type information. It links a library that has
// both.
#include <byre/byre_c.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#if __cplusplus >= 202002L || defined(__cpp_exceptions) || defined(__cpp_rtti)
#error "Compile this test with -std=c++17 -fno-exceptions -fno-rtti."
#endif

namespace {

void expect(bool holds, const char* what) {
  if (!holds) {
    std::printf("wrong: %s\n", what);
    std::exit(1);
  }
}

byre_status fail_to_allocate(void*, std::size_t, std::size_t, byre_block*) {
  return BYRE_USER_STATUS + 5;
}
void deallocate(void*, const byre_block*) {}

}  // namespace

int main() {
  byre::c::Buffer buffer = byre::c::Buffer::allocate(5).value();
  std::memcpy(buffer.mutable_data().value(), "cows", 5);
  byre::c::Buffer clone = buffer.lazy_clone().value();
  expect(clone.shares_data_with(buffer), "a clone shares");
  static_cast<char*>(*clone.mutable_data())[0] = 'm';
  expect(std::strcmp(static_cast<const char*>(buffer.data()), "cows") == 0, "the source is kept");
  expect(std::strcmp(static_cast<const char*>(clone.data()), "mows") == 0, "the clone is written");

  // Exceptions of the library become errors.
  const auto refused = byre::c::Buffer::allocate(static_cast<std::size_t>(-1));
  expect(!refused && refused.error().status() == BYRE_INVALID_ARGUMENT, "a size is refused");
  expect(std::strstr(refused.error().text(), "size out of range") != nullptr, "the text is kept");

  byre_allocator_functions functions{};
  functions.struct_nbytes = sizeof functions;
  functions.allocate = &fail_to_allocate;
  functions.deallocate = &deallocate;
  const auto allocator = byre::c::Allocator::create(functions).value();
  const auto failed = byre::c::Storage::allocate(1, allocator.get());
  expect(!failed && failed.error().status() == BYRE_USER_STATUS + 5, "a callback's status is kept");
  std::puts("good");
}
