// SPDX-License-Identifier: BSL-1.0
#include "arrays.hpp"
#include "blocks.hpp"
#include "errors.hpp"
#include "gil.hpp"
#include "module.hpp"

#include <byre/memory/pages.hpp>
#include <byre/stats/detail/recorder.hpp>

#include <algorithm>
#include <string>

namespace py = pybind11;

namespace byre::inline v0::python {
namespace {

void* pointer(std::uintptr_t address) noexcept {
  return reinterpret_cast<void*>(address);
}

std::shared_ptr<Block> expect_block(std::uintptr_t start) {
  auto block = Blocks::all().find(pointer(start), 1);
  if (block == nullptr) {
    throw InvalidArgument(format_text("no block of byre begins at %p.", pointer(start)));
  }
  return block;
}

py::object find(std::uintptr_t address, std::size_t nbytes) {
  const auto block = Blocks::all().find(pointer(address), nbytes);
  if (block == nullptr) {
    return py::none();
  }
  return py::make_tuple(reinterpret_cast<std::uintptr_t>(block->begin), block->nbytes);
}

py::tuple changes(std::uintptr_t start, bool are_remembered) {
  const auto block = expect_block(start);
  const auto lock = Blocks::all().lock(block->begin);
  const Changes changes = are_remembered ? block->history.update(block->begin, block->nbytes)
                                         : block->history.changes(block->begin, block->nbytes);
  return py::make_tuple(changes.pages, changes.samples);
}

CallSite site_of(const std::string& file, unsigned line) {
  return {Blocks::all().keep(file.c_str()), line};
}

py::object clone(std::uintptr_t start, const py::object& like, const std::string& file,
                 unsigned line) {
  const auto block = expect_block(start);
  const auto copy = Blocks::all().clone(*block, site_of(file, line));
  if (copy == nullptr) {
    return py::none();
  }
  const std::uint32_t copies = block->lazy_copies.fetch_add(1, std::memory_order_relaxed) + 1;
  return py::make_tuple(
      array_in(*copy, block.get(), like.is_none() ? py::handle() : py::handle(like)), copies);
}

/// The block may end meanwhile. A reference to it lives only under its lock, which a fork takes: in the child, where this
/// thread does not exist, the reference would never end.
void collapse(std::uintptr_t start) {
  const GilReleased released;
  const auto* const begin = static_cast<const std::byte*>(pointer(start));
  std::weak_ptr<Block> kept;
  for (std::size_t at = 0;;
       at += huge_page_nbytes) {  // copies of the block wait for one part, some 4 ms
    const auto copies_wait = Blocks::all().lock(begin);
    const auto block = at == 0 ? Blocks::all().find(begin, 1) : kept.lock();
    if (block == nullptr || at >= block->nbytes) {
      return;
    }
    kept = block;
    block->buffer.collapse(at, std::min(huge_page_nbytes, block->nbytes - at));
    block->is_collapsed.store(block->nbytes - at <= huge_page_nbytes, std::memory_order_relaxed);
  }
}

py::dict facts_of(const Block& block) {
  const Sharing sharing = Blocks::all().sharing_of(block);
  py::list lines;
  for (const CallSite& site : sharing.lines) {
    if (site.line != 0) {
      lines.append(std::string(site.file) + ":" + std::to_string(site.line));
    }
  }
  py::dict facts;
  facts["nbytes"] = block.nbytes;
  facts["is_in_pages"] = block.is_in_pages();
  facts["is_collapsed"] = block.is_collapsed.load(std::memory_order_relaxed);
  facts["own_nbytes"] = sharing.own_nbytes;
  facts["others"] = sharing.others;
  facts["lines"] = lines;
  return facts;
}

py::list all_facts() {
  py::list all;
  for (const auto& block : Blocks::all().list()) {
    all.append(facts_of(*block));
  }
  return all;
}

void count_copy(std::uintptr_t address, std::size_t nbytes, const std::string& file,
                unsigned line) {
  const CallSite site = site_of(file, line);
  if (stats::detail::may_record()) {
    stats::detail::record_copy(pointer(address), nullptr, nbytes, stats::CopyCause::writable, site);
  }
  stats::detail::report_copy(nbytes, stats::CopyCause::writable, site);
}

py::dict counters() {
  const stats::Counters now = stats::snapshot();
  py::dict all;
  all["lazy_copies"] = now.lazy_clones;
  all["copies"] = now.copies;
  all["bytes_copied"] = now.bytes_copied;
  all["live_bytes"] = now.live_bytes;
  all["pinned_bytes"] = now.pinned_bytes;
  return all;
}

}  // namespace

void define_copies(py::module_& module) {
  module.def("find", find, py::arg("address"), py::arg("nbytes"),
             "The address and size of the block that has these bytes, or None.");
  module.def("changes", changes, py::arg("start"), py::arg("remember"),
             "How many sampled pages of a block differ from the last time they were remembered, "
             "and how many there are.");
  module.def("clone", clone, py::arg("start"), py::arg("like"), py::arg("file"), py::arg("line"),
             "A lazy copy of a block, and how many there were; None if the system has no mapping.");
  module.def("collapse", collapse, py::arg("start"), "Moves a block to huge pages.");
  module.def(
      "facts", [](std::uintptr_t start) { return facts_of(*expect_block(start)); },
      py::arg("start"), "Sizes of a block, and its sharing.");
  module.def("all_facts", all_facts, "The facts of all blocks.");
  module.def("count_copy", count_copy, py::arg("address"), py::arg("nbytes"), py::arg("file"),
             py::arg("line"), "Counts and records a copy that was made now.");
  module.def("counters", counters, "Counters of all threads.");
}

}  // namespace byre::inline v0::python
