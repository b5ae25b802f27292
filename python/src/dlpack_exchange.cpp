// SPDX-License-Identifier: BSL-1.0
#include "copies.hpp"
#include "errors.hpp"
#include "exchange.hpp"
#include "locks.hpp"

#include <pybind11/stl.h>

#include <cstring>
#include <optional>
#include <string>
#include <utility>

namespace py = pybind11;

namespace byre::inline v0::python {
namespace {

using dlpack::DLManagedTensor;
using dlpack::DLManagedTensorVersioned;

/// The names that capsules of a structure bear before and after somebody took what they hold.
template <class Managed>
struct Names;
template <>
struct Names<DLManagedTensor> {
  static constexpr const char* full = "dltensor";
  static constexpr const char* used = "used_dltensor";
};
template <>
struct Names<DLManagedTensorVersioned> {
  static constexpr const char* full = "dltensor_versioned";
  static constexpr const char* used = "used_dltensor_versioned";
};

// ---- to other libraries

template <class Managed>
void release_unused(PyObject* capsule) {
  // The release may run Python code, which would lose an error that is set.
  const py::error_scope pending;
  if (PyCapsule_IsValid(capsule, Names<Managed>::full) != 0) {
    auto* const managed =
        static_cast<Managed*>(PyCapsule_GetPointer(capsule, Names<Managed>::full));
    managed->deleter(managed);
    drain();
  }
}

template <class Managed>
py::object capsule_of(Managed* managed) {
  PyObject* const capsule = PyCapsule_New(managed, Names<Managed>::full, &release_unused<Managed>);
  if (capsule == nullptr) {
    managed->deleter(managed);
    throw py::error_already_set();
  }
  return py::reinterpret_steal<py::object>(capsule);
}

/// What a call of __dlpack__ asks for.
struct Wish {
  bool is_versioned;
  std::optional<bool> copy;
  bool is_to_write;

  DLPackAccess access() const noexcept {
    if (copy == true) {
      return DLPackAccess::copy;
    }
    return is_to_write || !is_versioned ? DLPackAccess::write : DLPackAccess::read;
  }
};

/// With the stripe held.
void expect_no_copy(const Tensor& tensor) {
  const Storage& storage = tensor.storage();
  if (tensor.numel() != 0 && !copies_pages_alone(storage) &&
      (storage.use_count() > 1 || storage.is_read_only())) {
    throw NotABuffer(
        format_text("__dlpack__ with copy=False of an array of sizes %.200s that shares its data, "
                    "to a library that may write it: it would have to be copied first. Leave out "
                    "copy=False, or ask for max_version=(1, 0), which is read only.",
                    to_string(tensor.sizes()).c_str()));
  }
}

template <class Managed>
Managed* exported(const Tensor& tensor, const Wish& wish) {
  const DLPackAccess access = wish.access();
  const auto make = [&] {
    if constexpr (std::is_same_v<Managed, DLManagedTensor>) {
      return to_older_dlpack(tensor, access);
    } else {
      return to_dlpack(tensor, access);
    }
  };
  if (access != DLPackAccess::write) {
    return reading({&tensor}, access == DLPackAccess::copy ? tensor.nbytes() : 0, make);
  }
  constexpr const char* operation = "__dlpack__ to a library that may write";
  expect_writable(tensor, operation);
  const CopyRule rule;
  return writing(tensor, {}, 0, [&] {
    rule.before_write(tensor, operation);
    if (wish.copy == false) {
      expect_no_copy(tensor);
    }
    return make();
  });
}

bool is_at_least_1(const py::object& version) {
  if (version.is_none()) {
    return false;
  }
  if (!py::isinstance<py::tuple>(version) || py::len(version) != 2 ||
      !py::isinstance<py::int_>(py::tuple(version)[0])) {
    throw OperandError(format_text("__dlpack__ with max_version=%.100s. It is two ints, as (1, 0).",
                                   py::repr(version).cast<std::string>().c_str()));
  }
  return py::tuple(version)[0].cast<int>() >= 1;
}

py::object dlpack_of(const Array& self, const py::object& stream, const py::object& max_version,
                     const py::object& device, const std::optional<bool>& copy, bool writable) {
  if (!stream.is_none()) {
    throw InvalidArgument(
        format_text("__dlpack__ with a stream, which the host does not have. Leave it out."));
  }
  if (!device.is_none() && !device.equal(py::make_tuple(std::int32_t{dlpack::kDLCPU}, 0))) {
    throw NotABuffer(
        format_text("__dlpack__ for device %s, and arrays are on the host: (1, 0). Ask for that "
                    "one and copy it there.",
                    py::str(device).cast<std::string>().c_str()));
  }
  const Wish wish{is_at_least_1(max_version), copy, writable};
  const Tensor tensor = self.tensor();
  return wish.is_versioned ? capsule_of(exported<DLManagedTensorVersioned>(tensor, wish))
                           : capsule_of(exported<DLManagedTensor>(tensor, wish));
}

// ---- from other libraries

/// In place of a capsule whose tensor was taken: calls its deleter, with the interpreter's lock held.
template <class Managed>
py::object owner_of(Managed* managed) {
  return py::capsule(managed, [](void* taken) {
    auto* const held = static_cast<Managed*>(taken);
    if (held->deleter != nullptr) {
      held->deleter(held);
    }
  });
}

template <class Managed>
Managed* taken_from(const py::object& capsule) {
  if (PyCapsule_IsValid(capsule.ptr(), Names<Managed>::full) == 0) {
    return nullptr;
  }
  auto* const managed =
      static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), Names<Managed>::full));
  if (PyCapsule_SetName(capsule.ptr(), Names<Managed>::used) != 0) {
    throw py::error_already_set();
  }
  return managed;
}

