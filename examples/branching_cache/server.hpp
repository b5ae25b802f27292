// SPDX-License-Identifier: BSL-1.0
/// A server's branches of one prefix, over any of the caches, from made to dropped.
#pragma once

#include "failure.hpp"
#include "options.hpp"
#include "tokens.hpp"
#include "workers.hpp"

#include <byre/memory/allocator.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace examples::branching_cache {

/// What reading all branches back found.
struct Findings {
  std::size_t living = 0;         ///< branches that are not dropped
  std::size_t wrong_tokens = 0;   ///< that read as another token, or are missing
  std::size_t copied_tokens = 0;  ///< that a branch has again, though it did not write them
  std::size_t copied_blocks = 0;  ///< by branches, and by what they branched from
  std::size_t own_tiles = 0;      ///< that branches do not share with the prefix
  std::size_t unlike_parent = 0;  ///< tiles that a branch of a branch does not share with that one

  Findings& operator+=(const Findings& other) noexcept {
    living += other.living;
    wrong_tokens += other.wrong_tokens;
    copied_tokens += other.copied_tokens;
    copied_blocks += other.copied_blocks;
    own_tiles += other.own_tiles;
    unlike_parent += other.unlike_parent;
    return *this;
  }
};

/// What becomes of a branch once it has its tokens: by its number, a quarter each.
enum class Fate { stays, truncated, branches_again, dropped };

inline Fate fate_of(std::size_t number) noexcept {
  return static_cast<Fate>(number % 4);
}

/// Its functions are called in their order.
template <class Cache>
class Server {
 public:
  /// Writes the prefix.
  Server(const Plan& plan, std::size_t branches, byre::Allocator& allocator)
      : plan_(&plan), prefix_(plan, allocator), branches_(branches), children_(branches) {
    TokenMaker maker(plan);
    for (std::size_t position = 0; position < plan.prefix_tokens; ++position) {
      prefix_.append(maker.token(prefix_author, position));
      throw_if_interrupted();
    }
  }

  Spent make_branches() {
    return on_threads(plan_->threads, branches_.size(), [&](Part part) {
      for (std::size_t number = part.begin; number < part.end; ++number) {
        branches_[number].cache.emplace(prefix_);
      }
    });
  }

  /// A token for each branch, then the next one, as a server decodes.
  Spent append() {
    ++life_;
    return on_threads(plan_->threads, branches_.size(), [&](Part part) {
      TokenMaker maker(*plan_);
      for (std::size_t step = 0; step < plan_->append_tokens; ++step) {
        throw_if_interrupted();
        for (std::size_t number = part.begin; number < part.end; ++number) {
          const std::size_t position = plan_->prefix_tokens + step;
          branches_[number].cache->append(maker.token(author_of(number, first), position));
        }
      }
    });
  }

  /// Drops some, truncates some, and branches some again, as they are fated.
  Spent change() {
    return on_threads(plan_->threads, branches_.size(), [&](Part part) {
      TokenMaker maker(*plan_);
      for (std::size_t number = part.begin; number < part.end; ++number) {
        throw_if_interrupted();
        change(number, maker);
      }
    });
  }

  /// Reads all back, whether or not it is shared. What is the prefix's memory is read once.
  Findings check() const {
    Findings all;
    TokenMaker maker(*plan_);
    for (std::size_t position = 0; position < plan_->prefix_tokens; ++position) {
      all.wrong_tokens += is_token(prefix_, position, prefix_author, maker) ? 0U : 1U;
    }
    std::mutex mutex;
    on_threads(plan_->threads, branches_.size(), [&](Part part) {
      const Findings found = check(part);
      const std::lock_guard lock(mutex);
      all += found;
    });
    return all;
  }

  void drop_all() {
    on_threads(plan_->threads, branches_.size(), [&](Part part) {
      for (std::size_t number = part.begin; number < part.end; ++number) {
        branches_[number].cache.reset();
        children_[number].cache.reset();
      }
    });
  }

 private:
  /// When a branch wrote a token. Each has tokens of its own, in each life of the server.
  enum Time : std::uint64_t { first, later, last, times };

