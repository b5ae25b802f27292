// SPDX-License-Identifier: BSL-1.0
#include "arithmetic.hpp"
#include "array.hpp"
#include "errors.hpp"
#include "indexing.hpp"

namespace py = pybind11;

namespace byre::inline v0::python {
namespace {

py::object element_or_view(const Array& self, const py::object& key) {
  Selection selection = selected(self.tensor(), key);
  return selection.is_element ? numpy_scalar(selection.view) : wrapped(std::move(selection.view));
}

/// Without first dimensions of size 1 that `written` does not have, which NumPy lets a value have.
Tensor without_extra_dimensions(Tensor value, const Tensor& written) {
  while (value.ndim() > written.ndim() && value.sizes()[0] == 1) {
    value = value.select(0, 0);
  }
  return value;
}

void write(Tensor& target, const Tensor& source) {
  copy_(target, source);
}
void write(Tensor& target, const Scalar& number) {
  fill_(target, number);
}

void assign(const Array& self, const py::object& key, const py::object& value) {
  const Tensor written = selected(self.tensor(), key).view;
  std::optional<Operand> operand = operand_of(value);
  if (!operand) {
    throw OperandError(
        format_text("An assignment of an object of type %s. Elements are assigned from numbers, "
                    "arrays and lists of numbers.",
                    Py_TYPE(value.ptr())->tp_name));
  }
  if (Tensor* const tensor = std::get_if<Tensor>(&*operand)) {
    *tensor = without_extra_dimensions(*tensor, written);
  }
  compute_in_place(written, *operand, "a write",
                   [](Tensor& target, const auto& source) { write(target, source); });
}

}  // namespace

void define_indexing(ArrayClass& array) {
  array.def("__getitem__", element_or_view).def("__setitem__", assign);
}

}  // namespace byre::inline v0::python
