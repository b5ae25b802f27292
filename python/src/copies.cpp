// SPDX-License-Identifier: BSL-1.0
#include "copies.hpp"

#include "errors.hpp"
#include "locks.hpp"

#include <byre/memory/paged.hpp>
#include <byre/tensor/layout.hpp>

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

[[noreturn]] void refuse(std::size_t nbytes, const char* operation, const char* why) {
  throw CopyRefused(
      format_text("%s would copy %zu bytes, %s, and this is within byre.no_copies(). Do it "
                  "outside, or copy by name before: byre.array(x.numpy()).",
                  operation, nbytes, why));
}

}  // namespace

bool copies_pages_alone(const Storage& storage) noexcept {
  return is_in_pages(storage.origin()) && storage.nbytes() >= least_paged_nbytes;
}

CopyRule::CopyRule() : refuses_(ask_context()) {}

void CopyRule::before_write(const Tensor& written, const char* operation) const {
  const Storage& storage = written.storage();
  if (!refuses_ || written.numel() == 0 || copies_pages_alone(storage)) {
    return;
  }
  if (storage.use_count() > 1) {
    refuse(storage.nbytes(), operation, "which other owners share");
  }
  if (storage.is_read_only()) {
    refuse(storage.nbytes(), operation, "which may not be written in place");
  }
}

void CopyRule::before_clone(const Tensor& source, const char* operation) const {
  if (refuses_ && is_copied_by_clone(source.storage())) {
    refuse(source.nbytes(), operation, "which others may write");
  }
}

void CopyRule::before_reshape(const Tensor& source, const Dims& sizes,
                              const char* operation) const {
  if (!refuses_) {
    return;
  }
  if (!viewed_as(source.layout(), sizes, operation)) {
    refuse(source.nbytes(), operation, "since strides cannot say it");
  }
  before_clone(source, operation);
}

void CopyRule::before_copy(const Tensor& source, const char* operation, const char* why) const {
  if (refuses_) {
    refuse(source.nbytes(), operation, why);
  }
}

void define_no_copies(py::module_& module) {
  copies_are_refused = checked(PyContextVar_New("byre.no_copies", Py_False)).release().ptr();
  module.attr("_copies_are_refused") = py::handle(copies_are_refused);
}

}  // namespace byre::inline v0::python
