// SPDX-License-Identifier: BSL-1.0
/// Recordings and the ledger while the heap lacks memory, and with a user's operator new that uses
/// byre.
#include <byre/observe/recording.hpp>
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>

#include <optional>

#include "support/complaint.hpp"
#include "support/counted.hpp"
#include "support/failing_new.hpp"
#include "tagged.hpp"

namespace byre::test {
namespace {

class RecordingsAndTheHeap : public WithStats {};

TEST_F(RecordingsAndTheHeap, count_an_event_as_lost_if_the_heap_is_full) {
  const Buffer data = Buffer::allocate(100);
  const trace::Recording recording;
  {
    const FailingNew failing(0, Failures::all_that_follow);
    data.lazy_clone({"model.cpp", 1});
  }
  EXPECT_EQ(recording.lost(), 1U);
  data.lazy_clone({"model.cpp", 1});
  EXPECT_EQ(recording.lost(), 1U);
  EXPECT_TRUE(says(recording.summary(), "byre: trace: 1 lazy clone of 100 bytes, "));
}

TEST_F(RecordingsAndTheHeap, omit_events_of_an_operator_new_that_recording_calls) {
  static std::optional<Buffer> of_the_heap;
  of_the_heap = Buffer::allocate(7);
  const Buffer data = Buffer::allocate(100);
  {
    const trace::Recording earlier;
    data.lazy_clone({"model.cpp", 1});  // the log already knows this line afterwards
  }
  const trace::Recording recording;
  before_next_new = [] { of_the_heap->lazy_clone({"model.cpp", 1}); };
  data.lazy_clone({"model.cpp", 1});
  EXPECT_TRUE(says(recording.summary(), "byre: trace: 1 lazy clone of 100 bytes, "));
  of_the_heap.reset();
}

class TheLedgerAndTheHeap : public WithStats {};

TEST_F(TheLedgerAndTheHeap, data_is_untagged_and_counted_if_the_heap_is_full) {
  const std::uint64_t before = memory_report().lost;
  Buffer kept = tagged("kept", 1000);
  const Buffer clone = kept;
  {
    const ScopedTag scope("lost");
    const FailingNew failing(0, Failures::all_that_follow);
    const Buffer lost = plain(100);
    kept.mutable_data();  // neither the tag of the scope nor that of the source is stored
    clone.lazy_clone();
  }
  EXPECT_EQ(memory_report().lost, before + 1100);
  EXPECT_EQ(bytes_tagged("lost"), "");
  EXPECT_EQ(bytes_tagged("kept"), "1000 allocated");
  kept = Buffer();
  EXPECT_EQ(bytes_tagged("kept"), "1000 allocated");
}

TEST_F(TheLedgerAndTheHeap, left_data_is_unlisted_if_its_copy_has_no_entry) {
  Buffer state = tagged("state", 64);
  const Buffer saved = clone_in("checkpoint", state);
  {
    const FailingNew failing(0, Failures::all_that_follow);
    state.mutable_data();
  }
  EXPECT_EQ(bytes_tagged("state"), "64 allocated");
  EXPECT_EQ(left_of("state"), "");
}

TEST_F(TheLedgerAndTheHeap, a_copy_of_untagged_data_without_an_entry_loses_no_tag) {
  Buffer state = plain(64);
  const Buffer saved = clone_in("checkpoint", state);
  const std::uint64_t before = memory_report().lost;
  {
    const FailingNew failing(0, Failures::all_that_follow);
    state.mutable_data();
  }
  EXPECT_EQ(memory_report().lost, before);
}

TEST_F(TheLedgerAndTheHeap, data_of_an_operator_new_that_the_ledger_calls_is_untagged) {
  static std::optional<Buffer> of_the_heap;
  const std::uint64_t before = memory_report().lost;
  {
    const ScopedTag scope("heap");
    before_next_new = [] { of_the_heap = plain(7); };
    const Buffer data = plain(100);
    EXPECT_EQ(bytes_tagged("heap"), "100 allocated");
    EXPECT_EQ(memory_report().lost, before + 7);
    of_the_heap.reset();
  }
  EXPECT_EQ(bytes_tagged("heap"), "");
  EXPECT_FALSE(is_listening());
}

TEST_F(TheLedgerAndTheHeap, releases_need_no_memory) {
  std::optional<Buffer> data = tagged("data", 100);
  {
    const FailingNew failing(0, Failures::all_that_follow);
    data.reset();
  }
  EXPECT_EQ(bytes_tagged("data"), "");
}

}  // namespace
}  // namespace byre::test
