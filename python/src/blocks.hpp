// SPDX-License-Identifier: BSL-1.0
/// Blocks: the ranges of pages that arrays lie in, found by address. Thread-safe; a fork waits for operations under way.
/// Nothing here needs the interpreter.
#pragma once

#include <byre/storage/buffer.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace byre::inline v0::python {

/// Pages that one array owns, or several that were made of one uint8 array. The address never changes.
struct Block {
  Block(Buffer&& bytes, CallSite site)
      : buffer(std::move(bytes)),
        begin(buffer.mutable_data()),
        nbytes(buffer.nbytes()),
        copied_at(site) {}

  Buffer buffer;
  std::byte* const begin;
  const std::size_t nbytes;
  const CallSite copied_at;  ///< the line that made it as a copy; line 0 if the block is no copy

  // Under the lock of the block.
  std::size_t used_nbytes =
      nbytes;        ///< of arrays: the rest pads packed ones, or is the header of a file
  std::string sums;  ///< what Python keeps of the pages as they were at the last copy
  std::size_t lazy_copies = 0;
  bool is_collapsed = false;
};

/// Before any other function.
void watch_forks();

/// The address of zeros in new pages; if `zeros`, the pages get memory when they are touched. Null if the system has no
/// pages to give, or so many blocks are alive that more would leave too few mappings to the rest of the process. Throws
/// OutOfMemory.
std::byte* allocate_block(std::size_t nbytes, bool zeros);

/// A file, mapped for reading and writing, whose bytes never change in the file. Throws FileError, OutOfMemory.
std::shared_ptr<Block> map_file(const char* name);

/// A copy that shares pages. Null if the system has no mapping or no memory for one, or too many blocks are alive:
/// nothing has changed then.
std::shared_ptr<Block> clone_block(Block& source, Writers writers, CallSite site) noexcept;

/// Ends the block that an address lies in. False if it lies in none.
bool release_block(const void* address) noexcept;

/// The block that has all of these bytes, or null.
std::shared_ptr<Block> find_block(const void* address, std::size_t nbytes);
std::vector<std::shared_ptr<Block>> all_blocks();

/// Excludes copies of the block that begins there.
std::unique_lock<std::mutex> lock_block(const std::byte* begin);

/// A copy of the text that lives as long as the process, one for each text.
const char* intern(const char* text);

}  // namespace byre::inline v0::python
