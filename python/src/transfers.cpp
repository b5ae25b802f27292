// SPDX-License-Identifier: BSL-1.0
// Blocks that are sent to other processes, and received from them.
#include "module.hpp"

#include <byre/ipc/send.hpp>

#include <cstdint>
#include <string>

namespace py = pybind11;

namespace byre::inline BYRE_ABI::python {
namespace {

/// A lazy copy of a block, for other processes. If only a part of the block is meant to be read
/// (`is_whole` is false), other threads may meanwhile write the rest.
ExportedPages export_at(std::uintptr_t start, bool is_whole, const std::string& file,
                        unsigned line) {
  const auto block = expect_block(start);
  const CallSite site = site_of(file, line);
  const GilReleased released;
  return export_block(*block, is_whole ? Writers::none : Writers::elsewhere, site);
}

/// An array that owns a block, which another process sent to a socket.
py::object receive_array(int socket) {
  const auto block = [socket] {
    const GilReleased released;
    return receive_block(socket);
  }();
  return array_in(*block);
}

py::tuple collect_views() {
  const ExportedViews views = [] {
    const GilReleased released;
    return collect();
  }();
  return py::make_tuple(views.ended, views.remaining);
}

}  // namespace

void define_transfers(py::module_& module) {
  py::class_<ExportedPages>(module, "Exported")
      .def_property_readonly("copied_nbytes", &ExportedPages::copied_nbytes)
      .def(
          "send", [](const ExportedPages& exported, int socket) { send(socket, exported); },
          py::call_guard<GilReleased>());
  module.def("export", export_at);
  module.def("receive", receive_array);
  module.def("collect", collect_views);
}

}  // namespace byre::inline BYRE_ABI::python
