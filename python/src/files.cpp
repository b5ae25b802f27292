// SPDX-License-Identifier: BSL-1.0
#include "gil.hpp"
#include "module.hpp"

#include <byre/interop/detail/safetensors_format.hpp>
#include <byre/interop/safetensors_header.hpp>
#include <byre/storage/output_file.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <utility>
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
  if (::access(name.c_str(), F_OK) != 0 && errno == ENOENT) {
    throw MissingFile(
        format_text("the file \"%.600s\" does not exist. Check the path, and the directory it is "
                    "relative to.",
                    name.c_str()));
  }
  const auto block = [&] {
    const GilReleased released;
    return map_file(name.c_str());
  }();
  return array_in(*block);
}

py::str text(const std::string& bytes) {
  return checked(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape"));
}

py::tuple entry_of(const std::string& name, const std::string& dtype, const Dims& sizes,
                   std::size_t offset, std::size_t nbytes) {
  py::tuple shape(sizes.size());
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    shape[axis] = sizes[axis];
  }
  return py::make_tuple(text(name), dtype, shape, offset, nbytes);
}

py::tuple parse_header(const py::buffer& start, std::size_t file_nbytes, const std::string& name) {
  const py::buffer_info bytes = start.request();
  const SafetensorsHeader header =
      parse_safetensors_header({static_cast<const std::byte*>(bytes.ptr),
                                static_cast<std::size_t>(bytes.size * bytes.itemsize)},
                               file_nbytes, name.c_str());
  std::vector<std::pair<std::size_t, py::tuple>> entries;  // by offset
  for (const SafetensorsEntry& entry : header.tensors) {
    const auto* const type =
        std::ranges::find(detail::safetensors_types, entry.dtype, &detail::SafetensorsType::dtype);
    entries.emplace_back(entry.offset, entry_of(entry.name, std::string(type->code), entry.sizes,
                                                entry.offset, entry.nbytes));
  }
  for (const SkippedTensor& entry : header.skipped) {
    entries.emplace_back(
        entry.offset, entry_of(entry.name, entry.dtype, entry.sizes, entry.offset, entry.nbytes));
  }
  std::ranges::stable_sort(entries, {}, &std::pair<std::size_t, py::tuple>::first);
  py::list tensors;
  for (const auto& [offset, entry] : entries) {
    tensors.append(entry);
  }
  py::dict metadata;
  for (const auto& [key, value] : header.metadata) {
    metadata[text(key)] = text(value);
  }
  return py::make_tuple(tensors, metadata);
}

/// An OutputFile that can be given up.
class Output {
 public:
  explicit Output(const py::object& path) {
    const std::string name = path_of(path);
    const GilReleased released;
    file_.emplace(name);
  }

  void write(const py::buffer& data) {
    const py::buffer_info bytes = data.request();
    expect_open();
    const GilReleased released;
    file_->write(bytes.ptr, static_cast<std::size_t>(bytes.size * bytes.itemsize));
  }
  void commit() {
    expect_open();
    const GilReleased released;
    file_->commit();
    file_.reset();
  }
  void discard() {
    const GilReleased released;
    file_.reset();
  }

 private:
  void expect_open() const {
    if (!file_) {
      throw InvalidArgument(format_text("a file was written after its end. Open another."));
    }
  }

  std::optional<OutputFile> file_;
};

}  // namespace

void define_files(py::module_& module) {
  module.def("map_file", map, py::arg("path"),
             "The bytes of a file, mapped privately: what is written stays out of the file.");
  module.def("parse_safetensors_header", parse_header, py::arg("start"), py::arg("file_nbytes"),
             py::arg("name"),
             "What a .safetensors file has: (name, dtype, shape, offset, nbytes) of each tensor, "
             "and metadata.");
  py::class_<Output>(module, "OutputFile",
                     "A file that appears under its name complete or not at all.")
      .def(py::init<const py::object&>(), py::arg("path"))
      .def("write", &Output::write, py::arg("data"), "Appends bytes.")
      .def("commit", &Output::commit, "Gives the file its name.")
      .def("discard", &Output::discard, "Removes what was written.");
}

}  // namespace byre::inline v0::python
