// SPDX-License-Identifier: BSL-1.0
// NumPy's side of blocks: its memory handler (NEP 49), and arrays in an existing block.
#include "module.hpp"

#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#include <numpy/arrayobject.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

namespace py = pybind11;

namespace byre::inline BYRE_ABI::python {
namespace {

/// NumPy's own allocator: for small arrays, and for all arrays if no pages are available.
const PyDataMemAllocator& numpy_allocator() noexcept {
  static const PyDataMemAllocator* const allocator =
      &static_cast<PyDataMem_Handler*>(
           PyCapsule_GetPointer(PyDataMem_DefaultHandler, "mem_handler"))
           ->allocator;
  return *allocator;
}

void* allocate(void* context, std::size_t nbytes, bool zeros) noexcept {
  void* pages = nullptr;
  try {
    pages = nbytes < *static_cast<const std::size_t*>(context) ? nullptr
                                                               : allocate_block(nbytes, zeros);
  } catch (...) {
    pages = nullptr;  // NumPy's allocator is used
  }
  if (pages != nullptr) {
    return pages;
  }
  return zeros ? numpy_allocator().calloc(numpy_allocator().ctx, nbytes, 1)
               : numpy_allocator().malloc(numpy_allocator().ctx, nbytes);
}

void* malloc_in_pages(void* context, std::size_t nbytes) {
  return allocate(context, nbytes, false);
}

void* calloc_in_pages(void* context, std::size_t count, std::size_t nbytes) {
  std::size_t all = 0;
  return __builtin_mul_overflow(count, nbytes, &all) ? nullptr : allocate(context, all, true);
}

void free_in_pages(void* /*context*/, void* data, std::size_t nbytes) {
  if (data != nullptr && !release_block(data)) {
    numpy_allocator().free(numpy_allocator().ctx, data, nbytes);
  }
}

void* realloc_in_pages(void* context, void* data, std::size_t nbytes) {
  const std::shared_ptr<Block> block = data == nullptr ? nullptr : find_block(data, 1);
  if (block == nullptr) {
    // NumPy does not pass the size of an ordinary array, so the array cannot move to pages.
    return data == nullptr ? allocate(context, nbytes, false)
                           : numpy_allocator().realloc(numpy_allocator().ctx, data, nbytes);
  }
  const auto old_nbytes =
      static_cast<std::size_t>(block->begin + block->nbytes - static_cast<std::byte*>(data));
  void* const moved = allocate(context, nbytes, false);
  if (moved != nullptr) {
    std::memcpy(moved, data, std::min(nbytes, old_nbytes));
    release_block(data);
  }
  return moved;
}

/// Arrays keep their handler, so handlers live forever. NumPy releases a handler once too often for
/// each array whose __array_finalize__ raises: therefore each handler has spare references.
py::object handler(std::size_t min_nbytes) {
  struct Handler {
    std::size_t min_nbytes;
    PyDataMem_Handler functions;
  };
  constexpr Py_ssize_t spare_references = Py_ssize_t{1} << 29;

  auto made = std::make_unique<Handler>();
  *made = {
      min_nbytes,
      {"byre",
       1,
       {&made->min_nbytes, malloc_in_pages, calloc_in_pages, realloc_in_pages, free_in_pages}}};
  PyObject* const capsule = PyCapsule_New(&made->functions, "mem_handler", nullptr);
  const py::object found = checked(capsule);
  made.release();
  Py_SET_REFCNT(capsule, spare_references);
  return found;
}

/// The handler of arrays that are made in an existing block. It is used only to free them.
PyObject* freeing_handler() {
  static PyObject* const found = handler(std::numeric_limits<std::size_t>::max()).release().ptr();
  return found;
}

}  // namespace

py::object array_in(Block& block, const Block* source, py::handle like) {
  auto* const prototype = reinterpret_cast<PyArrayObject*>(like.ptr());
  const auto nbytes = static_cast<npy_intp>(block.nbytes);
  constexpr int flags = NPY_ARRAY_WRITEABLE;
  // NumPy's own type runs no Python code that could use the array before it owns the block.
  PyObject* const made =
      like ? PyArray_NewFromDescr(
                 &PyArray_Type, (Py_INCREF(PyArray_DESCR(prototype)), PyArray_DESCR(prototype)),
                 PyArray_NDIM(prototype), PyArray_DIMS(prototype), PyArray_STRIDES(prototype),
                 block.begin + (static_cast<std::byte*>(PyArray_DATA(prototype)) - source->begin),
                 flags, nullptr)
           : PyArray_New(&PyArray_Type, 1, &nbytes, NPY_UINT8, nullptr, block.begin, 0, flags,
                         nullptr);
  if (made == nullptr) {
    release_block(block.begin);
  }
  py::object array = checked(made);
  reinterpret_cast<PyArrayObject_fields*>(made)->mem_handler = freeing_handler();
  Py_INCREF(freeing_handler());
  PyArray_ENABLEFLAGS(reinterpret_cast<PyArrayObject*>(made), NPY_ARRAY_OWNDATA);
  return array;
}

void define_arrays(py::module_& module) {
  if (_import_array() < 0) {
    throw py::error_already_set();
  }
  // These objects are made before any fork, so that no child inherits a half-constructed object.
  watch_forks();
  numpy_allocator();
  freeing_handler();
  module.def("handler", handler);
  module.def("set_handler", [](const py::object& handler) {
    return checked(PyDataMem_SetHandler(handler.ptr()));
  });
}

}  // namespace byre::inline BYRE_ABI::python
