// SPDX-License-Identifier: BSL-1.0
// From numbers of up to 3, and with such to set or to add. Parts are written as their numbers.
#include <byre/observe/detail/cells.hpp>
#include <byre/sync/detail/published.hpp>
#include <byre/sync/detail/relaxed_counter.hpp>

#include "steps.hpp"

namespace byre::verification {
namespace {

constexpr std::uint64_t most = 3;

template <class Object>
struct Operation {
  const char* name;
  std::string (*run)(Object&, std::uint64_t some);
};

using Counter = sync::detail::basic_relaxed_counter<Recorded>;
constexpr Operation<Counter> of_counter[] = {
    {"relaxed_counter.add", [](Counter& counter, std::uint64_t) { return words(counter.add()); }},
    {"relaxed_counter.subtract",
     [](Counter& counter, std::uint64_t) { return counter.subtract(), std::string("-"); }},
    {"relaxed_counter.value",
     [](Counter& counter, std::uint64_t) { return words(counter.value()); }},
    {"relaxed_counter.set",
     [](Counter& counter, std::uint64_t some) { return counter.set(some), std::string("-"); }},
};

using Shard = stats::detail::basic_shard<Recorded>;
constexpr Operation<Shard> of_shard[] = {
    {"stats.add",
     [](Shard& shard, std::uint64_t some) {
       shard.add(stats::Counter::lazy_clones, static_cast<std::int64_t>(some));
       return std::string("-");
     }},
    {"stats.get",
     [](Shard& shard, std::uint64_t) { return words(shard.get(stats::Counter::lazy_clones)); }},
};

using Flag = stats::detail::basic_relaxed_flag<Recorded>;
constexpr Operation<Flag> of_flag[] = {
    {"relaxed_flag.is_set",
     [](Flag& flag, std::uint64_t) { return words(unsigned{flag.is_set()}); }},
    {"relaxed_flag.set",
     [](Flag& flag, std::uint64_t some) { return flag.set(some != 0), std::string("-"); }},
};

struct Part {};
Part parts[most + 2];
std::uint64_t number_of(const Part* part) {
  return part == nullptr ? 0 : static_cast<std::uint64_t>(part - parts);
}
std::uint64_t word_of(std::uint64_t number) {
  return number == 0 ? 0 : reinterpret_cast<std::uintptr_t>(parts + number);
}
/// `some` parts were published.
using Published = sync::detail::basic_published<Recorded, Part>;
constexpr Operation<Published> of_published[] = {
    {"published.get",
     [](Published& published, std::uint64_t) { return words(number_of(published.get())); }},
    {"published.set",
     [](Published& published, std::uint64_t some) {
       return published.set(parts + some + 1), std::string("-");
     }},
};

template <class Object>
void print(const Operation<Object>& operation, std::uint64_t word, std::uint64_t some,
           std::string numbers) {
  recording.clear();
  Object object;
  *recording.atomics[0] = word;
  recording.begin(words(operation.name, numbers));
  recording.end(operation.run(object, some));
}

template <class Object, std::size_t Size>
void print(const Operation<Object> (&operations)[Size]) {
  for (const Operation<Object>& operation : operations) {
    for (std::uint64_t now = 0; now <= most; ++now) {
      if constexpr (std::is_same_v<Object, Published>) {
        print(operation, word_of(now), now, words(now));
        continue;
      }
      for (std::uint64_t some = 0; some <= most; ++some) {
        const std::uint64_t word = std::is_same_v<Object, Counter> ? now + 1
                                   : std::is_same_v<Object, Flag>  ? std::min<std::uint64_t>(now, 1)
                                                                   : now;
        print(operation, word, some, words(now, some));
      }
    }
  }
}

}  // namespace

unsigned print_counter_steps() {
  recording.text = [](const sync::Site&, std::uint64_t word) { return std::to_string(word); };
  print(of_counter);
  print(of_shard);
  print(of_flag);
  recording.text = [](const sync::Site&, std::uint64_t word) {
    return std::to_string(
        number_of(reinterpret_cast<const Part*>(static_cast<std::uintptr_t>(word))));
  };
  print(of_published);
  return recording.report_unreached(sync::detail::relaxed_counter_sites, {}) +
         recording.report_unreached(stats::detail::shard_sites, {}) +
         recording.report_unreached(stats::detail::relaxed_flag_sites, {}) +
         recording.report_unreached(sync::detail::published_sites, {});
}

}  // namespace byre::verification
