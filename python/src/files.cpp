// SPDX-License-Identifier: BSL-1.0
#include "copies.hpp"
#include "errors.hpp"
#include "exchange.hpp"
#include "locks.hpp"

#include <byre/interop/npy.hpp>
#include <byre/interop/npz.hpp>
#include <byre/interop/safetensors.hpp>

#include <pybind11/stl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace byre::inline v0::python {
namespace {

enum class FileKind : std::uint8_t { npy, npz, safetensors };

/// As the name says it, which os.fspath() and the file system's encoding make of a path.
std::string path_of(const py::object& path) {
  PyObject* encoded = nullptr;
  if (PyUnicode_FSConverter(path.ptr(), &encoded) == 0) {
    throw py::error_already_set();
  }
  return py::reinterpret_steal<py::bytes>(encoded);
}

FileKind kind_of(const std::string& path, const char* operation) {
  for (const auto& [end, kind] :
       {std::pair(".npy", FileKind::npy), std::pair(".npz", FileKind::npz),
        std::pair(".safetensors", FileKind::safetensors)}) {
    if (path.ends_with(end)) {
      return kind;
    }
  }
  throw InvalidArgument(format_text(
      "%s of the file \"%.600s\": its name says no format. Call it .npy, .npz or .safetensors.",
      operation, path.c_str()));
}

void expect_file(const std::string& path, const char* operation) {
  if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT) {
    throw MissingFile(
        format_text("%s of the file \"%.600s\": there is no such file. Check the path, and the "
                    "directory it is relative to.",
                    operation, path.c_str()));
  }
}

/// The file, without the interpreter's lock.
template <class Read>
auto unlocked(const Read& read) {
  const GilReleased released;
  return read();
}

py::str text(const std::string& bytes) {
  return checked(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape"));
}

py::dict dict_of(NamedTensors&& tensors) {
  py::dict arrays;
  for (auto& [name, tensor] : tensors) {
    arrays[text(name)] = wrapped(std::move(tensor));
  }
  return arrays;
}

struct Readers {
  Tensor (*npy)(FileName);
  NamedTensors (*npz)(FileName);
  SafetensorsFile (*safetensors)(FileName);
};

py::object read_by(const Readers& readers, const char* operation, const py::object& path) {
  const std::string name = path_of(path);
  const FileKind kind = kind_of(name, operation);
  expect_file(name, operation);
  switch (kind) {
    case FileKind::npy:
      return wrapped(unlocked([&] { return readers.npy(name); }));
    case FileKind::npz:
      return dict_of(unlocked([&] { return readers.npz(name); }));
    case FileKind::safetensors:
      break;
  }
  return dict_of(unlocked([&] { return readers.safetensors(name).tensors; }));
}

/// Lazy clones, so that the file has what the arrays have now whatever is written to them meanwhile.
Tensor snapshot_of(py::handle source, const char* operation) {
  return copied(array_operand_of(source, operation), operation);
}

/// A name that was read from a file comes back as the bytes that it is there.
std::string utf8_of(py::handle text, const char* what) {
  if (!py::isinstance<py::str>(text)) {
    throw OperandError(
        format_text("save: %s is of type %s. It is a str.", what, Py_TYPE(text.ptr())->tp_name));
  }
  PyObject* const encoded = PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape");
  if (encoded == nullptr) {
    PyErr_Clear();
    throw InvalidArgument(format_text("save: %s has a character that UTF-8 has not.", what));
  }
  return py::reinterpret_steal<py::bytes>(encoded);
}

NamedTensors snapshots_of(const py::object& arrays) {
  if (!py::isinstance<py::dict>(arrays)) {
    throw OperandError(
        format_text("save of an object of type %s to a file of many arrays. Give it a dict of "
                    "names and arrays.",
                    Py_TYPE(arrays.ptr())->tp_name));
  }
  NamedTensors tensors;
  for (const auto& [name, array] : py::reinterpret_borrow<py::dict>(arrays)) {
    tensors.emplace_back(utf8_of(name, "the name of an array"), snapshot_of(array, "save"));
  }
  return tensors;
}

void save(const py::object& path, const py::object& arrays, bool compressed,
          const std::vector<std::pair<std::string, std::string>>& metadata) {
  const std::string name = path_of(path);
  const FileKind kind = kind_of(name, "save");
  if (compressed && kind != FileKind::npz) {
    throw InvalidArgument(format_text(
        "save with compressed=True to \"%.600s\": only .npz files are compressed.", name.c_str()));
  }
  if (!metadata.empty() && kind != FileKind::safetensors) {
    throw InvalidArgument(format_text(
        "save with metadata to \"%.600s\": only .safetensors files have them.", name.c_str()));
  }
  if (kind == FileKind::npy) {
    const Tensor tensor = snapshot_of(arrays, "save");
    unlocked([&] { save_npy(name, tensor); });
    return;
  }
  const NamedTensors tensors = snapshots_of(arrays);
  unlocked([&] {
    if (kind == FileKind::npz) {
      save_npz(name, tensors, compressed ? NpzCompression::deflated : NpzCompression::stored);
    } else {
      save_safetensors(name, tensors, metadata);
    }
  });
}

void save_of(const py::object& path, const py::object& arrays, bool compressed,
             const py::object& metadata) {
  std::vector<std::pair<std::string, std::string>> pairs;
  if (!metadata.is_none()) {
    if (!py::isinstance<py::dict>(metadata)) {
      throw OperandError(format_text("save with metadata of type %s. It is a dict of str.",
                                     Py_TYPE(metadata.ptr())->tp_name));
    }
    for (const auto& [key, value] : py::dict(metadata)) {
      pairs.emplace_back(utf8_of(key, "a key of the metadata"), utf8_of(value, "metadata"));
    }
  }
  save(path, arrays, compressed, pairs);
}

/// Without the data, and so without a warning of tensors that reading them skips.
SafetensorsHeader header_of(const py::object& path, const char* operation) {
  const std::string name = path_of(path);
  expect_file(name, operation);
  return unlocked([&] {
    const Storage file = Storage::map_file(name);
    return parse_safetensors_header({file.data(), file.nbytes()}, file.nbytes(), name.c_str());
  });
}

py::dict metadata_of(const py::object& path) {
  py::dict metadata;
  for (const auto& [key, value] : header_of(path, "metadata").metadata) {
    metadata[text(key)] = text(value);
  }
  return metadata;
}

py::dict skipped_of(const py::object& path) {
  py::dict dtypes;
  for (const SkippedTensor& tensor : header_of(path, "skipped").skipped) {
    dtypes[text(tensor.name)] = text(tensor.dtype);
  }
  return dtypes;
}

}  // namespace

