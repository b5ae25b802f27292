// SPDX-License-Identifier: BSL-1.0
#include "arrays.hpp"
#include "blocks.hpp"
#include "collapser.hpp"
#include "errors.hpp"
#include "gil.hpp"
#include "module.hpp"

#include <byre/stats/detail/recorder.hpp>

#include <atomic>
#include <string>

namespace py = pybind11;

namespace byre::inline v0::python {
namespace {

/// True within byre.no_copies(). Kept for good.
PyObject* copies_are_refused = nullptr;

/// What available_nbytes() says instead, for tests; 0: nothing.
std::atomic<std::size_t> pretended_nbytes = 0;

bool is_memory_short(std::size_t nbytes) noexcept {
  const std::size_t pretended = pretended_nbytes.load(std::memory_order_relaxed);
  return (pretended != 0 ? pretended : available_nbytes()) / 2 < nbytes;
}

bool refuses_copies_in_context() {
  PyObject* value = nullptr;
  if (PyContextVar_Get(copies_are_refused, nullptr, &value) != 0) {
    throw py::error_already_set();
  }
  return checked(value).is(py::handle(Py_True));
}

/// What a copy of so many bytes of the block would do, but for dense().
Choice choice_by_size(const Block& block, std::size_t seen_nbytes, bool is_asked) noexcept {
  if (!block.is_in_pages()) {
    return Choice::no_pages;
  }
  if (seen_nbytes * 2 < block.nbytes) {  // gaps are seen too, so these may be more than all
    return Choice::part;
  }
  return block.nbytes < least_lazy_nbytes && !is_asked ? Choice::small : Choice::lazy;
}

/// The choice for a copy that a lazy one would serve by size.
Choice choice_by_changes(const Block& block, const Changes& changes) noexcept {
  return changes.are_dense() && !is_memory_short(block.nbytes) ? Choice::dense : Choice::lazy;
}

/// A clause that follows "byre.copy copies now: ".
std::string reason(Choice choice, const Block& block, std::size_t seen_nbytes,
                   const Changes& changes) {
  switch (choice) {
    case Choice::lazy:
      break;
    case Choice::small:
      return format_text("blocks below %zu bytes are copied faster than they are mapped",
                         least_lazy_nbytes)
          .chars.data();
    case Choice::part:
      return format_text(
                 "these are less than half of a block of %zu bytes, which a lazy copy would keep",
                 block.nbytes)
          .chars.data();
    case Choice::no_pages:
      return "the system had no pages for the block";
    case Choice::dense:
      return format_text(
                 "%zu of %zu sampled pages were written since the last copy, and lazy copies pay "
                 "up to a tenth",
                 changes.pages, changes.samples)
          .chars.data();
  }
  return format_text("%zu bytes", seen_nbytes).chars.data();
}

CallSite site_of(const std::string& file, unsigned line) {
  return {Blocks::all().keep(file.c_str()), line};
}

std::shared_ptr<Block> expect_block(std::uintptr_t start) {
  auto block = Blocks::all().find(reinterpret_cast<void*>(start), 1);
  if (block == nullptr) {
    throw InvalidArgument(
        format_text("no block of byre begins at %p.", reinterpret_cast<void*>(start)));
  }
  return block;
}

Changes changes_of(const Block& block) {
  const auto lock = Blocks::all().lock(block);
  return block.history.changes(block.begin, block.nbytes);
}

py::object copy_block(std::uintptr_t start, std::size_t seen_nbytes, const py::object& lazy,
                      const py::object& like, const std::string& file, unsigned line) {
  const auto block = expect_block(start);
  const bool is_asked = lazy.is(py::handle(Py_True)) || refuses_copies_in_context();
  Choice choice = choice_by_size(*block, seen_nbytes, is_asked);
  Changes changes;
  if (choice == Choice::lazy) {  // a copy of a small part says nothing of the block
    const auto lock = Blocks::all().lock(*block);
    changes = block->history.update(block->begin, block->nbytes);
    choice = is_asked ? Choice::lazy : choice_by_changes(*block, changes);
  }
  if (choice != Choice::lazy && is_asked) {
    throw CopyRefused(format_text(
        "byre.copy of %zu bytes would copy them now: %s. Copy without lazy=True and outside "
        "byre.no_copies(), or keep the array in a block of its own: byre.to_pages(x.copy()).",
        seen_nbytes, reason(choice, *block, seen_nbytes, changes).c_str()));
  }
  if (choice != Choice::lazy) {
    return py::none();
  }
  const auto copy = Blocks::all().clone(*block, site_of(file, line));
  if (copy == nullptr && is_asked) {
    throw CopyRefused(format_text(
        "byre.copy of %zu bytes would copy them now: the system gave no mapping for a lazy copy. "
        "Raise vm.max_map_count, drop some copies, or copy without lazy=True.",
        seen_nbytes));
  }
  if (copy == nullptr) {
    return py::none();
  }
  if (block->lazy_copies.fetch_add(1, std::memory_order_relaxed) + 1 == copies_until_collapse) {
    collapse_later(block);
  }
  return array_in(*copy, block.get(), like.is_none() ? py::handle() : py::handle(like));
}

bool is_lazy(std::uintptr_t start, std::size_t seen_nbytes, bool is_asked) {
  const auto block = expect_block(start);
  return choice_by_size(*block, seen_nbytes, is_asked) == Choice::lazy &&
         (is_asked || choice_by_changes(*block, changes_of(*block)) == Choice::lazy);
}

std::string explain(std::uintptr_t address, std::size_t nbytes) {
  auto* const data = reinterpret_cast<void*>(address);
  const auto block = Blocks::all().find(data, nbytes);
  std::string text = format_text("%zu bytes at %p, ", nbytes, data).chars.data();
  if (block == nullptr) {
    return text + "not in pages of byre: byre.copy copies them now. byre.to_pages moves them.";
  }
  const Sharing sharing = Blocks::all().sharing_of(*block);
  text += format_text("in a block of %zu bytes", block->nbytes).chars.data();
  if (sharing.others != 0) {
    text +=
        format_text(", of which %zu are in pages of its own and the rest is shared with %zu %s",
                    sharing.own_nbytes, sharing.others, sharing.others == 1 ? "block" : "blocks")
            .chars.data();
    std::string lines;
    for (const CallSite& site : sharing.lines) {
      if (site.file != nullptr && site.line != 0) {
        lines += (lines.empty() ? " (copied at " : ", ") + std::string(site.file) + ":" +
                 std::to_string(site.line);
      }
    }
    text += lines + (lines.empty() ? "" : ")");
  }
  const Changes changes = changes_of(*block);
  Choice choice = choice_by_size(*block, nbytes, false);
  if (choice == Choice::lazy) {
    choice = choice_by_changes(*block, changes);
  }
  if (choice == Choice::lazy) {
    const bool is_collapsed = block->is_collapsed.load(std::memory_order_relaxed);
    return text + (is_collapsed ? ", in huge pages" : "") + ": byre.copy is lazy.";
  }
  return text + ": byre.copy copies now, since " + reason(choice, *block, nbytes, changes) + "." +
         (choice == Choice::dense || choice == Choice::small ? " lazy=True copies lazily." : "");
}

struct Memory {
  std::size_t blocks = 0;
  std::size_t nbytes = 0;
  std::size_t own_nbytes = 0;
  std::size_t shared_nbytes = 0;
};

Memory memory() {
  Memory all;
  for (const auto& block : Blocks::all().list()) {
    const Sharing sharing = Blocks::all().sharing_of(*block);
    ++all.blocks;
    all.nbytes += block->nbytes;
    all.own_nbytes += sharing.own_nbytes;
    all.shared_nbytes += block->nbytes - sharing.own_nbytes;
  }
  return all;
}

/// A copy that Python made.
void count_copy(std::uintptr_t address, std::size_t nbytes, const std::string& file,
                unsigned line) {
  const CallSite site = site_of(file, line);
  if (stats::detail::may_record()) {
    const auto* const source = reinterpret_cast<const void*>(address);
    stats::detail::record_copy(source, nullptr, nbytes, stats::CopyCause::writable, site);
  }
  stats::detail::report_copy(nbytes, stats::CopyCause::writable, site);
}

}  // namespace

void define_copies(py::module_& module) {
  copies_are_refused = PyContextVar_New("byre.copies_are_refused", Py_False);
  module.attr("copies_are_refused") = checked(Py_XNewRef(copies_are_refused));
  module.def(
      "find",
      [](std::uintptr_t address, std::size_t nbytes) -> py::object {
        const auto block = Blocks::all().find(reinterpret_cast<void*>(address), nbytes);
        if (block == nullptr) {
          return py::none();
        }
        return py::make_tuple(reinterpret_cast<std::uintptr_t>(block->begin), block->nbytes);
      },
      py::arg("address"), py::arg("nbytes"),
      "The address and size of the block that has these bytes, or None.");
  module.def("copy_block", copy_block, py::arg("start"), py::arg("seen_nbytes"), py::arg("lazy"),
             py::arg("like"), py::arg("file"), py::arg("line"),
             "A lazy copy of a block, or None if it is to be copied now.");
  module.def("count_copy", count_copy, py::arg("address"), py::arg("nbytes"), py::arg("file"),
             py::arg("line"), "Counts and records a copy that was made now.");
  module.def(
      "is_lazy", is_lazy, py::arg("start"), py::arg("seen_nbytes"), py::arg("asked"),
      "Whether a copy of so many bytes of the block is lazy, or may be if that is asked for.");
  module.def("explain", explain, py::arg("address"), py::arg("nbytes"),
             "What these bytes share, and what a copy does.");
  py::class_<Memory> type(module, "Memory",
                          "Bytes of arrays in pages, by byre.memory().\n\n"
                          ">>> x = byre.zeros(1 << 20)\n>>> y = byre.copy(x)\n"
                          ">>> byre.memory().shared_nbytes >= x.nbytes\nTrue\n");
  type.attr("__module__") = "byre";
  type.def_readonly("blocks", &Memory::blocks, "Blocks of pages, each of one or more arrays.")
      .def_readonly("nbytes", &Memory::nbytes, "Bytes of all blocks.")
      .def_readonly("own_nbytes", &Memory::own_nbytes, "Bytes in pages that one block shows.")
      .def_readonly("shared_nbytes", &Memory::shared_nbytes,
                    "Bytes in pages that several blocks show, counted for each.")
      .def("__repr__", [](const Memory& self) {
        return std::string(format_text("<byre.Memory blocks=%zu nbytes=%zu own_nbytes=%zu "
                                       "shared_nbytes=%zu>",
                                       self.blocks, self.nbytes, self.own_nbytes,
                                       self.shared_nbytes)
                               .chars.data());
      });
  module.def("memory", memory,
             "What the arrays in pages take, and what they share.\n\n"
             ">>> byre.memory().blocks >= 0\nTrue\n");
  module.def("_pretend_available_nbytes",
             [](std::size_t nbytes) { pretended_nbytes.store(nbytes); });
  wait_for_collapses();  // makes the collapser, which no fork finds half made then
  module.def("_wait_for_collapses", &wait_for_collapses, py::call_guard<GilReleased>());
  module.add_object("_end_collapsing",
                    py::cpp_function(&end_collapsing, py::call_guard<GilReleased>()));
}

}  // namespace byre::inline v0::python
