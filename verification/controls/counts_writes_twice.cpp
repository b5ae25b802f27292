// SPDX-License-Identifier: BSL-1.0
/// Generations as the seed says them, and wrong: the storage and the family each count writes, a
/// write bumps the two one after the other, and an access compares them.
#include <byre/sync/site.hpp>

#include "../search.hpp"

namespace byre::verification {
namespace {

enum class CountsWritesTwiceSite : std::uint8_t { storage, family, bump_storage, bump_family };

constexpr sync::SiteTable<CountsWritesTwiceSite, 4> counts_writes_twice_sites{{{
    {"counts_writes_twice.storage", sync::Operation::load, std::memory_order::acquire, "", ""},
    {"counts_writes_twice.family", sync::Operation::load, std::memory_order::acquire, "", ""},
    {"counts_writes_twice.bump_storage", sync::Operation::fetch_add, std::memory_order::acq_rel, "",
     ""},
    {"counts_writes_twice.bump_family", sync::Operation::fetch_add, std::memory_order::acq_rel, "",
     ""},
}}};

/// Two families write one storage, each after a look whether the other did.
class CountsWritesTwice {
 public:
  static constexpr unsigned threads = 2;

  void thread(unsigned index) {
    told_[index] = storage_.load(sites.at(At::storage, std::memory_order::acquire)) !=
                   families_[index].load(sites.at(At::family, std::memory_order::acquire));
    storage_.fetch_add(1, sites.at(At::bump_storage, std::memory_order::acq_rel));
    families_[index].fetch_add(1, sites.at(At::bump_family, std::memory_order::acq_rel));
  }

  void after() {
    expect(told_[0] || told_[1], "of two families that write one is told of the other");
  }

 private:
  using At = CountsWritesTwiceSite;
  static constexpr const auto& sites = counts_writes_twice_sites;

  Checked::Atomic<std::uint64_t> storage_{0};
  Checked::Atomic<std::uint64_t> families_[threads] = {Checked::Atomic<std::uint64_t>(0),
                                                       Checked::Atomic<std::uint64_t>(0)};
  bool told_[threads] = {};
};

}  // namespace

extern const Scenario counts_writes_twice;
const Scenario counts_writes_twice = scenario<CountsWritesTwice>({
    .name = "control.counts_writes_twice",
    .shows = "Two counters of writes, compared and then bumped, let two families write at once "
             "with neither told.",
    .expected = Verdict::wrong_answer,
});

}  // namespace byre::verification
