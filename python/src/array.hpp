// SPDX-License-Identifier: BSL-1.0
/// byre.Array: a tensor on the host, which has memory and a dtype, as Python sees it. And what it is made
/// of: elements of NumPy, of lists and of numbers.
#pragma once

#include "later.hpp"

#include <byre/storage/pin.hpp>
#include <byre/tensor/scalar.hpp>
#include <byre/tensor/tensor.hpp>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace byre::inline v0::python {

/// The tensor never becomes another one. It is used while holding stripes of locks.hpp, but for what it
/// is: sizes, strides, dtype. To let go of it takes none: who uses a storage has a handle of its own.
class Array {
 public:
  explicit Array(Tensor tensor) noexcept : tensor_(std::move(tensor)) {}
  Array(Array&&) noexcept = default;
  Array& operator=(Array&&) = delete;
  /// With the interpreter's lock, as Python calls it.
  ~Array() {
    tensor_ = Tensor();
    kept_ = {};
    drain();
  }

  const Tensor& tensor() const noexcept { return tensor_; }

  /// What the array holds as long as it lives, for consumers of its buffers that keep nothing but it.
  struct Kept {
    Pin to_write;
    std::vector<Pin> to_read;
    bool keeps_reads = false;
  };
  Kept& kept() noexcept { return kept_; }

 private:
  Tensor tensor_;
  Kept kept_;
};

using ArrayClass = pybind11::class_<Array>;

pybind11::object wrapped(Tensor tensor);

/// Has `type.__new__()` refuse: it would make an object without contents. C++ makes them otherwise.
void forbid_new(pybind11::handle type);

/// An int, or a sequence of them. Throws OperandError, which names `operation`, for anything else.
Dims dims_of(pybind11::handle numbers, const char* operation);
/// The arguments of a function that takes them one by one or as one sequence.
Dims dims_of_arguments(const pybind11::args& numbers, const char* operation);
pybind11::tuple tuple_of(const Dims& dims, std::int64_t factor = 1);

/// Of a bool, an int, a float, a complex, or a NumPy scalar of these. Throws DTypeError for an int of more
/// than 64 bits.
std::optional<Scalar> number_of(pybind11::handle number);

/// A copy of the elements of a NumPy array, in memory from `allocator`. Throws DTypeError for those that
/// byre lacks.
Tensor tensor_of_numpy(const pybind11::array& source, Allocator& allocator);

/// Writes the elements in row-major order to memory that is aligned for them.
void copy_to(void* to, const Tensor& tensor, DType dtype);

/// A NumPy array of the elements as they are now; of bfloat16 as float32.
pybind11::array numpy_copy(const Tensor& tensor);

/// One element, as NumPy's scalar.
pybind11::object numpy_scalar(const Tensor& element);

/// An array as it is, or one of what byre.array() takes, of `dtype` if one is said.
Tensor tensor_of(pybind11::handle source, std::optional<DType> dtype, Allocator& allocator);

/// An operand beside an array: an array, a number, or what byre.array() takes of NumPy arrays and lists.
/// Nothing for what may know itself what to do.
using Operand = std::variant<Tensor, Scalar>;
std::optional<Operand> operand_of(pybind11::handle source);

/// What has to be an array, or be made one. Throws OperandError, which names `operation`.
Tensor array_operand_of(pybind11::handle source, const char* operation);

/// What a lazy copy of memory that others may write is: a copy of the elements that the tensor sees, and of no others.
Tensor copy_of_seen(const Tensor& tensor);

/// A lazy copy; of elements that a broadcast repeats, one made now, so that each may be written.
Tensor copied(const Tensor& tensor, const char* operation);
/// A copy of another dtype; a lazy one of the same.
Tensor converted(const Tensor& tensor, DType dtype, Allocator& allocator);

void define_creation(pybind11::module_& module);
void define_attributes(ArrayClass& array);
void define_conversions(pybind11::module_& module, ArrayClass& array);
void define_views(pybind11::module_& module, ArrayClass& array);
void define_copies(pybind11::module_& module, ArrayClass& array);
void define_indexing(ArrayClass& array);
void define_operators(pybind11::module_& module, ArrayClass& array);
void define_functions(pybind11::module_& module, ArrayClass& array);
void define_statistics(pybind11::module_& module);
void define_for_tests(pybind11::module_& module);

}  // namespace byre::inline v0::python
