// SPDX-License-Identifier: BSL-1.0
#include <byre/interop/detail/tensor_data.hpp>
#include <byre/tensor/detail/operands.hpp>

#include <algorithm>
#include <span>
#include <utility>

namespace byre::inline BYRE_ABI::detail {
namespace {

void expect_bools(const StoredElements& elements, const std::byte* data) {
  const std::span bytes(data, elements.dtype == DType::boolean ? elements.nbytes : 0);
  const auto odd = std::ranges::find_if(bytes, [](std::byte byte) { return byte > std::byte{1}; });
  if (odd != bytes.end()) {
    elements.refuse(format_text("its bool number %td is the byte %d", odd - bytes.begin(),
                                std::to_integer<int>(*odd)));
  }
}

bool is_in_order(DType dtype, std::endian byte_order) {
  return byte_order == std::endian::native || itemsize(dtype) == 1;
}

/// A complex number counts as two numbers.
void swap_bytes(std::byte* data, std::size_t nbytes, DType dtype) {
  const std::size_t number_nbytes = dtype == DType::complex64 ? sizeof(float) : itemsize(dtype);
  for (std::size_t at = 0; at < nbytes; at += number_nbytes) {
    std::reverse(data + at, data + at + number_nbytes);
  }
}

std::byte* bytes_to_write(Tensor& tensor, CallSite site) {
  return static_cast<std::byte*>(ElementAccess::to_write(tensor, site));
}

}  // namespace

Tensor loaded(const StoredElements& elements,
              const std::function<void(std::byte*, std::size_t)>& fill) {
  Tensor tensor = Tensor::empty(elements.sizes, elements.dtype);
  if (elements.nbytes != 0) {
    std::byte* const data = bytes_to_write(tensor, CallSite::current());
    fill(data, elements.nbytes);
    expect_bools(elements, data);
    if (!is_in_order(elements.dtype, elements.byte_order)) {
      swap_bytes(data, elements.nbytes, elements.dtype);
    }
  }
  return tensor;
}

bool are_usable(const StoredElements& elements, std::size_t offset) {
  return elements.nbytes != 0 && is_in_order(elements.dtype, elements.byte_order) &&
         offset % itemsize(elements.dtype) == 0;
}

Tensor mapped(const StoredElements& elements, Storage file, std::size_t offset) {
  expect_bools(elements, std::as_const(file).data() + offset);
  const Layout layout = contiguous_layout(elements.sizes, "mapping a file");
  return Tensor::over(std::move(file), {0}, elements.dtype)
      .as_strided(layout.sizes, layout.strides,
                  static_cast<std::int64_t>(offset / itemsize(elements.dtype)));
}

void expect_initialized(const Tensor& tensor, const char* operation) {
  expect_dtype_known(tensor, operation);
  expect_elements(tensor, operation);
}

Tensor to_write(const Tensor& tensor, std::endian byte_order, CallSite site) {
  Tensor data = !tensor.device().is_cpu() ? tensor.to(Device::cpu(), site)
                : tensor.is_contiguous()  ? tensor
                                          : tensor.clone(site);
  if (!is_in_order(data.dtype(), byte_order) && data.nbytes() != 0) {
    data = data.clone(site);
    swap_bytes(bytes_to_write(data, site), data.nbytes(), data.dtype());
  }
  return data;
}

void write_elements(OutputFile& file, const Tensor& data, CallSite site) {
  if (data.nbytes() != 0) {
    file.write(data.raw_data(site), data.nbytes());
  }
}

}  // namespace byre::inline BYRE_ABI::detail
