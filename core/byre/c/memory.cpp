// SPDX-License-Identifier: BSL-1.0
#include <byre/c/detail/handles.hpp>
#include <byre/memory/host_allocators.hpp>
#include <byre/memory/pages.hpp>
#include <byre/memory/pool.hpp>
#include <byre/pages/paged_allocator.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>

using namespace byre;
using namespace byre::detail::from_c;

namespace {

static_assert(sizeof(PendingCopy) == sizeof(byre_pending_copy));

PendingCopy& copy_in(byre_pending_copy* pending) noexcept {
  return *reinterpret_cast<PendingCopy*>(pending);
}

byre_block block_of(const Block& block) noexcept {
  return {block.data, block.capacity, block.base};
}
Block block_of(const byre_block& block) noexcept {
  return {block.data, block.capacity, block.base};
}

/// An allocator that calls a table of functions. A derived class could override copies only if the
/// table has them, so this class decides at each call.
class TableAllocator final : public Allocator {
 public:
  TableAllocator(const byre_allocator_functions& functions, std::string&& name)
      : Allocator(Device(functions.device_kind, functions.device_index),
                  static_cast<CopiesEnd>(functions.copies_end)),
        functions_(functions),
        name_(std::move(name)) {}

  Block allocate(const Request& request) override {
    byre_block block{};
    expect_ok(functions_.allocate(functions_.user, request.nbytes, request.prefix, &block),
              "allocate", request);
    return checked(block, request);
  }

  Block allocate_copy(const Request& request, const void* source, std::size_t nbytes) override {
    if (functions_.allocate_copy == nullptr) {
      return Allocator::allocate_copy(request, source, nbytes);
    }
    byre_block block{};
    expect_ok(functions_.allocate_copy(functions_.user, request.nbytes, request.prefix, source,
                                       nbytes, &block),
              "allocate_copy", request);
    return checked(block, request);
  }

  Block submit_copy(const Request& request, const void* source, std::size_t nbytes,
                    PendingCopy& pending) override {
    if (functions_.submit_copy == nullptr) {
      return allocate_copy(request, source, nbytes);
    }
    byre_block block{};
    byre_pending_copy offered{};
    ::new (static_cast<void*>(&offered)) PendingCopy(std::move(pending));
    try {
      expect_ok(functions_.submit_copy(functions_.user, request.nbytes, request.prefix, source,
                                       nbytes, &block, &offered),
                "submit_copy", request);
      const Block made = checked(block, request);
      pending = std::move(copy_in(&offered));
      return made;
    } catch (const std::exception& error) {
      take_back(offered, pending, error.what());
      throw;
    } catch (...) {
      take_back(offered, pending, "it threw an exception of an unknown type.");
      throw;
    }
  }

  void deallocate(const Block& block) noexcept override {
    const byre_block given = block_of(block);
    functions_.deallocate(functions_.user, &given);
  }

  void copy(void* destination, const void* source, std::size_t nbytes) override {
    if (functions_.copy == nullptr) {
      Allocator::copy(destination, source, nbytes);
    } else if (nbytes != 0) {
      expect_ok(functions_.copy(functions_.user, destination, source, nbytes), "copy", {nbytes});
    }
  }

  const char* name() const noexcept override { return name_.c_str(); }

 private:
  /// Returns the handle of a copy that failed. The caller ends this copy, so it is an error if the
  /// table has the handle and ends the copy, too.
  static void take_back(byre_pending_copy& offered, PendingCopy& pending,
                        const char* why) noexcept {
    if (!copy_in(&offered)) {
      detail::fail_assertion(format_text("submit_copy took the handle of a copy, then failed: %s "
                                         "Take the handle when nothing can fail any more.",
                                         why)
                                 .chars.data());
    }
    pending = std::move(copy_in(&offered));
  }

  void expect_ok(byre_status status, const char* function, const Request& request) const {
    if (status == BYRE_OUT_OF_MEMORY) {
      throw OutOfMemory(request.nbytes, name());
    }
    if (status != BYRE_OK) {
      throw CallbackFailed(status, function, name());
    }
  }

  /// The block of the table, which must fit the request.
  Block checked(const byre_block& block, const Request& request) {
    if (block.data == nullptr) {
      if (request.prefix + request.nbytes != 0) {
        throw OutOfMemory(request.nbytes, name());
      }
    } else if (reinterpret_cast<std::uintptr_t>(block.data) % data_alignment != 0 ||
               block.capacity < request.nbytes) {
      deallocate(block_of(block));
      throw InvalidArgument(format_text(
          "%.200s returned %zu bytes at %p, required at least %zu bytes, aligned to %zu. Align the "
          "data that follows the prefix, and set `capacity`.",
          name(), block.capacity, block.data, request.nbytes, data_alignment));
    }
    return block_of(block);
  }

