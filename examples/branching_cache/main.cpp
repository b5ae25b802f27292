// SPDX-License-Identifier: BSL-1.0
// branching_cache: serves many continuations of one prompt. See ../README.md.
#include "failure.hpp"
#include "format.hpp"
#include "on_threads.hpp"
#include "process_memory.hpp"
#include "run_program.hpp"
#include "tile_cache.hpp"

#include <byre/observe/counters.hpp>
#include <byre/storage/tiles/tiled_buffer.hpp>

#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace examples::branching_cache {
namespace {

/// The sizes of the run. The shapes are those of Llama 3 8B: a layer has 8 heads, each with a key
/// and a value of 128 bf16 numbers.
struct Plan {
  std::size_t layers;
  std::size_t prefix_tokens;
  std::size_t branches;
  std::size_t append_tokens;
  std::size_t threads;

  static constexpr std::size_t row_nbytes = 256;  ///< a key or a value
  static constexpr std::size_t tile_tokens = 16;
  std::size_t token_nbytes() const noexcept { return layers * 8 * 2 * row_nbytes; }
};

/// Makes tokens, one at a time. Not thread-safe.
class TokenMaker {
 public:
  explicit TokenMaker(const Plan& plan) : bytes_(plan.token_nbytes()) {}

  /// The bytes of a token, valid until the next call. `author` is a number that identifies the
  /// prefix, or a branch in one of its phases. Each key and value begins with eight bytes that are
  /// unique to the author, the token's position and the place in the token.
  std::span<const std::byte> token(std::uint64_t author, std::size_t position) noexcept {
    std::uint64_t stamp = (author << 40) + (std::uint64_t{position} << 16);
    for (std::size_t at = 0; at < bytes_.size(); at += Plan::row_nbytes, ++stamp) {
      std::memcpy(&bytes_[at], &stamp, sizeof stamp);
    }
    return bytes_;
  }

 private:
  std::vector<std::byte> bytes_;
};

/// A continuation of the prompt. Copying it makes another branch.
struct Branch {
  TileCache cache;
  std::size_t number = 0;
  bool is_child = false;

  void append(std::size_t count, std::uint64_t author, TokenMaker& maker) {
    for (const std::size_t end = cache.tokens() + count; cache.tokens() < end;) {
      throw_if_interrupted();
      cache.append(maker.token(author, cache.tokens()));
    }
  }
};

/// A server's branches of one prefix. Its functions must be called in the order of their
/// declaration. Each thread serves its own branches. A token is a function of its author and its
/// position, so every token can be checked when it is read back.
class Server {
 public:
  explicit Server(const Plan& plan)
      : plan_(plan), prefix_{TileCache(plan.token_nbytes(), Plan::tile_tokens)} {
    TokenMaker maker(plan);
    prefix_.append(plan.prefix_tokens, 0, maker);
  }

  void make_branches() {
    on_threads(plan_.threads, [&](std::size_t thread) {
      for (std::size_t number = thread; number < plan_.branches; number += plan_.threads) {
        served_[thread].push_back(prefix_);
        served_[thread].back().number = number;
      }
    });
  }

  /// Appends one token to each branch, then the next token to each branch, and so on, as a server
  /// does.
  void append() {
    on_threads(plan_.threads, [&](std::size_t thread) {
      TokenMaker maker(plan_);
      for (std::size_t step = 0; step < plan_.append_tokens; ++step) {
        for (auto& branch : served_[thread]) {
          branch.append(1, author(branch, 1), maker);
        }
      }
    });
  }

  /// Depending on its number modulo 4, a branch
  ///
  /// - stays unchanged (0),
  /// - is truncated to half of its own tokens, and appends half a tile (1),
  /// - appends half a tile and branches again, and both branches append half a tile (2), or
  /// - is dropped (3).
  void change() {
    constexpr std::size_t half = Plan::tile_tokens / 2;
    on_threads(plan_.threads, [&](std::size_t thread) {
      TokenMaker maker(plan_);
      std::vector<Branch> remaining;
      for (auto& branch : served_[thread]) {
        const std::size_t action = branch.number % 4;
        if (action == 1) {
          branch.cache.truncate(plan_.prefix_tokens + plan_.append_tokens / 2);
          branch.append(half, author(branch, 2), maker);
        } else if (action == 2) {
          branch.append(half, author(branch, 2), maker);
          remaining.push_back(branch);
          remaining.back().is_child = true;
          branch.append(half, author(branch, 2), maker);
          remaining.back().append(half, author(branch, 3), maker);
        }
        if (action != 3) {
          remaining.push_back(std::move(branch));
        }
      }
      served_[thread] = std::move(remaining);
    });
  }

  std::size_t count() const {
    std::size_t count = 0;
    for_each([&](const Branch&) { ++count; });
    return count;
  }

  /// The number of tokens that are wrong or missing. Memory that is shared with the prefix is read
  /// once.
  std::size_t wrong_tokens() const {
    TokenMaker maker(plan_);
    std::size_t wrong = 0;
    const auto check = [&](const TileCache& cache, std::size_t position, std::uint64_t author) {
      const auto made = maker.token(author, position);
      wrong += std::memcmp(cache.token(position), made.data(), made.size()) == 0 ? 0U : 1U;
    };
    for (std::size_t position = 0; position < plan_.prefix_tokens; ++position) {
      check(prefix_.cache, position, 0);
    }
    for_each([&](const Branch& branch) {
      const std::size_t tokens = plan_.prefix_tokens + appended_to(branch);
      for (std::size_t position = 0; position < tokens; ++position) {
        if (branch.cache.tokens() != tokens) {
          ++wrong;
        } else if (position >= plan_.prefix_tokens) {
          check(branch.cache, position, author_of(branch, position - plan_.prefix_tokens));
        } else if (branch.cache.token(position) != prefix_.cache.token(position)) {
          check(branch.cache, position, 0);
        }
      }
    });
    return wrong;
  }

