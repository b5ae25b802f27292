// SPDX-License-Identifier: BSL-1.0
#include <byre/tensor/detail/tensor_memory.hpp>
#include <byre/tensor/devices.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

namespace byre::inline v0::detail {

Storage allocate_elements(std::size_t nbytes, DType dtype, Allocator& allocator) {
  Storage storage = Storage::allocate(nbytes, allocator);
  if (dtype != DType::boolean || nbytes == 0) {
    return storage;
  }
  if (allocator.device().is_cpu()) {
    std::memset(storage.mutable_data(), 0, nbytes);
  } else {
    Buffer zeros = Buffer::allocate(nbytes);
    std::memset(zeros.mutable_data(), 0, nbytes);
    support_of(allocator.device())
        .copy_from_host(storage.mutable_data(), std::as_const(zeros).data(), nbytes);
  }
  return storage;
}

void expect_aligned(const void* data, DType dtype, Device device, const char* operation) {
  const std::size_t excess = reinterpret_cast<std::uintptr_t>(data) % alignment(dtype);
  if (device.is_cpu() && excess != 0) {
    throw InvalidArgument(format_text(
        "%s: the memory begins at an address that is %zu more than a multiple of %zu, and elements "
        "of %s begin at multiples of that alone. Copy it to memory that is aligned.",
        operation, excess, alignment(dtype), name_of(dtype)));
  }
}

void expect_bools(const void* data, std::size_t nbytes, DType dtype, Device device,
                  const char* operation) {
  if (dtype != DType::boolean || !device.is_cpu() || nbytes == 0) {
    return;
  }
  const std::span bytes(static_cast<const std::uint8_t*>(data), nbytes);
  const auto odd = std::ranges::find_if(bytes, [](std::uint8_t byte) { return byte > 1; });
  if (odd != bytes.end()) {
    throw DTypeError(format_text(
        "%s: bool number %td is the byte %d, and a bool is 0 or 1. See the bytes as u8, "
        "and write them into a tensor of bool with copy_: what is not 0 is true.",
        operation, odd - bytes.begin(), int{*odd}));
  }
}

}  // namespace byre::inline v0::detail
