// SPDX-License-Identifier: BSL-1.0
#include "arrays.hpp"

#include "errors.hpp"

#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#include <numpy/arrayobject.h>

#include <algorithm>
#include <cstring>
#include <map>

namespace py = pybind11;

namespace byre::inline v0::python {
namespace {

/// NumPy's own allocator, for small arrays, and for all where there are no pages.
const PyDataMemAllocator& ordinary() noexcept {
  static const PyDataMemAllocator* const allocator =
      &static_cast<PyDataMem_Handler*>(
           PyCapsule_GetPointer(PyDataMem_DefaultHandler, "mem_handler"))
           ->allocator;
  return *allocator;
}

/// Memory that the next allocation of this thread takes, instead of new memory.
thread_local std::byte* given_memory = nullptr;

std::size_t least_of(void* context) noexcept {
  return *static_cast<const std::size_t*>(context);
}

std::byte* pages_of(std::size_t nbytes, bool zeros) noexcept try {
  return Blocks::all().allocate(nbytes, zeros);
} catch (...) {
  return nullptr;  // NumPy's allocator is asked next
}

void* allocate(void* context, std::size_t nbytes, bool zeros) noexcept {
  if (given_memory != nullptr) {
    return std::exchange(given_memory, nullptr);
  }
  void* pages = nbytes < least_of(context) ? nullptr : pages_of(nbytes, zeros);
  if (pages != nullptr) {
    return pages;
  }
  return zeros ? ordinary().calloc(ordinary().ctx, nbytes, 1)
               : ordinary().malloc(ordinary().ctx, nbytes);
}

void* malloc_in_pages(void* context, std::size_t nbytes) {
  return allocate(context, nbytes, false);
}

void* calloc_in_pages(void* context, std::size_t count, std::size_t nbytes) {
  std::size_t all = 0;
  return __builtin_mul_overflow(count, nbytes, &all) ? nullptr : allocate(context, all, true);
}

void free_in_pages(void* /*context*/, void* data, std::size_t nbytes) {
  if (data != nullptr && !Blocks::all().release(data)) {
    ordinary().free(ordinary().ctx, data, nbytes);
  }
}

void* realloc_in_pages(void* context, void* data, std::size_t nbytes) {
  const std::shared_ptr<Block> block = data == nullptr ? nullptr : Blocks::all().find(data, 0);
  if (block == nullptr) {
    // How many bytes an ordinary array has is not said, so it cannot move to pages.
    return data == nullptr ? allocate(context, nbytes, false)
                           : ordinary().realloc(ordinary().ctx, data, nbytes);
  }
  const auto old_nbytes =
      static_cast<std::size_t>(block->begin + block->nbytes - static_cast<std::byte*>(data));
  if (nbytes <= old_nbytes && nbytes > old_nbytes / 2) {
    return data;
  }
  void* const moved = allocate(context, nbytes, false);
  if (moved != nullptr) {
    std::memcpy(moved, data, std::min(nbytes, old_nbytes));
    Blocks::all().release(data);
  }
  return moved;
}

/// One handler for each limit, kept for good, since arrays keep theirs.
PyObject* handler_of(std::size_t least_nbytes) {
  static auto* const handlers = new std::map<std::size_t, PyObject*>;
  static auto* const mutex = new std::mutex;
  const std::lock_guard lock(*mutex);
  PyObject*& capsule = (*handlers)[least_nbytes];
  if (capsule == nullptr) {
    auto* const context = new std::size_t(least_nbytes);
    auto* const handler = new PyDataMem_Handler{
        "byre", 1, {context, malloc_in_pages, calloc_in_pages, realloc_in_pages, free_in_pages}};
    capsule = PyCapsule_New(handler, "mem_handler", nullptr);
  }
  return capsule;
}

/// Has NumPy use a handler until the end of the scope.
class UsedHandler {
 public:
  explicit UsedHandler(PyObject* handler) : before_(checked(PyDataMem_SetHandler(handler))) {}
  ~UsedHandler() {
    py::error_scope kept;
    Py_XDECREF(PyDataMem_SetHandler(before_.ptr()));
  }
  UsedHandler(const UsedHandler&) = delete;
  UsedHandler& operator=(const UsedHandler&) = delete;

 private:
  const py::object before_;
};

}  // namespace

py::object array_in(Block& block, const Block* source, py::handle like) {
  std::byte* data = block.begin;
  try {
    const UsedHandler handler(handler_of(0));
    PyObject* array = nullptr;
    if (like) {
      auto* const prototype = reinterpret_cast<PyArrayObject*>(like.ptr());
      data += reinterpret_cast<std::byte*>(PyArray_DATA(prototype)) - source->begin;
      given_memory = data;
      array = PyArray_NewLikeArray(prototype, NPY_KEEPORDER, nullptr, 1);
    } else {
      const auto nbytes = static_cast<npy_intp>(block.nbytes);
      given_memory = data;
      array = PyArray_SimpleNew(1, &nbytes, NPY_UINT8);
    }
    const bool is_taken = std::exchange(given_memory, nullptr) == nullptr;
    if (!is_taken) {
      Blocks::all().release(data);
    }
    return checked(array);
  } catch (...) {
    if (std::exchange(given_memory, nullptr) != nullptr) {
      Blocks::all().release(data);
    }
    throw;
  }
}

void define_handler(py::module_& module) {
  if (_import_array() < 0) {
    throw py::error_already_set();
  }
  Blocks::all();
  module.def(
      "set_handler",
      [](std::size_t min_nbytes) { return checked(PyDataMem_SetHandler(handler_of(min_nbytes))); },
      py::arg("min_nbytes"),
      "Has NumPy allocate arrays of at least so many bytes in pages, in this context. Returns the "
      "handler before.");
  module.def(
      "reset_handler",
      [](const py::object& handler) { checked(PyDataMem_SetHandler(handler.ptr())); },
      py::arg("handler"), "Has NumPy use a handler that set_handler() returned.");
}

}  // namespace byre::inline v0::python
