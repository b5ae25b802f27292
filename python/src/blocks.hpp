// SPDX-License-Identifier: BSL-1.0
/// Blocks: the ranges of pages that arrays lie in, found by address. Nothing here needs the interpreter.
#pragma once

#include "history.hpp"

#include <byre/storage/buffer.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace byre::inline v0::python {

struct Block;
using Family = std::vector<const Block*>;

/// Pages that one array owns, or several that were made of one uint8 array. The address never changes.
struct Block {
  explicit Block(Buffer&& bytes);

  bool is_in_pages() const noexcept { return byre::is_in_pages(buffer.origin()); }

  Buffer buffer;
  std::byte* const begin;
  const std::size_t nbytes;
  CallSite copied_at;  ///< the line that made it as a copy; line 0 if the block is no copy
  History history;     ///< under the lock of the block
  /// Both relaxed: they are counted and told to people, and no memory is read because of them.
  std::atomic<std::uint32_t> lazy_copies = 0;
  std::atomic<bool> is_collapsed = false;

  /// Blocks that began with the pages of one, this one included. Under the lock of the table.
  std::shared_ptr<Family> family;
};

/// The pages that a block shares, at one moment.
struct Sharing {
  std::size_t own_nbytes = 0;   ///< in pages that no other block shows
  std::size_t others = 0;       ///< blocks that share the rest
  std::vector<CallSite> lines;  ///< that copied those
};

/// All blocks of the process. Thread-safe; a fork waits for operations under way. Memory is freed on any thread.
class Blocks {
 public:
  static Blocks& all();

  /// Zeros in new pages; if `zeros`, the pages get memory when they are touched. Null if the system has no pages to give,
  /// or so many blocks are alive that more would leave too few mappings to the rest of the process.
  /// Throws OutOfMemory.
  std::byte* allocate(std::size_t nbytes, bool zeros);
  /// A file, mapped for reading and writing, whose bytes never change in the file. Throws FileError, OutOfMemory.
  std::shared_ptr<Block> map_file(const char* name);
  /// Ends the block of an address that lies in one. False if the address lies in no block.
  bool release(const void* address) noexcept;
  /// The block that has all of these bytes, or null.
  std::shared_ptr<Block> find(const void* address, std::size_t nbytes);
  std::vector<std::shared_ptr<Block>> list();

  /// A copy that shares pages. Null if the system has no mapping or no memory for one, or too many blocks are alive. Throws std::bad_alloc. Without a
  /// copy nothing has changed.
  std::shared_ptr<Block> clone(Block& source, CallSite site);

  Sharing sharing_of(const Block& block);

  /// A copy of the text that lives as long as the process, one for each text.
  const char* keep(const char* text);

  /// Excludes copies of the block that begins there.
  std::unique_lock<std::mutex> lock(const std::byte* begin);

 private:
  struct Tables;
  explicit Blocks(Tables& tables) : tables_(tables) {}
  std::shared_ptr<Block> add(Buffer&& buffer);
  bool are_too_many();

  Tables& tables_;
};

}  // namespace byre::inline v0::python
