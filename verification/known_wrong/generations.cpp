// SPDX-License-Identifier: BSL-1.0
/// Generations of shadow storages, wrong.
// A new that answers null is Relacy's too, a call further than g++ sees.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

#include "../scenarios/write_records.hpp"
#include "../search.hpp"
#include "counts_writes_twice.hpp"

namespace byre::verification {
namespace {

/// Two families write one storage, once each.
class CountsWritesTwice : public TwoThreads {
 public:
  void thread(unsigned index) {
    is_stale_[index] = families_[index].write(storage_, index + 1, [](auto) {}).has_value();
  }

  void after() {
    expect(is_stale_[0] || is_stale_[1], "of two families that write one is stale of the other");
  }

 private:
  basic_counted_storage<Checked> storage_;
  basic_counting_family<Checked> families_[threads];
  bool is_stale_[threads] = {};
};

/// In the place of basic_write_records.
struct ForgetfulRecords : Records {
  template <class Family>
  std::optional<WriteStamp> write(Family& family, typename Family::StorageGeneration& storage,
                                  RecordId record) noexcept {
    return family.write(storage, record, [](WriteStamp) {});
  }
};

const Scenario* const known_wrong_generations[] = {
    known_wrong<CountsWritesTwice>(
        "known_wrong.counts_writes_twice",
        "Two counters of writes, compared and then bumped, as the seed says it, let two families "
        "write at once with neither stale of the other: G3.",
        Verdict::wrong_answer),
    known_wrong<EarlierWritesAreFound<ForgetfulRecords>>(
        "known_wrong.keeps_no_superseded_write",
        "If superseded writes are not kept, a family that observes the last write finds no other: "
        "G5.",
        Verdict::wrong_answer),
};

}  // namespace
}  // namespace byre::verification