void define_files(py::module_& module) {
  module.def(
      "load",
      [](const py::object& path) {
        return read_by({load_npy, load_npz, load_safetensors}, "load", path);
      },
      py::arg("path"),
      R"(The array of a .npy file, or a dict of those of a .npz or .safetensors file, in fresh memory.

Arrays of a .safetensors file whose dtype byre lacks are skipped, with a warning: byre.skipped(path) names them.

>>> import os, tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> path = os.path.join(folder.name, 'model.npz')
>>> byre.save(path, {'weights': byre.zeros(2), 'steps': byre.array(7)})
>>> byre.load(path)
{'weights': array([0., 0.]), 'steps': array(7)}
)");
  module.def(
      "mmap",
      [](const py::object& path) {
        return read_by({map_npy, map_npz, map_safetensors}, "mmap", path);
      },
      py::arg("path"),
      R"(The same as load(), of a file that is mapped: nothing is read before it is used.

A write copies the pages that it touches, and the file never changes. Arrays that cannot be used where they are in the
file are loaded: those that are compressed, or not aligned. byre.explain(x) says which is which.

>>> import os, tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> path = os.path.join(folder.name, 'model.safetensors')
>>> byre.save(path, {'weights': byre.zeros(2, 'float32')})
>>> model = byre.mmap(path)
>>> model['weights'][0] = 1
>>> model['weights'], byre.load(path)['weights']
(array([1., 0.], dtype=float32), array([0., 0.], dtype=float32))
)");
  module.def("save", save_of, py::arg("path"), py::arg("arrays"), py::kw_only(),
             py::arg("compressed") = false, py::arg("metadata") = py::none(),
             R"(Writes an array to a .npy file, or a dict of arrays to a .npz or .safetensors file.

Readers see the old file or the new one. It may be the file that the arrays are mapped from. What is written to the
arrays meanwhile is not saved. `metadata`, a dict of str, is for .safetensors files.

>>> import os, tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> path = os.path.join(folder.name, 'array.npy')
>>> byre.save(path, byre.array([1, 2]))
>>> byre.mmap(path)
array([1, 2])
)");
  module.def("metadata", metadata_of, py::arg("path"),
             R"(The metadata of a .safetensors file: a dict of str.

>>> import os, tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> path = os.path.join(folder.name, 'model.safetensors')
>>> byre.save(path, {'weights': byre.zeros(2)}, metadata={'format': 'byre'})
>>> byre.metadata(path)
{'format': 'byre'}
)");
  module.def(
      "skipped", skipped_of, py::arg("path"),
      R"(The arrays of a .safetensors file that load() and mmap() skip: a dict of names and dtypes.

byre lacks their dtypes, which are spelled as in the file.

>>> import os, struct, tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> path = os.path.join(folder.name, 'model.safetensors')
>>> header = b'{"scale": {"dtype": "U16", "shape": [1], "data_offsets": [0, 2]}}'
>>> with open(path, 'wb') as file:
...     nbytes = file.write(struct.pack('<Q', len(header)) + header + bytes(2))
>>> byre.skipped(path)
{'scale': 'U16'}
)");
}

}  // namespace byre::inline v0::python
