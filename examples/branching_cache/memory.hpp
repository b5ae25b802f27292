// SPDX-License-Identifier: BSL-1.0
/// Plain memory of an allocator: what the ways without byre's copy-on-write are made of.
#pragma once

#include <byre/memory/allocator.hpp>

#include <cstddef>
#include <utility>

namespace examples::branching_cache {

class Memory {
 public:
  Memory() noexcept = default;
  Memory(std::size_t nbytes, byre::Allocator& allocator)
      : allocator_(&allocator), block_(allocator.allocate({.nbytes = nbytes})) {}
  Memory(Memory&& other) noexcept
      : allocator_(std::exchange(other.allocator_, nullptr)), block_(other.block_) {}
  Memory& operator=(Memory other) noexcept {
    std::swap(allocator_, other.allocator_);
    std::swap(block_, other.block_);
    return *this;
  }
  ~Memory() {
    if (allocator_ != nullptr) {
      allocator_->deallocate(block_);
    }
  }

  std::byte* data() const noexcept { return static_cast<std::byte*>(block_.data); }

 private:
  byre::Allocator* allocator_ = nullptr;  // null: there is none
  byre::Block block_{};
};

}  // namespace examples::branching_cache
