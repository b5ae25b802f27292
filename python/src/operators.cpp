// SPDX-License-Identifier: BSL-1.0
#include "arithmetic.hpp"
#include "array.hpp"
#include "errors.hpp"

namespace py = pybind11;

namespace byre::inline v0::python {
namespace {

constexpr auto add_operands = [](const auto& a, const auto& b) { return byre::add(a, b); };
constexpr auto subtract_operands = [](const auto& a, const auto& b) { return byre::sub(a, b); };
constexpr auto multiply_operands = [](const auto& a, const auto& b) { return byre::mul(a, b); };
constexpr auto divide_operands = [](const auto& a, const auto& b) { return byre::div(a, b); };

// Comparisons are made of the two that byre has: nothing is equal to not a number, nor before or after it.
Tensor negated(const Tensor& truth) {
  return byre::eq(truth, Scalar(false));
}
constexpr auto are_equal = [](const auto& a, const auto& b) { return byre::eq(a, b); };
constexpr auto are_different = [](const auto& a, const auto& b) { return negated(byre::eq(a, b)); };
constexpr auto are_at_least = [](const auto& a, const auto& b) { return byre::ge(a, b); };
constexpr auto are_at_most = [](const auto& a, const auto& b) { return byre::ge(b, a); };
constexpr auto are_greater = [](const auto& a, const auto& b) {
  return byre::mul(byre::ge(a, b), negated(byre::eq(a, b)));
};
constexpr auto are_less = [](const auto& a, const auto& b) {
  return byre::mul(byre::ge(b, a), negated(byre::eq(a, b)));
};

constexpr auto add_in_place = [](Tensor& a, const auto& b) { byre::add_(a, b); };
constexpr auto subtract_in_place = [](Tensor& a, const auto& b) { byre::sub_(a, b); };
constexpr auto multiply_in_place = [](Tensor& a, const auto& b) { byre::mul_(a, b); };
constexpr auto divide_in_place = [](Tensor& a, const auto& b) { byre::div_(a, b); };

py::object not_implemented() {
  return py::reinterpret_borrow<py::object>(Py_NotImplemented);
}

template <class Operation>
void define_binary(ArrayClass& array, const char* name, const Operation& operation) {
  array.def(name, [operation](const Array& self, const py::object& other) {
    const auto operand = operand_of(other);
    return operand ? computed(self.tensor(), *operand, operation) : not_implemented();
  });
}

template <class Operation>
void define_reflected(ArrayClass& array, const char* name, const Operation& operation) {
  array.def(name, [operation](const Array& self, const py::object& other) {
    const auto operand = operand_of(other);
    return operand ? computed(*operand, self.tensor(), operation) : not_implemented();
  });
}

template <class Operation>
void define_in_place(ArrayClass& array, const char* name, const char* symbol,
                     const Operation& operation) {
  array.def(name, [operation, symbol](const py::object& self, const py::object& other) {
    const auto operand = operand_of(other);
    if (!operand) {
      return not_implemented();
    }
    compute_in_place(self.cast<const Array&>().tensor(), *operand, symbol, operation);
    return self;
  });
}

/// About the time that it takes, counted in bytes of the operands.
std::size_t nbytes_of_matmul(const Tensor& a, const Tensor& b) noexcept {
  constexpr std::size_t times_read = 16;
  return times_read * (a.nbytes() + b.nbytes());
}

py::object product(const Tensor& a, const Tensor& b) {
  return wrapped(reading({&a, &b}, nbytes_of_matmul(a, b), [&] { return byre::matmul(a, b); }));
}

/// Throws ShapeError for a number, as NumPy does.
const Tensor& factor_of(const Operand& operand) {
  if (const Tensor* const tensor = std::get_if<Tensor>(&operand)) {
    return *tensor;
  }
  throw ShapeError(
      format_text("matmul of an array and a number, which has no dimensions. For their product "
                  "write x * number."));
}

}  // namespace

void define_operators(py::module_& module, ArrayClass& array) {
  define_binary(array, "__add__", add_operands);
  define_reflected(array, "__radd__", add_operands);
  define_in_place(array, "__iadd__", "+=", add_in_place);
  define_binary(array, "__sub__", subtract_operands);
  define_reflected(array, "__rsub__", subtract_operands);
  define_in_place(array, "__isub__", "-=", subtract_in_place);
  define_binary(array, "__mul__", multiply_operands);
  define_reflected(array, "__rmul__", multiply_operands);
  define_in_place(array, "__imul__", "*=", multiply_in_place);
  define_binary(array, "__truediv__", divide_operands);
  define_reflected(array, "__rtruediv__", divide_operands);
  define_in_place(array, "__itruediv__", "/=", divide_in_place);
  define_binary(array, "__eq__", are_equal);
  define_binary(array, "__ne__", are_different);
  define_binary(array, "__ge__", are_at_least);
  define_binary(array, "__le__", are_at_most);
  define_binary(array, "__gt__", are_greater);
  define_binary(array, "__lt__", are_less);
  array.def("__neg__", [](const Array& self) {
    const Tensor& tensor = self.tensor();
    return wrapped(reading({&tensor}, tensor.nbytes(), [&] { return byre::neg(tensor); }));
  });
  array.def("__matmul__", [](const Array& self, const py::object& other) {
    const auto operand = operand_of(other);
    return operand ? product(self.tensor(), factor_of(*operand)) : not_implemented();
  });
  array.def("__rmatmul__", [](const Array& self, const py::object& other) {
    const auto operand = operand_of(other);
    return operand ? product(factor_of(*operand), self.tensor()) : not_implemented();
  });
  module.def(
      "matmul",
      [](const py::object& a, const py::object& b) {
        return product(array_operand_of(a, "matmul"), array_operand_of(b, "matmul"));
      },
      py::arg("a"), py::arg("b"),
      "The matrix product of the last two dimensions: a @ b.\n\n"
      ">>> byre.matmul([[1, 2], [3, 4]], [1, 1])\narray([3, 7])\n");
}

}  // namespace byre::inline v0::python
