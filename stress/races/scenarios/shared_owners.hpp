// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../run_scenario.hpp"

namespace byre::stress::races {

/// The start of most scenarios: a round begins with each thread an owner of the same data.
template <class Buffer>
class SharedOwners : public Scenario {
 public:
  explicit SharedOwners(Fixture& fixture) : fixture_(fixture), owners_(fixture.threads) {}

  void prepare() override { share(fixture_.filled<Buffer>(fixture_.original())); }

 protected:
  void share(const Buffer& original) { std::fill(owners_.begin(), owners_.end(), original); }

  Materialized write(unsigned thread, Wait wait = Wait::allowed) {
    return fixture_.write(thread, owners_[thread], fixture_.original(), wait);
  }
  void drop(unsigned thread) { fixture_.drop(thread, owners_[thread]); }

  /// Each round another thread has the special part.
  unsigned special_thread() const {
    return static_cast<unsigned>(fixture_.round % fixture_.threads);
  }

  void expect_original(unsigned thread, const char* what) {
    fixture_.expect_content(owners_[thread], fixture_.original(), what);
  }
  void expect_written(unsigned thread) {
    fixture_.expect_content(owners_[thread], fixture_.stamp(thread), "what a writer left");
  }
  void expect_copies(std::uint64_t count) {
    fixture_.expect_equal(fixture_.counts().copied, count, "copies");
  }
  void expect_live_blocks(std::uint64_t count, const char* what) {
    fixture_.expect_equal(fixture_.memory.live_blocks(), count, what);
  }
  void drop_all() {
    share(Buffer());
    expect_live_blocks(0, "blocks without an owner");
  }

  Fixture& fixture_;
  std::vector<Buffer> owners_;
};

}  // namespace byre::stress::races
