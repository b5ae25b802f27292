// SPDX-License-Identifier: BSL-1.0
#include "module.hpp"

#include <byre/files/output_file.hpp>
#include <byre/interop/detail/safetensors_format.hpp>
#include <byre/interop/safetensors_header.hpp>

#include <pybind11/stl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace py = pybind11;

namespace byre::inline BYRE_ABI::python {
namespace {

py::object map(const std::string& path) {
  const auto block = [&] {
    const GilReleased released;
    return map_file(path.c_str());
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

void write(OutputFile& file, const py::buffer& data) {
  const py::buffer_info buffer = data.request();
  const GilReleased released;
  file.write(buffer.ptr, bytes_of(buffer).size());
}

}  // namespace

void define_files(py::module_& module) {
  const auto released = py::call_guard<GilReleased>();
  module.def("map_file", map);
  module.def("parse_safetensors_header", parse_header);
  py::class_<OutputFile>(module, "OutputFile")
      .def(py::init<const std::string&>(), released)
      .def("write", write)
      .def("commit", &OutputFile::commit, released);
}

}  // namespace byre::inline BYRE_ABI::python