  /// The number of tiles that branches do not share with the prefix.
  std::size_t unshared_tiles() const {
    std::size_t count = 0;
    for_each(
        [&](const Branch& branch) { count += branch.cache.count_unshared_tiles(prefix_.cache); });
    return count;
  }

  void drop_all() {
    for (auto& branches : served_) {
      branches.clear();
    }
  }

 private:
  static std::uint64_t author(const Branch& branch, std::uint64_t of) noexcept {
    return 4 * branch.number + of;
  }
  std::size_t appended_to(const Branch& branch) const noexcept {
    const std::size_t action = branch.number % 4;
    return action == 1   ? plan_.append_tokens / 2 + Plan::tile_tokens / 2
           : action == 2 ? plan_.append_tokens + Plan::tile_tokens
                         : plan_.append_tokens;
  }
  /// The author of a branch's own token; `place` counts from the end of the prefix.
  std::uint64_t author_of(const Branch& branch, std::size_t place) const noexcept {
    const std::size_t first =
        branch.number % 4 == 1 ? plan_.append_tokens / 2 : plan_.append_tokens;
    const bool is_by_child = branch.is_child && place >= first + Plan::tile_tokens / 2;
    return author(branch, place < first ? 1 : is_by_child ? 3 : 2);
  }

  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const auto& branches : served_) {
      for (const auto& branch : branches) {
        throw_if_interrupted();
        visit(branch);
      }
    }
  }

  Plan plan_;
  Branch prefix_;
  std::vector<std::vector<Branch>> served_ = std::vector<std::vector<Branch>>(plan_.threads);
};

Report work(const Arguments& given) {
  const auto count = [&](const char* name, std::uint64_t most) {
    return static_cast<std::size_t>(given.number(name, 1, most));
  };
  const Plan plan{count("layers", 256), count("prefix-tokens", 1 << 20), count("branches", 1 << 16),
                  count("append-tokens", 1 << 16), count("threads", 64)};
  const auto resident = resident_nbytes();
  Server server(plan);
  const auto before = byre::stats::snapshot();

  const std::int64_t make_ns = time_ns([&] { server.make_branches(); });
  const std::int64_t append_ns = time_ns([&] { server.append(); });
  const auto gained = resident_nbytes();
  const std::int64_t change_ns = time_ns([&] { server.change(); });
  const auto changed = byre::stats::snapshot() - before;

  const auto us_each = [&](std::int64_t ns) {
    return static_cast<double>(ns) / static_cast<double>(plan.branches) / 1e3;
  };
  const auto needed = static_cast<std::int64_t>(
      (plan.prefix_tokens + plan.branches * plan.append_tokens) * plan.token_nbytes());
  const std::int64_t extra = resident && gained ? *gained - *resident - needed : 0;
  Report report;
  report.figures["branches"] = {
      {"make a branch, us", us_each(make_ns)},
      {"append to each, us", us_each(append_ns)},
      {"drop, truncate, branch, us each", us_each(change_ns)},
      {"extra memory, KiB each",
       if_known(gained, static_cast<double>(extra) / 1024 / static_cast<double>(plan.branches))},
      {"remaining branches", server.count()},
      {"wrong tokens", server.wrong_tokens()},
      {"tiles not shared with the prefix", server.unshared_tiles()},
      {"copies by byre", if_known(BYRE_STATS, changed.copies)},
      {"MiB alive besides the prefix",
       if_known(BYRE_STATS, static_cast<double>(changed.live_bytes) / (1 << 20))},
  };
  server.drop_all();
  if (report.figures["branches"]["wrong tokens"] != 0) {
    report.faults.push_back("Some tokens differ from those that were appended.");
  }
  if ((byre::stats::snapshot() - before).live_bytes != 0) {
    report.faults.push_back("The memory of dropped branches was not released.");
  }
  report.text =
      format("%zu tokens of %zu KiB = ", plan.prefix_tokens, plan.token_nbytes() / 1024) +
      mebibytes(plan.prefix_tokens * plan.token_nbytes()) +
      format("; %zu branches append %zu tokens each = ", plan.branches, plan.append_tokens) +
      mebibytes(plan.branches * plan.append_tokens * plan.token_nbytes()) +
      format(", by %zu threads\n\n", plan.threads) + table_of(report.figures);
  return report;
}

}  // namespace
}  // namespace examples::branching_cache

int main(int argc, char** argv) {
  return examples::run_program(
      {.name = "branching_cache",
       .about =
           R"(Serves many continuations of one prompt, as beam search, sampling and agents do. The
keys and values that a language model stores for the prompt are a prefix in a
byre::TiledBuffer, which all branches share. Each branch appends its own tokens; then
some branches are dropped, some are truncated, and some branch again. Finally, the
program checks every token of every branch.
)",
       .options = {{"layers", "4", "layers of the model; a layer stores 4 KiB per token"},
                   {"prefix-tokens", "8192", "tokens in the shared prefix"},
                   {"branches", "1000", "branches of the prefix"},
                   {"append-tokens", "64", "tokens that each branch appends"},
                   {"threads", "2", "threads that serve the branches"}},
       .work = examples::branching_cache::work},
      argc, argv);
}