  /// Who wrote the tokens from a position on.
  struct Segment {
    std::size_t begin;
    std::uint64_t author;
  };
  struct Branch {
    std::optional<Cache> cache;
    std::vector<Segment> segments;  // that change() left
    std::size_t tokens = 0;         // that it is to have
  };

  static constexpr std::uint64_t prefix_author = 0;

  /// Numbers from branches_.size() on are those of branches of branches.
  std::uint64_t author_of(std::size_t number, Time time) const noexcept {
    return 1 + (life_ * times + time) * 2 * branches_.size() + number;
  }

  void change(std::size_t number, TokenMaker& maker) {
    Branch& branch = branches_[number];
    branch.segments = {{0, prefix_author}, {plan_->prefix_tokens, author_of(number, first)}};
    branch.tokens = plan_->appended_to();
    switch (fate_of(number)) {
      case Fate::dropped:
        branch.cache.reset();
        break;
      case Fate::truncated:
        branch.tokens = plan_->truncated_to();
        branch.cache->truncate(branch.tokens);
        append_later(branch, author_of(number, later), maker);
        break;
      case Fate::branches_again: {
        append_later(branch, author_of(number, later), maker);
        Branch& child = children_[number];
        child.cache.emplace(*branch.cache);
        child.segments = branch.segments;
        child.tokens = branch.tokens;
        append_later(branch, author_of(number, last), maker);
        append_later(child, author_of(branches_.size() + number, last), maker);
        break;
      }
      case Fate::stays:
        break;
    }
  }

  void append_later(Branch& branch, std::uint64_t author, TokenMaker& maker) {
    branch.segments.push_back({branch.tokens, author});
    for (std::size_t count = 0; count < plan_->later_tokens(); ++count) {
      branch.cache->append(maker.token(author, branch.tokens++));
    }
  }

  Findings check(Part part) const {
    Findings found;
    TokenMaker maker(*plan_);
    for (std::size_t number = part.begin; number < part.end; ++number) {
      check_branch(branches_[number], nullptr, maker, found);
      check_branch(children_[number], &branches_[number], maker, found);
    }
    return found;
  }

  void check_branch(const Branch& branch, const Branch* parent, TokenMaker& maker,
                    Findings& found) const {
    if (!branch.cache) {
      return;
    }
    throw_if_interrupted();
    ++found.living;
    const Cache& cache = *branch.cache;
    if (cache.tokens() != branch.tokens) {
      found.wrong_tokens += branch.tokens;  // not read: some may not be there
      return;
    }
    const Cache& source = parent != nullptr ? *parent->cache : prefix_;
    const std::size_t inherited =
        parent != nullptr ? branch.segments.back().begin : plan_->prefix_tokens;
    auto segment = branch.segments.begin();
    for (std::size_t position = 0; position < branch.tokens; ++position) {
      const std::byte* const token = cache.token(position);
      if (position < inherited && token != source.token(position)) {
        ++found.copied_tokens;
      }
      if (position < plan_->prefix_tokens && token == prefix_.token(position)) {
        continue;
      }
      while (std::next(segment) != branch.segments.end() && std::next(segment)->begin <= position) {
        ++segment;
      }
      found.wrong_tokens += is_token(cache, position, segment->author, maker) ? 0U : 1U;
    }
    if constexpr (requires { cache.copies(); }) {
      found.copied_blocks += cache.copies();
    }
    if constexpr (requires { cache.tiles_that_differ_from(source); }) {
      found.own_tiles += cache.tiles_that_differ_from(prefix_);
      found.unlike_parent += parent != nullptr ? cache.tiles_that_differ_from(source) : 0;
    }
  }

  /// That of its author and place, and of no others.
  bool is_token(const Cache& cache, std::size_t position, std::uint64_t author,
                TokenMaker& maker) const {
    const std::byte* const token = cache.token(position);
    const auto is = [&](std::span<const std::byte> made) {
      return std::memcmp(token, made.data(), made.size()) == 0;
    };
    return is(maker.token(author, position)) && !is(maker.token(author + 1, position)) &&
           !is(maker.token(author, position + 1));
  }

  const Plan* plan_;
  Cache prefix_;
  std::vector<Branch> branches_;
  std::vector<Branch> children_;  // of the branches of the same numbers, if they have one
  std::uint64_t life_ = 0;
};

}  // namespace examples::branching_cache
