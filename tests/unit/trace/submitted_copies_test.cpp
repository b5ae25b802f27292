// SPDX-License-Identifier: BSL-1.0
/// What a recording has of copies that end later.
#include <byre/byre.hpp>
#include <byre/observe/recording.hpp>

#include <gtest/gtest.h>
#include <boost/thread/thread.hpp>

#include "events.hpp"
#include "support/at_once.hpp"
#include "support/counted.hpp"
#include "support/queued_device.hpp"

namespace byre::test {
namespace {

class RecordingsOfSubmittedCopies : public WithStats {};

TEST_F(RecordingsOfSubmittedCopies, have_them_and_steals_beside_them) {
  QueuedDevice device(CopiesEnd::in_order);
  Buffer source = Buffer::allocate(64, device);
  const trace::Recording recording;
  Buffer clone = source.lazy_clone(site(10));
  clone.materialize(Wait::allowed, site(20));
  source.materialize(Wait::allowed, site(30));
  device.run();
  const Events events(recording);
  const Json cloned = events.slices("clone").at(0);
  const Json copied = events.slices("copy (shared)").at(0);
  EXPECT_EQ(copied["args"]["bytes"], 64);
  EXPECT_EQ(copied["args"]["written_at"], "model.cpp:20");
  EXPECT_EQ(copied["args"]["cloned_at"], Json({"model.cpp:10"}));
  EXPECT_EQ(copied["args"]["data"], cloned["args"]["data"]);
  EXPECT_NE(copied["args"]["copy"], cloned["args"]["data"]);
  EXPECT_GE(copied["ts"], cloned["ts"]) << "it begins at the write";
  const Json stolen = events.slices("steal").at(0);
  EXPECT_EQ(stolen["args"]["bytes"], 64);
  EXPECT_EQ(stolen["args"]["written_at"], "model.cpp:30");
  EXPECT_EQ(stolen["args"]["data"], cloned["args"]["data"]);
  EXPECT_GE(stolen["ts"], copied["ts"]);
}

TEST_F(RecordingsOfSubmittedCopies, have_the_wait_for_one) {
  QueuedDevice device(CopiesEnd::later);
  Buffer source = Buffer::allocate(64, device);
  Buffer clone = source;
  clone.materialize();
  const trace::Recording recording;
  const Counted counted;
  boost::thread other([&] {
    await([&] { return counted.since().waits != 0; });
    device.run();
  });
  source.materialize(Wait::allowed, site(30));
  other.join();
  const Events events(recording);
  const Json waited = events.slices("wait for a copy").at(0);
  const Json stolen = events.slices("steal").at(0);
  EXPECT_EQ(waited["args"]["written_at"], "model.cpp:30");
  EXPECT_EQ(waited["ts"], stolen["ts"]) << "the write began with the wait";
}

}  // namespace
}  // namespace byre::test
