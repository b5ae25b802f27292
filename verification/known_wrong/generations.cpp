// SPDX-License-Identifier: BSL-1.0
/// Known-wrong forms of generations (the stamps by which a view family finds the writes of other
/// families). Two view families write a storage at once, and one of the writes is lost: no family
/// is found stale, or a reader misses a superseded write.
// The nothrow operator new is Relacy's. g++ does not recognize this, and warns about the delete.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

#include "../scenarios/write_records.hpp"
#include "../search.hpp"
#include "counts_writes_twice.hpp"

namespace byre::verification {
namespace {

/// Each of two families writes the storage once.
class CountsWritesTwice : public TwoThreads {
 public:
  void thread(unsigned index) {
    is_stale_[index] = families_[index].write(storage_, index + 1, [](auto) {}).has_value();
  }

  void after() {
    expect(is_stale_[0] || is_stale_[1], "at least one of two writing families is stale");
  }

 private:
  basic_counted_storage<Checked> storage_;
  basic_counting_family<Checked> families_[threads];
  bool is_stale_[threads] = {};
};

/// Replaces basic_write_records: does not store superseded writes.
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
        "With two counters of writes, compared and then incremented as in the design note, neither "
        "of two families that write at once is stale: G3.",
        Verdict::wrong_answer),
    known_wrong<EarlierWritesAreFound<ForgetfulRecords>>(
        "known_wrong.keeps_no_superseded_write",
        "If superseded writes are not stored, a family that observes the last write finds no "
        "earlier one: G5.",
        Verdict::wrong_answer),
};

}  // namespace
}  // namespace byre::verification
