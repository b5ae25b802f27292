// SPDX-License-Identifier: BSL-1.0
#include "arithmetic.hpp"
#include "array.hpp"
#include "errors.hpp"

#include <vector>

namespace py = pybind11;

namespace byre::inline v0::python {
namespace {

/// Of one array, an element from each.
template <class Operation>
py::object mapped(const py::object& source, const char* name, const Operation& operation) {
  const Tensor tensor = array_operand_of(source, name);
  return wrapped(reading({&tensor}, tensor.nbytes(), [&] { return operation(tensor); }));
}

Tensor summed(const Tensor& tensor, const py::object& axis, bool keepdims) {
  Dims axes;
  if (axis.is_none()) {
    for (std::size_t each = 0; each < tensor.ndim(); ++each) {
      axes.push_back(static_cast<std::int64_t>(each));
    }
  } else {
    axes = dims_of(axis, "sum");
  }
  return reading({&tensor}, tensor.nbytes(), [&] { return byre::sum(tensor, axes, keepdims); });
}

/// NumPy's number in place of an array of no dimensions, as NumPy has it.
py::object array_or_number(const Tensor& result) {
  return result.ndim() == 0 ? numpy_scalar(result) : wrapped(result);
}

py::object flipped(const py::object& source, const py::object& axis) {
  const Tensor tensor = array_operand_of(source, "flip");
  Dims axes;
  if (axis.is_none()) {
    for (std::size_t each = 0; each < tensor.ndim(); ++each) {
      axes.push_back(static_cast<std::int64_t>(each));
    }
  } else {
    axes = dims_of(axis, "flip");
  }
  return wrapped(reading({&tensor}, tensor.nbytes(), [&] { return byre::flip(tensor, axes); }));
}

py::object concatenated(const py::object& arrays, std::int64_t axis) {
  std::vector<Tensor> tensors;
  std::size_t nbytes = 0;
  const py::tuple held(arrays);
  for (const py::handle array : held) {
    tensors.push_back(array_operand_of(array, "concatenate"));
    nbytes += tensors.back().nbytes();
  }
  return wrapped(locked(
      StripeSet(tensors), nbytes, [&] { return byre::cat(tensors, axis); }, [] { return true; }));
}

py::object chosen(const py::object& condition, const py::object& a, const py::object& b) {
  const Tensor truth = array_operand_of(condition, "where");
  const auto operand = [](const py::object& source) {
    const auto found = operand_of(source);
    return found ? *found : array_operand_of(source, "where");
  };
  const Operand if_true = operand(a);
  const Operand if_false = operand(b);
  const Tensor* const first_tensor = std::get_if<Tensor>(&if_true);
  const Tensor* const second_tensor = std::get_if<Tensor>(&if_false);
  std::size_t nbytes = truth.nbytes() * sizeof(double);
  for (const Tensor* const tensor : {first_tensor, second_tensor}) {
    nbytes += tensor == nullptr ? 0 : tensor->nbytes();
  }
  return wrapped(reading({&truth, first_tensor, second_tensor}, nbytes, [&] {
    return std::visit(
        [&](const auto& first, const auto& second) { return byre::where(truth, first, second); },
        if_true, if_false);
  }));
}

}  // namespace

void define_functions(py::module_& module, ArrayClass& array) {
  array.def(
      "sum",
      [](const Array& self, const py::object& axis, bool keepdims, const py::object& out) {
        if (!out.is_none()) {
          throw OperandError(
              format_text("sum with out=, which byre has not. Assign what it returns: out[...] = "
                          "x.sum(axis)."));
        }
        return array_or_number(summed(self.tensor(), axis, keepdims));
      },
      py::arg("axis") = py::none(), py::arg("keepdims") = false, py::kw_only(),
      py::arg("out") = py::none(),  // np.sum(x) says it
      "The sum over all axes, or those given; as a number where no axis is left.\n\n"
      "Integers and bools are summed as int64.\n\n"
      ">>> byre.array([[1, 2], [3, 4]]).sum(axis=0)\narray([4, 6])\n");
  module.def(
      "sum",
      [](const py::object& source, const py::object& axis, bool keepdims) {
        return array_or_number(summed(array_operand_of(source, "sum"), axis, keepdims));
      },
      py::arg("array"), py::arg("axis") = py::none(), py::arg("keepdims") = false,
      "The sum over all axes, or those given: see Array.sum.\n\n"
      ">>> byre.sum([[1, 2], [3, 4]], keepdims=True)\narray([[10]])\n");
  module.def(
      "exp",
      [](const py::object& source) {
        return mapped(source, "exp", [](const Tensor& tensor) { return byre::exp(tensor); });
      },
      py::arg("array"),
      "e to the power of each element.\n\n>>> byre.exp(byre.zeros(2))\narray([1., 1.])\n");
  module.def(
      "relu",
      [](const py::object& source) {
        return mapped(source, "relu", [](const Tensor& tensor) { return byre::relu(tensor); });
      },
      py::arg("array"),
      "The greater of each element and 0.\n\n>>> byre.relu([-1, 2])\narray([0, 2])\n");
  module.def("where", chosen, py::arg("condition"), py::arg("a"), py::arg("b"),
             "Elements of `a` where `condition`, of bools, is true, else of `b`.\n\n"
             ">>> byre.where(byre.array([True, False]), byre.array([1, 2]), 0)\narray([1, 0])\n");
  module.def("concatenate", concatenated, py::arg("arrays"), py::arg("axis") = 0,
             "The arrays behind each other along an axis, as their promoted dtype.\n\n"
             ">>> byre.concatenate([byre.array([1, 2]), byre.array([3])])\narray([1, 2, 3])\n");
  module.def("flip", flipped, py::arg("array"), py::arg("axis") = py::none(),
             "A copy with the elements along all axes, or those given, in reverse order.\n\n"
             ">>> byre.flip(byre.array([1, 2, 3]))\narray([3, 2, 1])\n");
}

}  // namespace byre::inline v0::python
