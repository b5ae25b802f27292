// SPDX-License-Identifier: BSL-1.0
#include "../scenarios/reads_race_a_steal.hpp"
#include "../scenarios/resizes_race_drops.hpp"

namespace byre::verification {
/// Wrong: whoever asks whether it is alone reads the word relaxed.
struct RelaxedLoads : Checked {
  template <class Value>
  class Atomic : public Checked::Atomic<Value> {
   public:
    using Checked::Atomic<Value>::Atomic;

    Value load(sync::Step step, CallSite where = CallSite::current()) const {
      const auto row = [&](cow::ShareWordSite site) {
        return step.site == &cow::share_word_sites.rows[static_cast<std::size_t>(site)];
      };
      if (row(cow::ShareWordSite::is_writable) || row(cow::ShareWordSite::is_unique)) {
        step.order = std::memory_order::relaxed;
      }
      return Checked::Atomic<Value>::load(step, where);
    }
  };
};

template <class>
class RelaxedUniqueness : public basic_share_word<RelaxedLoads> {
  using basic_share_word::basic_share_word;
};

extern const Scenario relaxed_uniqueness_writes;
const Scenario relaxed_uniqueness_writes = scenario<ReadsRaceASteal<RelaxedUniqueness>>({
    .name = "control.relaxed_uniqueness_writes",
    .shows = "A relaxed look at the count does not order a write after a former owner's reads: I5.",
    .expected = Verdict::data_race,
});

extern const Scenario relaxed_uniqueness_resizes;
const Scenario relaxed_uniqueness_resizes = scenario<ResizesRaceDrops<RelaxedUniqueness>>({
    .name = "control.relaxed_uniqueness_resizes",
    .shows = "Nor a change of size: I5.",
    .expected = Verdict::data_race,
});

}  // namespace byre::verification
