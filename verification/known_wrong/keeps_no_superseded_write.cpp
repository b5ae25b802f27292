// SPDX-License-Identifier: BSL-1.0
/// Writes to a storage as they are, but for a step: what a write supersedes is kept nowhere.
// A new that answers null is Relacy's too, a call further than g++ sees.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

#include "../scenarios/write_records.hpp"

namespace byre::verification {
namespace {

/// In the place of basic_write_records.
struct ForgetfulRecords : Records {
  template <class Family>
  std::optional<WriteStamp> write(Family& family, typename Family::StorageGeneration& storage,
                                  RecordId record) noexcept {
    return family.write(storage, record, [](WriteStamp) {});
  }
};

}  // namespace

const Scenario keeps_no_superseded_write = scenario<EarlierWritesAreFound<ForgetfulRecords>>({
    .name = "known_wrong.keeps_no_superseded_write",
    .shows = "Where what a write supersedes is not kept, who observes the last write finds no "
             "other: G5.",
    .expected = Verdict::wrong_answer,
});

}  // namespace byre::verification
