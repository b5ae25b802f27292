// SPDX-License-Identifier: BSL-1.0
#include "arrays.hpp"

#include "errors.hpp"

#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#include <numpy/arrayobject.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

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

/// Switches garbage collection, in which finalizers run. Returns whether it was on.
bool switch_collection(bool on) {
#if PY_VERSION_HEX >= 0x030A0000
  return (on ? PyGC_Enable() : PyGC_Disable()) != 0;
#else
  const auto gc = py::module_::import("gc");
  const bool was_on = gc.attr("isenabled")().cast<bool>();
  gc.attr(on ? "enable" : "disable")();
  return was_on;
#endif
}

/// Memory for an array that this thread is making. NumPy creates the object first, and its creation may start a garbage
/// collection: a finalizer that allocates an array would take the memory.
class GivenMemory {
 public:
  void give(std::byte* memory) {
    collects_ = switch_collection(false);
    memory_ = memory;
  }
  bool is_given() const noexcept { return memory_ != nullptr; }
  std::byte* take() {
    if (std::exchange(collects_, false)) {
      switch_collection(true);
    }
    return std::exchange(memory_, nullptr);
  }

 private:
  std::byte* memory_ = nullptr;
  bool collects_ = false;
};
thread_local GivenMemory given_memory;

std::size_t least_of(void* context) noexcept {
  return *static_cast<const std::size_t*>(context);
}

std::byte* pages_of(std::size_t nbytes, bool zeros) noexcept try {
  return Blocks::all().allocate(nbytes, zeros);
} catch (...) {
  return nullptr;  // NumPy's allocator is asked next
}

void* allocate(void* context, std::size_t nbytes, bool zeros) noexcept {
  if (given_memory.is_given()) {
    return given_memory.take();
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
  const std::shared_ptr<Block> block = data == nullptr ? nullptr : Blocks::all().find(data, 1);
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

/// One handler for each limit, kept for good, since arrays keep theirs. A list without a lock, which a fork would have
/// to take. NumPy releases a handler once too often for each array whose __array_finalize__ raises: so each has
/// references to spare.
PyObject* handler_of(std::size_t least_nbytes) {
  struct Handler {
    std::size_t least_nbytes;
    PyDataMem_Handler functions;
    PyObject* capsule;
    Handler* next;
  };
  constexpr Py_ssize_t spare_references = Py_ssize_t{1} << 29;
  static constinit std::atomic<Handler*> handlers = nullptr;

  Handler* first = handlers.load(std::memory_order_acquire);  // (1) - synchronizes-with (2)
  for (const Handler* handler = first; handler != nullptr; handler = handler->next) {
    if (handler->least_nbytes == least_nbytes) {
      return handler->capsule;
    }
  }
  auto made = std::make_unique<Handler>();
  made->least_nbytes = least_nbytes;
  made->functions = {
      "byre",
      1,
      {&made->least_nbytes, malloc_in_pages, calloc_in_pages, realloc_in_pages, free_in_pages}};
  made->capsule = checked(PyCapsule_New(&made->functions, "mem_handler", nullptr)).release().ptr();
  Py_SET_REFCNT(made->capsule, spare_references);
  made->next = first;
  while (!handlers.compare_exchange_weak(made->next, made.get(), std::memory_order_release,
                                         std::memory_order_relaxed)) {  // (2)
  }
  return made.release()->capsule;
}

/// Allocates nothing in pages, but memory that is given.
PyObject* giving_handler() {
  return handler_of(std::numeric_limits<std::size_t>::max());
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

/// Ends a block unless an array takes its memory.
class NewBlock {
 public:
  explicit NewBlock(const Block& block) noexcept : begin_(block.begin) {}
  ~NewBlock() {
    if (!is_taken_) {
      Blocks::all().release(begin_);
    }
  }
  NewBlock(const NewBlock&) = delete;
  NewBlock& operator=(const NewBlock&) = delete;

  /// The array that `make` makes in the memory.
  template <class Make>
  py::object taken(std::byte* memory, Make make) {
    const UsedHandler handler(giving_handler());
    given_memory.give(memory);
    PyObject* const array = make();
    is_taken_ = given_memory.take() == nullptr;
    return checked(array);
  }

 private:
  std::byte* const begin_;
  bool is_taken_ = false;
};

}  // namespace

py::object array_in(Block& block, const Block* source, py::handle like) {
  NewBlock owner(block);
  if (!like) {
    const auto nbytes = static_cast<npy_intp>(block.nbytes);
    return owner.taken(block.begin, [&] { return PyArray_SimpleNew(1, &nbytes, NPY_UINT8); });
  }
  auto* const prototype = reinterpret_cast<PyArrayObject*>(like.ptr());
  const auto offset = reinterpret_cast<std::byte*>(PyArray_DATA(prototype)) - source->begin;
  return owner.taken(block.begin + offset,
                     [&] { return PyArray_NewLikeArray(prototype, NPY_KEEPORDER, nullptr, 1); });
}

void define_handler(py::module_& module) {
  if (_import_array() < 0) {
    throw py::error_already_set();
  }
  // No fork finds one of these half made.
  Blocks::all();
  ordinary();
  giving_handler();
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
