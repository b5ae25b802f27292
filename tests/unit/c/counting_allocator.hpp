// SPDX-License-Identifier: BSL-1.0
/// An allocator of the C interface that counts its calls and fails on request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "values.hpp"

namespace byre::test {

/// An allocator of a program in C: counts its calls, and fails on request.
struct Counting {
  int allocated = 0, deallocated = 0, copied = 0, allocated_copies = 0, submitted = 0;
  byre_status allocate_status = BYRE_OK, copy_status = BYRE_OK;
  bool is_null = false, is_misaligned = false, is_small = false, takes_pending = true;
  bool takes_before_it_fails = false, throws_a_number = false;
  int failing_copy = 0;            // the number of the copy that fails
  byre_pending_copy pending[2]{};  // of the first copies

  byre_allocator_functions functions() {
    byre_allocator_functions table{};
    table.struct_nbytes = sizeof table;
    table.user = this;
    table.name = "counting allocator";
    table.allocate = [](void* user, std::size_t nbytes, std::size_t prefix, byre_block* block) {
      return of(user).allocate(nbytes, prefix, block);
    };
    table.deallocate = [](void* user, const byre_block* block) {
      ++of(user).deallocated;
      std::free(block->base);
    };
    return table;
  }
  static Counting& of(void* user) { return *static_cast<Counting*>(user); }

  byre_status allocate(std::size_t nbytes, std::size_t prefix, byre_block* block) {
    if (allocate_status != BYRE_OK || is_null) {
      return allocate_status;
    }
    ++allocated;
    auto* const base = static_cast<char*>(std::malloc(prefix + nbytes + 128));
    const auto address = reinterpret_cast<std::uintptr_t>(base) + prefix;
    block->base = base;
    block->data = base + prefix + (64 - address % 64) + (is_misaligned ? 8 : 0);
    block->capacity = is_small ? nbytes - 1 : nbytes;
    return BYRE_OK;
  }
};

inline byre_status copy(void* user, void* destination, const void* source, std::size_t nbytes) {
  auto& counting = Counting::of(user);
  ++counting.copied;
  if (counting.copied == counting.failing_copy) {
    return BYRE_USER_STATUS;
  }
  if (counting.copy_status == BYRE_OK) {
    std::memcpy(destination, source, nbytes);
  }
  return counting.copy_status;
}

inline byre_status allocate_copy(void* user, std::size_t nbytes, std::size_t prefix,
                                 const void* source, std::size_t copied_nbytes, byre_block* block) {
  auto& counting = Counting::of(user);
  ++counting.allocated_copies;
  const byre_status status = counting.allocate(nbytes, prefix, block);
  if (status == BYRE_OK && block->data != nullptr) {
    std::memcpy(block->data, source, copied_nbytes);
  }
  return status;
}

inline byre_status submit_copy(void* user, std::size_t nbytes, std::size_t prefix,
                               const void* source, std::size_t copied_nbytes, byre_block* block,
                               byre_pending_copy* pending) {
  auto& counting = Counting::of(user);
  ++counting.submitted;
  const byre_status status = allocate_copy(user, nbytes, prefix, source, copied_nbytes, block);
  if (counting.takes_pending && (status == BYRE_OK || counting.takes_before_it_fails)) {
    byre_pending_copy_take(pending, &counting.pending[counting.submitted - 1]);
  }
  if (counting.throws_a_number) {
    std::free(block->base);
    throw 1;
  }
  return status;
}

/// An allocator whose table has copy().
struct Copying {
  Copying() {
    auto table = counting.functions();
    table.copy = &copy;
    EXPECT_TRUE(ok(byre_allocator_create(&table, allocator.result())));
  }
  Counting counting;
  CAllocator allocator;
};

}  // namespace byre::test
