// SPDX-License-Identifier: BSL-1.0
/// Which memory a measure runs on. Fresh pages cost more than the copy that fills them, so fresh
/// and recycled memory are never mixed in one figure.
#pragma once

#include <byre/memory/allocator.hpp>

#include <cstddef>
#include <string>

namespace byre_bench {

enum class Memory {
  recycled,  ///< what was used before: the default pool, and a malloc that keeps all it ever had
  fresh,  ///< new pages each time: a pool that keeps nothing, and a malloc that maps large blocks
};

const char* to_string(Memory memory);

/// The default pool, or a pool with a limit of 0 bytes.
byre::Allocator& allocator_for(Memory memory);

/// Makes malloc behave as `memory` says for large blocks, whatever was freed before. Left alone,
/// its mmap threshold follows the largest block freed so far, and so would the figures.
void pin_malloc(Memory memory);

/// What pin_malloc sets, for the record.
std::string malloc_settings();

/// Bytes that malloc has handed out, what it adds to each block included. Less than 0: unknown.
long long malloc_nbytes_in_use();

/// True iff the machine has room for measures on buffers of this size.
bool has_room_for(std::size_t nbytes);

}  // namespace byre_bench
