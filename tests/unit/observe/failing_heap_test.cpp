// SPDX-License-Identifier: BSL-1.0
/// Recordings while the heap lacks memory, and with a user's operator new that uses byre.
#include <byre/observe/recording.hpp>
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>

#include <optional>

#include "support/complaint.hpp"
#include "support/counted.hpp"
#include "support/failing_new.hpp"

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

}  // namespace
}  // namespace byre::test
