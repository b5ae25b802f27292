// SPDX-License-Identifier: BSL-1.0
#include "blocks.hpp"

#include <byre/error/error.hpp>
#include <byre/memory/detail/page_file.hpp>
#include <byre/memory/pages.hpp>

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <limits>
#include <map>
#include <new>
#include <set>
#include <string>
#include <utility>

namespace byre::inline v0::python {
namespace {

thread_local bool is_cloning = false;

/// While one of these lives, this thread makes lazy copies only: NumPy has other memory for those made at once.
class Cloning {
 public:
  Cloning() noexcept { is_cloning = true; }
  ~Cloning() { is_cloning = false; }
  Cloning(const Cloning&) = delete;
  Cloning& operator=(const Cloning&) = delete;
};

void expect_allowed(std::size_t nbytes) {
  if (is_cloning) {
    throw OutOfMemory(nbytes, "pages, for a lazy copy");
  }
}

/// Memory of blocks. Arrays of zeros may stay zeros for the most part, so their pages get memory when they are touched.
class ArrayPages final : public detail::PageAllocator {
 public:
  explicit ArrayPages(detail::Present present) noexcept : present_(present) {}

  byre::Block allocate(const Request& request) override {
    expect_allowed(request.nbytes);
    return default_allocator().allocate(request);
  }
  byre::Block allocate_copy(const Request& request, const void* source,
                            std::size_t nbytes) override {
    expect_allowed(request.nbytes);
    return default_allocator().allocate_copy(request, source, nbytes);
  }
  void deallocate(const byre::Block& block) noexcept override {
    default_allocator().deallocate(block);
  }
  std::unique_ptr<detail::PageFile> create_file(std::size_t nbytes) override {
    expect_allowed(nbytes);
    return detail::create_memory_file(nbytes, present_);
  }
  const char* name() const noexcept override { return "pages of arrays"; }

