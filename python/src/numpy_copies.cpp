// SPDX-License-Identifier: BSL-1.0
#include "array.hpp"
#include "dtypes.hpp"
#include "locks.hpp"

#include <byre/tensor/elements.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

namespace py = pybind11;

namespace byre::inline v0::python {
namespace {

/// The elements in C order and the machine's byte order: those of `source`, if they are so already.
py::array in_order(const py::array& source) {
  const py::object native = source.dtype().attr("newbyteorder")("=");
  return py::module_::import("numpy").attr("array")(source, native, py::arg("copy") = false,
                                                    py::arg("order") = "C");
}

void copy_elements(void* to, const void* from, std::size_t nbytes, DType dtype) {
  const auto* const bytes = static_cast<const unsigned char*>(from);
  if (dtype == DType::boolean) {
    // NumPy takes any byte for a bool, and C++ two of them.
    std::transform(bytes, bytes + nbytes, static_cast<bool*>(to),
                   [](unsigned char byte) { return byte != 0; });
  } else {
    std::copy_n(bytes, nbytes, static_cast<unsigned char*>(to));
  }
}

}  // namespace

Tensor tensor_of_numpy(const py::array& source, Allocator& allocator) {
  const DType dtype = dtype_of_elements(source.dtype());
  if (dtype == DType::uninitialized) {
    refuse_dtype(source.dtype());
  }
  const py::array elements = in_order(source);
  const Dims sizes(elements.shape(), elements.shape() + elements.ndim());
  const auto nbytes = static_cast<std::size_t>(elements.nbytes());
  const void* const from = elements.data();
  return reading({}, nbytes, [&] {
    Tensor tensor = Tensor::empty(sizes, dtype, allocator);
    copy_elements(tensor.mutable_raw_data(), from, nbytes, dtype);
    return tensor;
  });
}

void copy_to(void* to, const Tensor& tensor, DType dtype) {
  const std::size_t nbytes = static_cast<std::size_t>(tensor.numel()) * itemsize(dtype);
  reading({&tensor}, nbytes, [&] {
    std::memset(to, 0, dtype == DType::boolean ? nbytes : 0);  // no bytes that are no bools
    Tensor target = Tensor::over(Storage::borrow(to, nbytes), tensor.sizes(), dtype);
    copy_(target, tensor);
  });
}

py::array numpy_copy(const Tensor& tensor) {
  const DType dtype = tensor.dtype() == DType::bf16 ? DType::f32 : tensor.dtype();
  const std::vector<py::ssize_t> shape(tensor.sizes().begin(), tensor.sizes().end());
  py::array copy(numpy_dtype(dtype), shape);
  copy_to(copy.mutable_data(), tensor, dtype);
  return copy;
}

py::object numpy_scalar(const Tensor& element) {
  return numpy_copy(element)[py::tuple()];
}

}  // namespace byre::inline v0::python
