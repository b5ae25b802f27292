// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/graph/contents.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <span>

namespace byre::inline v0::functional::detail {
namespace {

/// From the machine's order of bytes to the text's, or back.
void order(std::span<std::byte> bytes, DType dtype) {
  if constexpr (std::endian::native == std::endian::big) {
    const std::size_t width = dtype == DType::complex64 ? sizeof(float) : byre::itemsize(dtype);
    for (; !bytes.empty(); bytes = bytes.subspan(width)) {
      std::reverse(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(width));
    }
  }
}

}  // namespace

std::string contents_of(const Tensor& tensor) {
  const Tensor on_host = tensor.to(Device::cpu()).contiguous();
  const auto* const first = static_cast<const std::byte*>(on_host.raw_data());
  std::vector<std::byte> bytes(first, first + on_host.nbytes());
  order(bytes, tensor.dtype());
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "x";
  text.reserve(length_of_contents(bytes.size()));
  for (const std::byte each : bytes) {
    text += digits[std::to_integer<std::size_t>(each >> 4)];
    text += digits[std::to_integer<std::size_t>(each & std::byte{15})];
  }
  return text;
}

Tensor tensor_of_contents(std::string_view contents, const Dims& sizes, DType dtype) {
  std::vector<std::byte> bytes;
  bytes.reserve(contents.size() / 2);
  for (std::size_t at = 1; at + 2 <= contents.size(); at += 2) {
    unsigned value = 0;
    const char* const end = contents.data() + at + 2;
    if (std::from_chars(contents.data() + at, end, value, 16).ptr != end) {
      throw InvalidArgument(
          format_text("contents are two hexadecimal digits for each byte, not '%s'",
                      std::string(contents.substr(at, 2)).c_str()));
    }
    bytes.push_back(static_cast<std::byte>(value));
  }
  order(bytes, dtype);
  Storage storage = Storage::allocate(bytes.size());
  std::copy(bytes.begin(), bytes.end(), storage.mutable_data());
  return Tensor::over(std::move(storage), sizes, dtype);
}

}  // namespace byre::inline v0::functional::detail
