// SPDX-License-Identifier: BSL-1.0
/// Blocks: the ranges of pages that hold arrays, found by address. Thread-safe; a fork waits for
/// operations in progress. No function needs Python's interpreter lock.
#pragma once

#include <byre/ipc/exported_pages.hpp>
#include <byre/storage/buffer.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace byre::inline BYRE_ABI::python {

/// Pages that one array owns, or several arrays that were made from one uint8 array. The address
/// never changes.
struct Block {
  Block(Buffer&& bytes, CallSite site)
      : buffer(std::move(bytes)),
        begin(buffer.mutable_data()),
        nbytes(buffer.nbytes()),
        copied_at(site) {}

  Buffer buffer;
  std::byte* const begin;
  const std::size_t nbytes;
  const CallSite copied_at;  ///< the line that copied the block; line 0 if the block is not a copy

  // Guarded by the lock of the block.
  std::size_t used_nbytes = nbytes;  ///< used by arrays; the rest is padding or a file's header
  std::string sums;                  ///< Python's hashes of pages at the last copy
  std::size_t lazy_copies = 0;
  bool is_collapsed = false;
};

/// Must be called before any other function.
void watch_forks();

/// The address of a new block whose bytes are 0. If `zeros`, its pages are allocated when they are
/// touched. Null if the system has no pages, or if so many blocks exist that another one would
/// leave too few mappings to the rest of the process. Throws OutOfMemory.
std::byte* allocate_block(std::size_t nbytes, bool zeros);

/// Maps a file for reading and writing. Writes never change the file. Throws FileError if the file
/// cannot be mapped, or OutOfMemory.
std::shared_ptr<Block> map_file(const char* name);

/// A copy of `source` that shares its pages. Null if the system has no mapping or no memory for a
/// copy, or if too many blocks exist: then nothing has changed.
std::shared_ptr<Block> clone_block(Block& source, Writers writers, CallSite site) noexcept;

/// Exports a copy of `source` that shares its pages to other processes. Throws the errors of
/// export_pages().
ExportedPages export_block(Block& source, Writers writers, CallSite site);

/// A block over a copy that another process exported and sent to a socket. Throws the errors of
/// receive().
std::shared_ptr<Block> receive_block(int socket);

/// Removes the block that contains an address. False if there is no such block.
bool release_block(const void* address) noexcept;

/// The block that contains all of these bytes, or null.
std::shared_ptr<Block> find_block(const void* address, std::size_t nbytes);
std::vector<std::shared_ptr<Block>> all_blocks();

/// Locks the block that begins at `begin`. Copies of the block wait for the lock.
std::unique_lock<std::mutex> lock_block(const std::byte* begin);

/// A copy of the text that lives until the process ends. Equal texts share one copy.
const char* intern(const char* text);

}  // namespace byre::inline BYRE_ABI::python
