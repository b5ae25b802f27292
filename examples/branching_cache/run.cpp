// SPDX-License-Identifier: BSL-1.0
#include "run.hpp"

#include "other_caches.hpp"
#include "process_memory.hpp"
#include "progress.hpp"
#include "tile_cache.hpp"
#include "workers.hpp"

#include <byre/memory/pages.hpp>
#include <byre/memory/pool.hpp>
#include <cstring>
#include <functional>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>

namespace examples::branching_cache {
namespace {

enum Memories : std::size_t { fresh, recycled };

std::int64_t live_bytes() noexcept {
  return byre::stats::snapshot().live_bytes;
}

std::optional<std::int64_t> gained_since(const std::optional<ResidentMemory>& before) {
  const auto now = resident_memory();
  if (!before || !now) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(now->nbytes) - static_cast<std::int64_t>(before->nbytes);
}

class Run {
 public:
  explicit Run(const Plan& plan) : plan_(plan) {}

  Results all() {
    // Not counted: a virtual machine is given memory by its host when it first touches it.
    once_plain();
    results_.plain.append = std::vector<Times>(2);
    std::vector<std::function<void()>> ways = {
        [this] { once_plain(); },
        [this] { once<TileCache>(results_.tiles); },
        [this] { once<BlockCache>(results_.blocks); },
        [this] { once<EagerCache>(results_.eager); },
    };
    const auto before = byre::stats::snapshot();
    for (std::size_t time = 0; time < plan_.repeat; ++time) {
      reads_back_ = time + 1 == plan_.repeat;
      for (const auto& way : ways) {
        way();
      }
      std::ranges::reverse(ways);
    }
    results_.counted = byre::stats::snapshot() - before;
    return std::move(results_);
  }

 private:
  /// One life in fresh memory, and one in what that left to a pool that gives nothing back.
  template <class Cache>
  void once(WayResult& way) {
    release_free_memory();
    const auto resident_before = resident_memory();
    byre::RecyclingPool pool(byre::usable_memory_nbytes());
    say(way, "prefix");
    Server<Cache> server(plan_, way.branches, pool);
    for (const Memories memory : {fresh, recycled}) {
      LiveBytes live{.prefix = live_bytes(), .changed = 0, .left = 0};
      say(way, "branches");
      way.make.push_back(server.make_branches());
      way.append[memory].push_back(server.append());
      if (memory == fresh && !way.resident_nbytes) {
        way.resident_nbytes = gained_since(resident_before);
      }
      way.change.push_back(server.change());
      live.changed = live_bytes();
      if (reads_back_) {
        say(way, "reading back");
        way.lives.push_back(server.check());
      }
      server.drop_all();
      live.left = live_bytes();
      if constexpr (std::is_same_v<Cache, TileCache>) {
        results_.live.push_back(live);
      }
    }
  }

  void once_plain() {
    byre::RecyclingPool pool(byre::usable_memory_nbytes());
    // Of no use but to take what the prefixes of the others take: else the system would have memory at hand
    // for this way that it has to find for the others.
    const std::size_t prefix_nbytes = plan_.prefix_tokens * plan_.token_nbytes();
    const Memory prefix(prefix_nbytes, pool);
    std::memset(prefix.data(), 1, prefix_nbytes);
    for (const Memories memory : {fresh, recycled}) {
      say(results_.plain, "branches");
      std::vector<PlainCache> caches;
      for (std::size_t number = 0; number < plan_.branches; ++number) {
        caches.emplace_back(plan_, pool);
      }
      results_.plain.append[memory].push_back(
          on_threads(plan_.threads, plan_.branches, [&](Part part) {
            TokenMaker maker(plan_);
            for (std::size_t step = 0; step < plan_.append_tokens; ++step) {
              throw_if_interrupted();
              for (std::size_t number = part.begin; number < part.end; ++number) {
                caches[number].append(maker.token(1 + number, plan_.prefix_tokens + step));
              }
            }
          }));
    }
  }

  void say(const WayResult& way, const char* what) {
    progress_.say(std::string(way.name) + ": " + what);
  }

  const Plan& plan_;
  bool reads_back_ = false;
  Progress progress_;
  Results results_{.plain = {.name = "plain memory", .branches = plan_.branches},
                   .eager = {.name = "eager copies", .branches = plan_.eager_branches},
                   .blocks = {.name = "shared blocks", .branches = plan_.branches},
                   .tiles = {.name = "byre's tiles", .branches = plan_.branches}};
};

}  // namespace

Results run(const Plan& plan) {
  return Run(plan).all();
}

}  // namespace examples::branching_cache
