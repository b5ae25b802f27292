// SPDX-License-Identifier: BSL-1.0
/// What one would write instead of tile_cache.hpp, with the same members.
#pragma once

#include "memory.hpp"
#include "options.hpp"

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace examples::branching_cache {

/// All tokens in a row, with room for all that will come. A branch copies them.
class EagerCache {
 public:
  EagerCache(const Plan& plan, byre::Allocator& allocator)
      : allocator_(&allocator),
        token_nbytes_(plan.token_nbytes()),
        capacity_nbytes_(plan.most_tokens() * token_nbytes_),
        memory_(capacity_nbytes_, allocator) {}
  EagerCache(const EagerCache& other)
      : allocator_(other.allocator_),
        token_nbytes_(other.token_nbytes_),
        capacity_nbytes_(other.capacity_nbytes_),
        tokens_(other.tokens_),
        memory_(capacity_nbytes_, *allocator_) {
    std::memcpy(memory_.data(), other.memory_.data(), tokens_ * token_nbytes_);
  }
  EagerCache& operator=(const EagerCache&) = delete;

  std::size_t tokens() const noexcept { return tokens_; }
  void append(std::span<const std::byte> token) {
    std::memcpy(memory_.data() + tokens_++ * token_nbytes_, token.data(), token.size());
  }
  void truncate(std::size_t tokens) { tokens_ = tokens; }
  const std::byte* token(std::size_t position) const {
    return memory_.data() + position * token_nbytes_;
  }

 private:
  byre::Allocator* allocator_;
  std::size_t token_nbytes_;
  std::size_t capacity_nbytes_;
  std::size_t tokens_ = 0;
  Memory memory_;
};

/// A table of blocks, one shared pointer each, as servers have it. A branch copies the table. A last
/// block with room is copied by who appends to it, unless nobody else has it.
class BlockCache {
 public:
  BlockCache(const Plan& plan, byre::Allocator& allocator)
      : allocator_(&allocator),
        token_nbytes_(plan.token_nbytes()),
        tile_tokens_(plan.tile_tokens) {}

  std::size_t tokens() const noexcept { return tokens_; }

  void append(std::span<const std::byte> token) {
    const std::size_t within = tokens_ % tile_tokens_;
    if (within == 0) {
      blocks_.push_back(allocate());
    } else if (blocks_.back().use_count() != 1) {
      // Right here only: the prefix has its blocks throughout, and all who share another one with room
      // are of one thread. Elsewhere another thread could let go of the block just now: use_count()
      // orders nothing before the write that follows.
      auto copy = allocate();
      std::memcpy(copy->data(), blocks_.back()->data(), within * token_nbytes_);
      blocks_.back() = std::move(copy);
      ++copies_;
    }
    std::memcpy(blocks_.back()->data() + within * token_nbytes_, token.data(), token.size());
    ++tokens_;
  }
  void truncate(std::size_t tokens) {
    blocks_.resize((tokens + tile_tokens_ - 1) / tile_tokens_);
    tokens_ = tokens;
  }
  const std::byte* token(std::size_t position) const {
    return blocks_[position / tile_tokens_]->data() + position % tile_tokens_ * token_nbytes_;
  }
  /// Blocks that this and what it is a copy of have copied.
  std::size_t copies() const noexcept { return copies_; }

 private:
  std::shared_ptr<Memory> allocate() const {
    return std::make_shared<Memory>(tile_tokens_ * token_nbytes_, *allocator_);
  }

  byre::Allocator* allocator_;
  std::size_t token_nbytes_;
  std::size_t tile_tokens_;
  std::size_t tokens_ = 0;
  std::size_t copies_ = 0;
  std::vector<std::shared_ptr<Memory>> blocks_;
};

/// What is appended to a branch, and no more: the least that keeping it can cost.
class PlainCache {
 public:
  PlainCache(const Plan& plan, byre::Allocator& allocator)
      : allocator_(&allocator), capacity_nbytes_(plan.append_tokens * plan.token_nbytes()) {}

  void append(std::span<const std::byte> token) {
    if (used_nbytes_ == 0) {
      memory_ = Memory(capacity_nbytes_, *allocator_);
    }
    std::memcpy(memory_.data() + used_nbytes_, token.data(), token.size());
    used_nbytes_ += token.size();
  }
  const std::byte* data() const noexcept { return memory_.data(); }

 private:
  byre::Allocator* allocator_;
  std::size_t capacity_nbytes_;
  std::size_t used_nbytes_ = 0;
  Memory memory_;
};

}  // namespace examples::branching_cache