  const byre_allocator_functions functions_;
  const std::string name_;
};

/// A copy of a table, whose members of later versions than the table are zero. Throws
/// InvalidArgument for a table that no allocator can have.
byre_allocator_functions valid_copy(const byre_allocator_functions& given) {
  const auto refuse = [](const char* what, long long actual, const char* instead) {
    throw InvalidArgument(
        format_text("byre_allocator_create: %s is %lld. %s", what, actual, instead));
  };
  constexpr std::size_t first_version =
      offsetof(byre_allocator_functions, submit_copy) + sizeof given.submit_copy;
  if (given.struct_nbytes < first_version) {
    refuse("struct_nbytes", static_cast<long long>(given.struct_nbytes),
           "Set it to sizeof(byre_allocator_functions).");
  }
  byre_allocator_functions functions{};
  std::memcpy(&functions, &given, (std::min)(sizeof functions, given.struct_nbytes));
  if (functions.allocate == nullptr || functions.deallocate == nullptr) {
    refuse("a required function", 0, "Set allocate and deallocate.");
  }
  if (functions.device_kind == 0 && functions.device_index != 0) {
    refuse("device_index of the host", functions.device_index, "Set it to 0, or another kind.");
  }
  expect_enumerator(functions.copies_end, 3, "byre_copies_end");
  if (functions.device_kind == 0 && functions.copies_end != BYRE_COPIES_END_ON_RETURN) {
    refuse("copies_end of memory of the host", functions.copies_end,
           "Set it to BYRE_COPIES_END_ON_RETURN.");
  }
  return functions;
}

RecyclingPool& pool_of(const byre_pool* pool) noexcept {
  return *reinterpret_cast<RecyclingPool*>(const_cast<byre_pool*>(pool));
}
byre_pool* handle_of_pool(RecyclingPool& pool) noexcept {
  return reinterpret_cast<byre_pool*>(&pool);
}
const Allocator& allocator_or_default(const byre_allocator* allocator) noexcept {
  return detail::from_c::allocator_or_default(const_cast<byre_allocator*>(allocator));
}

}  // namespace

void byre_pending_copy_take(byre_pending_copy* from, byre_pending_copy* to) {
  if (from != nullptr && to != nullptr) {
    ::new (static_cast<void*>(to)) PendingCopy(std::move(copy_in(from)));
  }
}

void byre_pending_copy_end(byre_pending_copy* pending) {
  if (pending != nullptr) {
    copy_in(pending).end();
  }
}

byre_status byre_allocator_create(const byre_allocator_functions* functions,
                                  byre_allocator** result) {
  return guarded([=] {
    expect_given(functions, "byre_allocator_create", "functions");
    expect_given(result, "byre_allocator_create", "result");
    const byre_allocator_functions table = valid_copy(*functions);
    *result = handle_of(*made_new<TableAllocator>(
        table, std::string(table.name == nullptr ? "unnamed allocator" : table.name)));
  });
}

void byre_allocator_destroy(byre_allocator* allocator) {
  delete reinterpret_cast<Allocator*>(allocator);
}

byre_allocator* byre_default_allocator() {
  return handle_of(default_allocator());
}

byre_allocator* byre_aligned_allocator() {
  return handle_of(aligned_allocator());
}

byre_allocator* byre_paged_allocator() {
  return handle_of(paged_allocator());
}

const char* byre_allocator_name(const byre_allocator* allocator) {
  return allocator_or_default(allocator).name();
}

uint16_t byre_allocator_device_kind(const byre_allocator* allocator) {
  return allocator_or_default(allocator).device().kind();
}

uint16_t byre_allocator_device_index(const byre_allocator* allocator) {
  return allocator_or_default(allocator).device().index();
}

byre_status byre_allocator_allocate(byre_allocator* allocator, size_t nbytes, size_t prefix,
                                    byre_block* result) {
  return guarded([=] {
    expect_given(result, "byre_allocator_allocate", "result");
    if (nbytes > max_nbytes) {
      throw InvalidArgument::size_overflow(nbytes, max_nbytes);
    }
    if (prefix % data_alignment != 0 || prefix > 1024) {
      throw InvalidArgument(format_text(
          "byre_allocator_allocate: the prefix is %zu, required a multiple of %zu up to 1024. "
          "Pass the prefix that byre requested, or 0.",
          prefix, data_alignment));
    }
    *result = block_of(detail::from_c::allocator_or_default(allocator).allocate({nbytes, prefix}));
  });
}

byre_status byre_allocator_copy(byre_allocator* allocator, void* destination, const void* source,
                                size_t nbytes) {
  return guarded([=] {
    if ((destination == nullptr || source == nullptr) && nbytes != 0) {
      throw InvalidArgument::null_pointer("byre_allocator_copy", nbytes);
    }
    detail::from_c::allocator_or_default(allocator).copy(destination, source, nbytes);
  });
}

void byre_allocator_deallocate(byre_allocator* allocator, const byre_block* block) {
  if (block != nullptr) {
    detail::from_c::allocator_or_default(allocator).deallocate(block_of(*block));
  }
}

byre_pool* byre_default_pool() {
  return handle_of_pool(default_pool());
}

byre_status byre_pool_create(size_t limit_nbytes, byre_pool** result) {
  return guarded([=] {
    expect_given(result, "byre_pool_create", "result");
    *result = handle_of_pool(*made_new<RecyclingPool>(limit_nbytes));
  });
}

void byre_pool_destroy(byre_pool* pool) {
  delete reinterpret_cast<RecyclingPool*>(pool);
}

byre_allocator* byre_pool_allocator(byre_pool* pool) {
  return pool == nullptr ? nullptr : handle_of(pool_of(pool));
}

size_t byre_pool_default_limit_nbytes() {
  return RecyclingPool::default_limit_nbytes();
}

size_t byre_pool_limit_nbytes(const byre_pool* pool) {
  return pool == nullptr ? 0 : pool_of(pool).limit_nbytes();
}

size_t byre_pool_idle_nbytes(const byre_pool* pool) {
  return pool == nullptr ? 0 : pool_of(pool).idle_nbytes();
}

void byre_pool_set_limit_nbytes(byre_pool* pool, size_t limit_nbytes) {
  if (pool != nullptr) {
    pool_of(pool).set_limit_nbytes(limit_nbytes);
  }
}

void byre_pool_trim(byre_pool* pool, size_t keep_nbytes) {
  if (pool != nullptr) {
    pool_of(pool).trim(keep_nbytes);
  }
}

size_t byre_usable_memory_nbytes() {
  return usable_memory_nbytes();
}
