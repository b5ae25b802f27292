// SPDX-License-Identifier: BSL-1.0
#include <byre/storage/detail/allocated.hpp>

#include "../scenarios/buffers.hpp"

namespace byre::verification {

/// Wrong: an owner that has dropped the data reads the header once more, though only a field that never
/// changes.
class ReadsAfterDrop {
 public:
  static constexpr unsigned threads = 2;

  ReadsAfterDrop() { header_.share().add_owner(); }

  void thread(unsigned) {
    if (header_.share().drop_owner()) {
      header_.release();
    } else {
      expect(header_.capacity() != 0, "the header still reads what it read");
    }
  }

 private:
  using Allocated = cow::basic_allocated<Checked>;

  Tracked memory_;
  cow::basic_header<Checked>& header_ = *Allocated::create(1, memory_);
};

const Scenario reads_after_drop = scenario<ReadsAfterDrop>({
    .name = "known_wrong.reads_after_drop",
    .shows = "Even a constant of the header is read while its last owner frees it: I2.",
    .expected = Verdict::data_race,
});

}  // namespace byre::verification
