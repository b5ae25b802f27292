// SPDX-License-Identifier: BSL-1.0
// A program that links the DLLs of byre, without a mark at its imports: functions, variables, and
// errors that are caught by their type.
#include <byre/byre.h>
#include <byre/byre.hpp>
#include <byre/functional.hpp>
#include <byre/observe/counters.hpp>
#include <byre/tensor.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

void expect(bool is_right, const char* what) {
  if (!is_right) {
    std::printf("wrong: %s\n", what);
    std::fflush(stdout);
    std::_Exit(1);
  }
}

}  // namespace

int main() {
  using namespace byre;
  Buffer buffer = Buffer::allocate(4);
  std::memcpy(buffer.mutable_data(), "cows", 4);
  const Buffer clone = buffer;
  buffer.mutable_data()[0] = std::byte{'m'};
  expect(std::memcmp(clone.data(), "cows", 4) == 0, "the clone changed");
  expect(std::memcmp(buffer.data(), "mows", 4) == 0, "the write is lost");
  expect(!BYRE_STATS || stats::snapshot().copies == 1, "the copy is not counted");
  try {
    Buffer::map_file("no such file");
    expect(false, "a missing file was mapped");
  } catch (const FileError&) {
  }
  const Tensor ones = Tensor::zeros({2, 2}, DType::f32);
  expect(ones.reshape({4}).numel() == 4, "the reshape has another size");
  try {
    ones.reshape({3});
    expect(false, "a tensor of four elements was reshaped to three");
  } catch (const ShapeError&) {
  }
  byre_buffer copied{};
  expect(byre_buffer_allocate(4, byre_default_allocator(), &copied) == BYRE_OK, "no memory");
  byre_buffer_release(&copied);
  expect(!functional::AnyTensor(), "an empty handle has a tensor");
}
