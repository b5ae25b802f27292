// SPDX-License-Identifier: BSL-1.0
#include "module.hpp"

#include <byre/memory/pool.hpp>
#include <byre/observe/memory_report.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace py = pybind11;

namespace byre::inline BYRE_ABI::python {
namespace {

/// A scope as a number, because Python decides when it ends.
std::uintptr_t begin_tag(const std::string& name) {
  return reinterpret_cast<std::uintptr_t>(new ScopedTag(name));
}
void end_tag(std::uintptr_t scope) noexcept {
  delete reinterpret_cast<ScopedTag*>(scope);
}

}  // namespace

void define_memory(py::module_& module) {
  const auto released = py::call_guard<GilReleased>();
  module.def("begin_tag", begin_tag);
  module.def("end_tag", end_tag);
  module.def(
      "memory_json", [] { return BYRE_STATS ? to_json(memory_report()) : "{}"; }, released);
  module.def(
      "memory_text", [] { return to_text(memory_report()); }, released);
  module.def(
      "trim", [](std::size_t keep_nbytes) { default_pool().trim(keep_nbytes); }, released);
  module.def("get_pool_limit", [] { return default_pool().limit_nbytes(); });
  module.def(
      "set_pool_limit", [](std::size_t nbytes) { default_pool().set_limit_nbytes(nbytes); },
      released);
}

}  // namespace byre::inline BYRE_ABI::python
