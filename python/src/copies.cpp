// SPDX-License-Identifier: BSL-1.0
#include "copies.hpp"

#include "errors.hpp"
#include "locks.hpp"

#include <byre/memory/paged.hpp>
#include <byre/tensor/layout.hpp>

#include <utility>
#include <vector>

namespace py = pybind11;

namespace byre::inline v0::python {
namespace {

/// True within byre.no_copies(). Kept for good.
PyObject* copies_are_refused = nullptr;

bool ask_context() {
  PyObject* value = nullptr;
  if (PyContextVar_Get(copies_are_refused, nullptr, &value) != 0) {
    throw py::error_already_set();
  }
  return checked(value).is(py::handle(Py_True));
}

/// The blocks that one object of byre.no_copies() was entered for and that have not ended.
class NoCopies {
 public:
  void enter() { tokens_.push_back(checked(PyContextVar_Set(copies_are_refused, Py_True))); }
  void exit(const py::args&) {
    if (tokens_.empty()) {
      throw InvalidArgument(
          format_text("no_copies: the end of a block that never began. Write `with "
                      "byre.no_copies():`."));
    }
    const py::object token = std::move(tokens_.back());
    tokens_.pop_back();
    if (PyContextVar_Reset(copies_are_refused, token.ptr()) != 0) {
      throw py::error_already_set();
    }
  }

 private:
  std::vector<py::object> tokens_;
};

bool copies_pages_alone(const Storage& storage) noexcept {
  return is_in_pages(storage.origin()) && storage.nbytes() >= least_paged_nbytes;
}

[[noreturn]] void refuse(const Tensor& tensor, std::size_t nbytes, const char* operation,
                         const char* why) {
  throw CopyRefused(
      format_text("%s of an array of sizes %s would copy %zu bytes, %s, and this is within "
                  "byre.no_copies(). Do it outside, or copy by name before: byre.array(x.numpy()).",
                  operation, to_string(tensor.sizes()).c_str(), nbytes, why));
}

}  // namespace

CopyRule::CopyRule() : refuses_(ask_context()) {}

void CopyRule::before_write(const Tensor& written, const char* operation) const {
  const Storage& storage = written.storage();
  if (!refuses_ || written.numel() == 0 || copies_pages_alone(storage)) {
    return;
  }
  if (storage.use_count() > 1) {
    refuse(written, storage.nbytes(), operation, "which other owners share");
  }
  if (storage.is_read_only()) {
    refuse(written, storage.nbytes(), operation, "which may not be written in place");
  }
}

void CopyRule::before_clone(const Tensor& source, const char* operation) const {
  if (refuses_ && is_copied_by_clone(source.storage())) {
    refuse(source, source.storage().nbytes(), operation, "which belong to another library");
  }
}

void CopyRule::before_reshape(const Tensor& source, const Dims& sizes,
                              const char* operation) const {
  if (!refuses_) {
    return;
  }
  if (!viewed_as(source.layout(), sizes, operation)) {
    refuse(source, source.nbytes(), operation, "since strides cannot say it");
  }
  before_clone(source, operation);
}

void CopyRule::before_copy(const Tensor& source, const char* operation, const char* why) const {
  if (refuses_) {
    refuse(source, source.nbytes(), operation, why);
  }
}

void define_no_copies(py::module_& module) {
  copies_are_refused = checked(PyContextVar_New("byre.no_copies", Py_False)).release().ptr();
  py::class_<NoCopies> no_copies(module, "no_copies", R"(A block in which hidden copies are refused.

Within it byre.CopyRefused is raised, before anything changed, instead of a copy that nobody asked for by
name: by a write to data that a lazy copy shares, or that is read-only; by a lazy copy of memory of another
library; by a reshape that strides cannot say. Writes to large arrays in pages, which copy the pages that
they touch, are allowed, and so is what makes new arrays by its nature: byre.array(...), astype, arithmetic.
It holds for the thread, or the task of asyncio, that entered it. Blocks nest.

>>> x = byre.zeros(3)
>>> with byre.no_copies():
...     x[0] = 1
>>> y = x.copy()
>>> with byre.no_copies():
...     x[0] = 2
Traceback (most recent call last):
    ...
byre.CopyRefused: a write of an array of sizes [] would copy 24 bytes, which other owners share, ...
)");
  no_copies.def(py::init<>())
      .def("__enter__",
           [](const py::object& self) {
             self.cast<NoCopies&>().enter();
             return self;
           })
      .def("__exit__", &NoCopies::exit);
  no_copies.attr("__module__") = "byre";
}

}  // namespace byre::inline v0::python
