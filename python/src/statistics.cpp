// SPDX-License-Identifier: BSL-1.0
#include "array.hpp"
#include "errors.hpp"
#include "locks.hpp"

#include <byre/stats/counters.hpp>
#include <byre/storage/explain.hpp>

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
    {"lazy_clones", &Counters::lazy_clones, "Lazy copies that were made."},
    {"copies", &Counters::copies, "Copies that writes to shared data made, and others."},
    {"steals", &Counters::steals,
     "Writes that found themselves the last owner, and copied nothing."},
    {"waits", &Counters::waits, "Writes that waited for others to finish copying."},
    {"bytes_copied", &Counters::bytes_copied, "Bytes of those copies."},
    {"bytes_not_copied", &Counters::bytes_not_copied,
     "Bytes that eager copies would have copied, and lazy ones have not so far."},
    {"live_bytes", &Counters::live_bytes, "Bytes of memory that arrays have."},
    {"pooled_bytes", &Counters::pooled_bytes, "Bytes of memory that is kept for later arrays."},
    {"overlays", &Counters::overlays, "Private views of shared pages that are mapped."},
    {"pinned_bytes", &Counters::pinned_bytes, "Bytes of pages that stay while overlays need them."},
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
      ">>> before = byre.stats()\n>>> x = byre.zeros(3)\n>>> y = x.copy()\n"
      ">>> (byre.stats() - before).lazy_clones\n1\n");
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
  forbid_new(type);
  module.def("stats", stats::snapshot,
             "The counters now: see Stats. Zeros where byre was built without them.\n\n"
             ">>> isinstance(byre.stats(), byre.Stats)\nTrue\n");
  module.def(
      "explain",
      [](const py::object& array) {
        if (!py::isinstance<Array>(array)) {
          throw OperandError(format_text(
              "explain of an object of type %s. It takes arrays of byre: byre.array(x) makes one.",
              Py_TYPE(array.ptr())->tp_name));
        }
        const Tensor tensor = array.cast<const Array&>().tensor();
        return reading({&tensor}, 0, [&] { return byre::explain(tensor.storage()); });
      },
      py::arg("array"),
      "What a write to an array would do, and why, in a sentence.\n\n"
      ">>> x = byre.zeros(4)\n>>> y = x.copy()\n>>> print(byre.explain(x))\n"
      "32 bytes at 0x..., allocated by the recycling pool, shared by 2 owners: a write copies "
      "them.\n");
}

}  // namespace byre::inline v0::python