Tensor tensor_of_capsule(const py::object& capsule) {
  if (auto* const versioned = taken_from<DLManagedTensorVersioned>(capsule)) {
    const py::object owner = owner_of(versioned);
    if (versioned->version.major != dlpack::version.major) {
      throw InvalidArgument(
          format_text("from_dlpack: the tensor is of version %u.%u of DLPack, and byre reads "
                      "version %u. Ask the exporter for that one.",
                      versioned->version.major, versioned->version.minor, dlpack::version.major));
    }
    return imported(versioned->dl_tensor, versioned->flags, owner);
  }
  if (auto* const older = taken_from<DLManagedTensor>(capsule)) {
    return imported(older->dl_tensor, 0, owner_of(older));
  }
  const char* const name = PyCapsule_GetName(capsule.ptr());
  throw InvalidArgument(
      format_text("from_dlpack: a capsule named \"%.100s\". One of DLPack is named \"dltensor\" or "
                  "\"dltensor_versioned\", and can be taken once.",
                  name == nullptr ? "" : name));
}

/// As a library answers that knows DLPack 1, or as an older one.
py::object capsule_from(const py::object& source, const std::optional<bool>& copy) {
  const py::object method = source.attr("__dlpack__");
  try {
    py::dict wishes;
    wishes["max_version"] = py::make_tuple(dlpack::version.major, dlpack::version.minor);
    if (copy) {
      wishes["copy"] = *copy;
    }
    return method(**wishes);
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_TypeError)) {
      throw;
    }
  }
  return method();
}

}  // namespace

Tensor tensor_of_dlpack(const py::object& source, std::optional<bool> copy) {
  return tensor_of_capsule(capsule_from(source, copy));
}

namespace {

py::object from_dlpack_of(const py::object& source, const py::object& device,
                          const std::optional<bool>& copy) {
  if (!device.is_none() && !device.equal(py::str("cpu"))) {
    throw InvalidArgument(
        format_text("from_dlpack to device %s, and arrays are on the host. Leave it out.",
                    py::str(device).cast<std::string>().c_str()));
  }
  if (py::isinstance<Array>(source) && copy != true) {
    return wrapped(source.cast<const Array&>().tensor().alias());
  }
  if (PyCapsule_CheckExact(source.ptr()) == 0 && !py::hasattr(source, "__dlpack__")) {
    throw OperandError(
        format_text("from_dlpack of an object of type %s, which has no __dlpack__. byre.array() "
                    "copies what it can.",
                    Py_TYPE(source.ptr())->tp_name));
  }
  const Tensor tensor = PyCapsule_CheckExact(source.ptr()) != 0 ? tensor_of_capsule(source)
                                                                : tensor_of_dlpack(source, copy);
  // An older library was not told of the wish.
  const bool is_left_to_copy = copy == true && tensor.storage().origin() == Origin::aliased;
  return wrapped(is_left_to_copy
                     ? reading({&tensor}, tensor.nbytes(), [&] { return tensor.clone(); })
                     : tensor);
}

}  // namespace

void define_dlpack_exchange(py::module_& module, ArrayClass& array) {
  array
      .def("__dlpack__", dlpack_of, py::kw_only(), py::arg("stream") = py::none(),
           py::arg("max_version") = py::none(), py::arg("dl_device") = py::none(),
           py::arg("copy") = py::none(), py::arg("writable") = false,
           R"(A capsule of DLPack, which other libraries take by their from_dlpack(x).

A library that asks for max_version=(1, 0) or later sees the elements as they are now, to read, and none is copied. An
older one cannot be told not to write. For it, elements that a lazy copy shares are copied first (with copy=False
BufferError is raised instead), and until it lets go, copies of this array are made at once. So it is with
writable=True. With copy=True it gets a copy that is its own.

>>> x = byre.array([1, 2, 3])
>>> capsule = x.__dlpack__(max_version=(1, 0))
>>> byre.from_dlpack(capsule)
array([1, 2, 3])
)")
      .def(
          "__dlpack_device__",
          [](const Array&) { return py::make_tuple(std::int32_t{dlpack::kDLCPU}, 0); },
          "The device, as DLPack numbers it: (1, 0) is the host.\n\n"
          ">>> byre.zeros(3).__dlpack_device__()\n(1, 0)\n");
  module.def(
      "from_dlpack", from_dlpack_of, py::arg("source"), py::kw_only(),
      py::arg("device") = py::none(), py::arg("copy") = py::none(),
      R"(An array of the memory of another library's tensor, or of a capsule: no byte is copied.

Each of the two sees what is written to the other. A copy of it is made at once, as the other library may write the
memory at any time. What may only be read is written by a copy. With copy=True it is a copy, as lazily copied as any
array.

>>> import torch
>>> theirs = torch.tensor([1, 2, 3])
>>> ours = byre.from_dlpack(theirs)
>>> ours[0] = 7
>>> theirs
tensor([7, 2, 3])
)");
}

}  // namespace byre::inline v0::python