 private:
  const detail::Present present_;
};

/// Never destroyed, as arrays may outlive the interpreter.
ArrayPages& array_pages(bool zeros = false) {
  static ArrayPages* const pages[] = {new ArrayPages(detail::Present::at_once),
                                      new ArrayPages(detail::Present::when_touched)};
  return *pages[zeros ? 1 : 0];
}

}  // namespace

Block::Block(Buffer&& bytes)
    : buffer(std::move(bytes)), begin(buffer.mutable_data()), nbytes(buffer.nbytes()) {}

/// Locks are taken in this order: of a block, of the table.
struct Blocks::Tables {
  std::mutex table;
  std::map<const std::byte*, std::shared_ptr<Block>> blocks;
  std::set<std::string> texts;
  std::array<std::mutex, 32> copying;  // of each block, by its address
};

Blocks& Blocks::all() {
  static Tables* const tables = [] {
    static Tables* const made = new Tables;
    const auto before_fork = [] {
      for (std::mutex& mutex : made->copying) {
        mutex.lock();
      }
      made->table.lock();
    };
    const auto in_parent = [] {
      made->table.unlock();
      for (std::mutex& mutex : made->copying) {
        mutex.unlock();
      }
    };
    const auto in_child = [] {
      ::new (&made->table) std::mutex;
      ::new (&made->copying) std::array<std::mutex, 32>;
    };
    if (::pthread_atfork(before_fork, in_parent, in_child) != 0) {
      throw OutOfMemory::of_heap("byre, to be told of forks");
    }
    array_pages();
    return made;
  }();
  static Blocks* const blocks = new Blocks(*tables);
  return *blocks;
}

std::shared_ptr<Block> Blocks::add(Buffer&& buffer) {
  auto block = std::make_shared<Block>(std::move(buffer));
  block->family = std::make_shared<Family>(1, block.get());
  const std::lock_guard lock(tables_.table);
  tables_.blocks.emplace(block->begin, block);
  return block;
}

/// A block takes two mappings or three, and without one left malloc() fails and no thread starts.
bool Blocks::are_too_many() {
  static std::atomic<std::size_t> most = 0;
  std::size_t alive = 0;
  {
    const std::lock_guard lock(tables_.table);
    alive = tables_.blocks.size();
  }
  if (alive >= most.load(std::memory_order_relaxed)) {
    // Read again, as an administrator may raise it.
    std::size_t mappings = std::numeric_limits<std::size_t>::max();
    std::ifstream("/proc/sys/vm/max_map_count") >> mappings;
    most.store(mappings / 8 * 2, std::memory_order_relaxed);
  }
  return alive >= most.load(std::memory_order_relaxed);
}

std::byte* Blocks::allocate(std::size_t nbytes, bool zeros) {
  if (are_too_many()) {
    return nullptr;
  }
  Buffer buffer = Buffer::allocate(nbytes, array_pages(zeros));
  return buffer.origin() == Origin::paged ? add(std::move(buffer))->begin : nullptr;
}

std::shared_ptr<Block> Blocks::map_file(const char* name) {
  return add(Buffer::map_file(name, array_pages()));
}

bool Blocks::release(const void* address) noexcept {
  std::shared_ptr<Block> ended;  // released without a lock
  const auto* const at = static_cast<const std::byte*>(address);
  const std::lock_guard lock(tables_.table);
  auto after = tables_.blocks.upper_bound(at);
  if (after == tables_.blocks.begin()) {
    return false;
  }
  const auto found = std::prev(after);
  if (at >= found->first + found->second->nbytes) {
    return false;
  }
  ended = std::move(found->second);
  tables_.blocks.erase(found);
  std::erase(*ended->family, ended.get());
  return true;
}

std::shared_ptr<Block> Blocks::find(const void* address, std::size_t nbytes) {
  const auto* const at = static_cast<const std::byte*>(address);
  const std::lock_guard lock(tables_.table);
  const auto after = tables_.blocks.upper_bound(at);
  if (after == tables_.blocks.begin()) {
    return nullptr;
  }
  const std::shared_ptr<Block>& block = std::prev(after)->second;
  const auto offset = static_cast<std::size_t>(at - block->begin);
  return offset <= block->nbytes && nbytes <= block->nbytes - offset ? block : nullptr;
}

std::vector<std::shared_ptr<Block>> Blocks::list() {
  std::vector<std::shared_ptr<Block>> all;
  const std::lock_guard lock(tables_.table);
  for (const auto& [begin, block] : tables_.blocks) {
    all.push_back(block);
  }
  return all;
}

std::unique_lock<std::mutex> Blocks::lock(const std::byte* begin) {
  // Large blocks are aligned, so all of them have equal low bits.
  const auto hash = reinterpret_cast<std::uintptr_t>(begin) * 0x9E37'79B9'7F4A'7C15U;
  return std::unique_lock(tables_.copying[(hash >> 32U) % tables_.copying.size()]);
}

std::shared_ptr<Block> Blocks::clone(Block& source, CallSite site) {
  if (are_too_many()) {
    return nullptr;
  }
  std::shared_ptr<Block> block;
  std::size_t showing = 0;
  try {
    const auto lock_of_source = lock(source.begin);
    const Cloning cloning;
    block = std::make_shared<Block>(source.buffer.writable_clone(Wait::allowed, site));
    showing = source.buffer.overlay_count();
  } catch (const OutOfMemory&) {
    return nullptr;
  }
  block->copied_at = site;
  // Two overlays of a file are these two: the source, if it had a family, has left it for a new file.
  auto family = showing == 2 ? std::make_shared<Family>() : nullptr;
  const std::lock_guard lock(tables_.table);
  if (family == nullptr) {
    family = source.family;
  }
  family->reserve(family->size() + 2);
  tables_.blocks.emplace(block->begin, block);
  if (family != source.family) {
    std::erase(*source.family, &source);
    source.family = family;
    family->push_back(&source);
  }
  family->push_back(block.get());
  block->family = std::move(family);
  return block;
}

Sharing Blocks::sharing_of(const Block& block) {
  Sharing sharing;
  const auto lock_of_block = lock(block.begin);
  {
    const std::lock_guard lock(tables_.table);
    for (const Block* other : *block.family) {
      if (other != &block) {
        ++sharing.others;
        sharing.lines.push_back(other->copied_at);
      }
    }
  }
  sharing.own_nbytes =
      sharing.others == 0
          ? block.nbytes
          : std::min(block.nbytes, detail::count_written_pages(block.begin, block.nbytes));
  return sharing;
}

const char* Blocks::keep(const char* text) {
  const std::lock_guard lock(tables_.table);
  return tables_.texts.emplace(text).first->c_str();
}

}  // namespace byre::inline v0::python
