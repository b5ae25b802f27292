// SPDX-License-Identifier: BSL-1.0
#include "blocks.hpp"

#include <byre/error/error.hpp>
#include <byre/ipc/send.hpp>
#include <byre/pages/detail/exported.hpp>
#include <byre/pages/detail/page_file.hpp>

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <limits>
#include <map>
#include <new>
#include <set>
#include <utility>

namespace byre::inline BYRE_ABI::python {
namespace {

/// Set during a lazy copy. Allocations then fail, so that byre does not copy immediately: NumPy
/// makes such copies.
thread_local bool is_cloning = false;

/// The memory of blocks. Arrays of zeros may stay zeros for the most part, so their pages are
/// allocated when they are touched.
class ArrayPages final : public detail::PageAllocator {
 public:
  explicit ArrayPages(detail::Present present) noexcept : present_(present) {}

  byre::Block allocate(const Request& request) override {
    if (is_cloning) {
      throw OutOfMemory(request.nbytes, "pages, for a lazy copy");
    }
    return default_allocator().allocate(request);
  }
  void deallocate(const byre::Block& block) noexcept override {
    default_allocator().deallocate(block);
  }
  std::unique_ptr<detail::PageFile> create_file(std::size_t nbytes) override {
    return is_cloning ? nullptr : detail::create_memory_file(nbytes, present_);
  }
  const char* name() const noexcept override { return "pages of arrays"; }

 private:
  const detail::Present present_;
};

/// Never destroyed, because arrays may outlive the interpreter.
ArrayPages& array_pages(bool zeros = false) {
  static ArrayPages* const pages[] = {new ArrayPages(detail::Present::at_once),
                                      new ArrayPages(detail::Present::when_touched)};
  return *pages[zeros ? 1 : 0];
}

/// Lock order: first the lock of a block, then that of the table.
struct Tables {
  std::mutex mutex;
  std::map<const std::byte*, std::shared_ptr<Block>> blocks;
  std::set<std::string> texts;
  std::array<std::mutex, 32> copying;  // the locks of blocks, by hashed address

  /// The block that contains all of these bytes, or the end iterator.
  auto find(const void* address, std::size_t nbytes) {
    const auto* const at = static_cast<const std::byte*>(address);
    const auto after = blocks.upper_bound(at);
    if (after == blocks.begin()) {
      return blocks.end();
    }
    const auto found = std::prev(after);
    const auto offset = static_cast<std::size_t>(at - found->first);
    const std::size_t all = found->second->nbytes;
    return offset < all && nbytes <= all - offset ? found : blocks.end();
  }
};

Tables& tables() {
  static Tables* const made = new Tables;
  return *made;
}

std::shared_ptr<Block> add(Buffer&& buffer, CallSite copied_at = {nullptr, 0}) {
  auto block = std::make_shared<Block>(std::move(buffer), copied_at);
  const std::lock_guard lock(tables().mutex);
  tables().blocks.emplace(block->begin, block);
  return block;
}

/// A block takes two or three mappings. If the process has no mapping left, malloc() fails and no
/// thread starts.
bool too_many_blocks() {
  static std::atomic<std::size_t> most = 0;
  std::size_t alive = 0;
  {
    const std::lock_guard lock(tables().mutex);
    alive = tables().blocks.size();
  }
  if (alive >= most.load(std::memory_order_relaxed)) {
    // Read again, because an administrator may raise the limit.
    std::size_t mappings = std::numeric_limits<std::size_t>::max();
    std::ifstream("/proc/sys/vm/max_map_count") >> mappings;
    most.store(mappings / 8 * 2, std::memory_order_relaxed);
  }
  return alive >= most.load(std::memory_order_relaxed);
}

}  // namespace

void watch_forks() {
  static constexpr auto before_fork = [] {
    for (std::mutex& mutex : tables().copying) {
      mutex.lock();
    }
    tables().mutex.lock();
  };
  static constexpr auto in_parent = [] {
    tables().mutex.unlock();
    for (std::mutex& mutex : tables().copying) {
      mutex.unlock();
    }
  };
  static constexpr auto in_child = [] {
    ::new (&tables().mutex) std::mutex;
    ::new (&tables().copying) std::array<std::mutex, 32>;
  };
  static const bool are_watched = ::pthread_atfork(before_fork, in_parent, in_child) == 0;
  if (!are_watched) {
    throw OutOfMemory::of_heap("byre's handlers of forks");
  }
  array_pages();
}

std::byte* allocate_block(std::size_t nbytes, bool zeros) {
  if (too_many_blocks()) {
    return nullptr;
  }
  Buffer buffer = Buffer::allocate(nbytes, array_pages(zeros));
  return buffer.origin() == Origin::paged ? add(std::move(buffer))->begin : nullptr;
}

std::shared_ptr<Block> map_file(const char* name) {
  return add(Buffer::map_file(name, array_pages()));
}

std::shared_ptr<Block> clone_block(Block& source, Writers writers, CallSite site) noexcept {
  const auto lock = lock_block(source.begin);
  std::shared_ptr<Block> block;
  is_cloning = true;
  try {
    if (!too_many_blocks()) {
      block = add(source.buffer.writable_clone(Wait::allowed, site, writers), site);
      ++source.lazy_copies;
    }
  } catch (...) {
    block = nullptr;  // there is no mapping or no memory left
  }
  is_cloning = false;
  return block;
}

ExportedPages export_block(Block& source, Writers writers, CallSite site) {
  const auto lock = lock_block(source.begin);
  // Writes through pointers do not ask byre, so the source becomes an overlay of the exported file.
  const Buffer copy = source.buffer.writable_clone(Wait::allowed, site, writers);
  return export_pages(copy, site);
}

std::shared_ptr<Block> receive_block(int socket) {
  return add(receive<Buffer>(socket));
}

bool release_block(const void* address) noexcept {
  std::shared_ptr<Block> ended;  // destroyed after the lock is released
  {
    const std::lock_guard lock(tables().mutex);
    const auto found = tables().find(address, 1);
    if (found == tables().blocks.end()) {
      return false;
    }
    ended = std::move(found->second);
    tables().blocks.erase(found);
  }
  ended.reset();
  // The pages of this block are released even if other processes still map them: those keep them.
  // Two looks for each block find all such pages in time.
  detail::exports<sync::Default>().look(2);
  return true;
}

std::shared_ptr<Block> find_block(const void* address, std::size_t nbytes) {
  const std::lock_guard lock(tables().mutex);
  const auto found = tables().find(address, nbytes);
  return found == tables().blocks.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<Block>> all_blocks() {
  std::vector<std::shared_ptr<Block>> all;
  const std::lock_guard lock(tables().mutex);
  for (const auto& [begin, block] : tables().blocks) {
    all.push_back(block);
  }
  return all;
}

std::unique_lock<std::mutex> lock_block(const std::byte* begin) {
  // Large blocks are aligned, so their addresses have equal low bits.
  const auto hash = reinterpret_cast<std::uintptr_t>(begin) * 0x9E37'79B9'7F4A'7C15U;
  return std::unique_lock(tables().copying[(hash >> 32U) % tables().copying.size()]);
}

const char* intern(const char* text) {
  const std::lock_guard lock(tables().mutex);
  return tables().texts.emplace(text).first->c_str();
}

}  // namespace byre::inline BYRE_ABI::python
