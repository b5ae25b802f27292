// SPDX-License-Identifier: BSL-1.0
#include "module.hpp"

#include <byre/stats/counters.hpp>

#include <string>

namespace py = pybind11;

namespace byre::inline v0::python {
namespace {

using stats::Counters;

struct Counted {
  const char* name;
  std::int64_t Counters::*value;
  const char* documentation;
};
constexpr Counted counted[] = {
    {"lazy_copies", &Counters::lazy_clones, "Lazy copies that were made."},
    {"copies", &Counters::copies,
     "Copies that were made now, and lazy ones for which written pages were copied."},
    {"bytes_copied", &Counters::bytes_copied, "Bytes of those copies."},
    {"live_bytes", &Counters::live_bytes, "Bytes of memory that arrays have in files of pages."},
    {"pinned_bytes", &Counters::pinned_bytes,
     "Of those, bytes in files that only lazy copies and their sources show."},
};

std::string text_of(const Counters& counters) {
  std::string text = "<byre.Stats";
  for (const Counted& each : counted) {
    text += std::string(" ") + each.name + "=" + std::to_string(counters.*each.value);
  }
  return text + ">";
}

}  // namespace

void define_statistics(py::module_& module) {
  py::class_<Counters> type(
      module, "Stats",
      "What byre counted of all threads; the difference of two is what happened between.\n\n"
      ">>> x = byre.zeros(1 << 20)\n>>> before = byre.stats()\n>>> y = byre.copy(x)\n"
      ">>> (byre.stats() - before).bytes_copied\n0\n");
  for (const Counted& each : counted) {
    const auto documentation = std::string(each.documentation) +
                               "\n\n>>> (byre.stats() - byre.stats())." + each.name + "\n0\n";
    type.def_property_readonly(
        each.name, [value = each.value](const Counters& self) { return self.*value; },
        documentation.c_str());
  }
  type.def("__sub__", [](const Counters& self, const Counters& before) { return self - before; })
      .def("__eq__", [](const Counters& self, const Counters& other) { return self == other; })
      .def("__repr__", text_of);
  type.attr("__module__") = "byre";
  module.def("stats", stats::snapshot,
             "The counters now: see Stats. Zeros where byre was built without them.\n\n"
             ">>> byre.stats().bytes_copied >= 0\nTrue\n");
}

}  // namespace byre::inline v0::python
