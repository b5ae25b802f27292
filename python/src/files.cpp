// SPDX-License-Identifier: BSL-1.0
#include "module.hpp"

#include <byre/files/output_file.hpp>
#include <byre/interop/detail/safetensors_format.hpp>
#include <byre/interop/safetensors_header.hpp>

#include <pybind11/stl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace py = pybind11;

namespace byre::inline v0::python {
namespace {

/// As os.fspath() and the file system's encoding spell it.
std::string path_of(const py::object& path) {
  PyObject* encoded = nullptr;
  if (PyUnicode_FSConverter(path.ptr(), &encoded) == 0) {
    throw py::error_already_set();
  }
  return py::reinterpret_steal<py::bytes>(encoded);
}

py::object map(const py::object& path) {
  const std::string name = path_of(path);
  const auto block = [&] {
    const GilReleased released;
    return map_file(name.c_str());
  }();
  return array_in(*block);
}

std::span<const std::byte> bytes_of(const py::buffer_info& buffer) {
  return {static_cast<const std::byte*>(buffer.ptr),
          static_cast<std::size_t>(buffer.size * buffer.itemsize)};
}

py::str text(const std::string& bytes) {
  return checked(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape"));
}

template <class Entry>
py::tuple entry_of(const Entry& entry, const std::string& dtype) {
  const std::vector<std::int64_t> sizes(entry.sizes.begin(), entry.sizes.end());
  return py::make_tuple(text(entry.name), dtype, py::tuple(py::cast(sizes)), entry.offset,
                        entry.nbytes);
}

py::tuple parse_header(const py::buffer& start, std::size_t file_nbytes, const std::string& name) {
  const py::buffer_info buffer = start.request();
  const SafetensorsHeader header =
      parse_safetensors_header(bytes_of(buffer), file_nbytes, name.c_str());
  py::list tensors;
  for (const SafetensorsEntry& entry : header.tensors) {
    const auto* const type =
        std::ranges::find(detail::safetensors_types, entry.dtype, &detail::SafetensorsType::dtype);
    tensors.append(entry_of(entry, std::string(type->code)));
  }
  for (const SkippedTensor& entry : header.skipped) {
    tensors.append(entry_of(entry, entry.dtype));
  }
  py::dict metadata;
  for (const auto& [key, value] : header.metadata) {
    metadata[text(key)] = text(value);
  }
  return py::make_tuple(tensors, metadata);
}

std::unique_ptr<OutputFile> open(const py::object& path) {
  const std::string name = path_of(path);
  const GilReleased released;
  return std::make_unique<OutputFile>(name);
}

void write(OutputFile& file, const py::buffer& data) {
  const py::buffer_info buffer = data.request();
  const GilReleased released;
  file.write(buffer.ptr, bytes_of(buffer).size());
}

void commit(OutputFile& file) {
  const GilReleased released;
  file.commit();
}

}  // namespace

void define_files(py::module_& module) {
  module.def("map_file", map, py::arg("path"),
             "The bytes of a file, mapped privately: what is written stays out of the file.");
  module.def("parse_safetensors_header", parse_header, py::arg("start"), py::arg("file_nbytes"),
             py::arg("name"),
             "The tensors of a .safetensors file, as (name, dtype, shape, offset, nbytes), "
             "and metadata.");
  py::class_<OutputFile>(module, "OutputFile",
                         "A file that appears under its name when it is committed, and is removed "
                         "if it ends before.")
      .def(py::init(&open), py::arg("path"))
      .def("write", &write, py::arg("data"), "Appends bytes.")
      .def("commit", &commit, "Gives the file its name.");
}

}  // namespace byre::inline v0::python
