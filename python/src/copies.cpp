// SPDX-License-Identifier: BSL-1.0
#include "module.hpp"

#include <byre/error/error.hpp>
#include <byre/memory/pages.hpp>
#include <byre/observe/detail/observer.hpp>
#include <byre/pages/detail/page_file.hpp>

#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace py = pybind11;

namespace byre::inline BYRE_ABI::python {
namespace {

void* pointer(std::uintptr_t address) noexcept {
  return reinterpret_cast<void*>(address);
}

/// The address of the block that contains these bytes, or None.
std::optional<std::uintptr_t> find(std::uintptr_t address, std::size_t nbytes) {
  const auto block = find_block(pointer(address), nbytes);
  return block == nullptr ? std::nullopt
                          : std::optional(reinterpret_cast<std::uintptr_t>(block->begin));
}

/// An array in a lazy copy of a block, or None if the system has no mapping. If only a part of the
/// block is copied (`is_whole` is false), other threads may meanwhile write the rest.
py::object clone(std::uintptr_t start, const py::object& like, bool is_whole,
                 const std::string& file, unsigned line) {
  const auto block = expect_block(start);
  const auto copy = [&] {
    const GilReleased released;
    return clone_block(*block, is_whole ? Writers::none : Writers::elsewhere, site_of(file, line));
  }();
  if (copy == nullptr) {
    return py::none();
  }
  return array_in(*copy, block.get(), like.is_none() ? py::handle() : py::handle(like));
}

/// Moves a block to huge pages. Another thread may release the block meanwhile. This thread holds a
/// reference to the block only while it holds the lock of the block. A fork waits for that lock:
/// otherwise the child, in which this thread does not exist, could never release the reference.
void collapse(std::uintptr_t start) {
  const auto* const begin = static_cast<const std::byte*>(pointer(start));
  std::weak_ptr<Block> kept;
  for (std::size_t at = 0;;
       at += huge_page_nbytes) {  // copies of the block wait for one huge page, some 4 ms
    const auto copies_wait = lock_block(begin);
    const auto block = at == 0 ? find_block(begin, 1) : kept.lock();
    if (block == nullptr || at >= block->nbytes) {
      return;
    }
    kept = block;
    block->buffer.collapse(at, std::min(huge_page_nbytes, block->nbytes - at));
    block->is_collapsed = block->nbytes - at <= huge_page_nbytes;
  }
}

py::dict facts_of(const Block& block) {
  // No Python object is made under the lock, because that may run a finalizer, which may use byre.
  // The interpreter's lock is released, because a copy may hold the block's lock for long.
  const auto [memory_id, are_pages, used_nbytes, is_collapsed, lazy_copies, sums] = [&block] {
    const GilReleased released;
    const auto lock = lock_block(block.begin);
    return std::tuple(block.buffer.memory_id(), is_in_pages(block.buffer.origin()),
                      block.used_nbytes, block.is_collapsed, block.lazy_copies, block.sums);
  }();
  const CallSite& site = block.copied_at;
  using namespace py::literals;
  return py::dict(
      "start"_a = reinterpret_cast<std::uintptr_t>(block.begin), "nbytes"_a = block.nbytes,
      "used_nbytes"_a = used_nbytes, "memory_id"_a = reinterpret_cast<std::uintptr_t>(memory_id),
      "copied_at"_a =
          py::bytes(site.line == 0 ? "" : site.file + (":" + std::to_string(site.line))),
      "is_in_pages"_a = are_pages, "is_collapsed"_a = is_collapsed, "lazy_copies"_a = lazy_copies,
      "sums"_a = py::bytes(sums));
}

py::list all_facts() {
  py::list all;
  for (const auto& block : all_blocks()) {
    all.append(facts_of(*block));
  }
  return all;
}

/// Sets a member of a block, if the block exists.
template <class Value, Value Block::*fact>
void set(std::uintptr_t start, Value value) {
  const auto lock = lock_block(static_cast<const std::byte*>(pointer(start)));
  if (const auto block = find_block(pointer(start), 1)) {
    (*block).*fact = std::move(value);
  }
}

/// The number of bytes in pages of a block that writes have separated from its page file; 0 if the
/// block no longer exists.
std::size_t written_nbytes(std::uintptr_t start) {
  const auto block = find_block(pointer(start), 1);
  return block == nullptr
             ? 0
             : std::min(block->nbytes, detail::count_written_pages(block->begin, block->nbytes));
}

void count_copy(std::uintptr_t address, std::size_t nbytes, const std::string& file,
                unsigned line) {
  const CallSite site = site_of(file, line);
  stats::detail::WriteReport().copied(stats::detail::DataFacts{.data = pointer(address)},
                                      stats::detail::DataFacts(),
                                      {nbytes, stats::CopyCause::writable, site});
}

py::tuple counters() {
  const stats::Counters now = stats::snapshot();
  return py::make_tuple(now.lazy_clones, now.copies, now.bytes_copied, now.live_bytes,
                        now.pinned_bytes);
}

}  // namespace

std::shared_ptr<Block> expect_block(std::uintptr_t start) {
  auto block = find_block(pointer(start), 1);
  if (block == nullptr) {
    throw InvalidArgument(format_text("no block of byre begins at %p.", pointer(start)));
  }
  return block;
}

CallSite site_of(const std::string& file, unsigned line) {
  return {intern(file.c_str()), line};
}

void define_copies(py::module_& module) {
  const auto released = py::call_guard<GilReleased>();
  module.def("find", find);
  module.def("clone", clone);
  module.def("collapse", collapse, released);
  module.def("facts", [](std::uintptr_t start) { return facts_of(*expect_block(start)); });
  module.def("all_facts", all_facts);
  module.def("set_sums", set<std::string, &Block::sums>, released);
  module.def("set_used", set<std::size_t, &Block::used_nbytes>, released);
  module.def("written_nbytes", written_nbytes);
  module.def("count_copy", count_copy);
  module.def("counters", counters);
}

}  // namespace byre::inline BYRE_ABI::python
