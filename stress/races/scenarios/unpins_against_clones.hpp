// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <byre/storage/pin.hpp>

#include <vector>

#include "loops_at_once.hpp"

namespace byre::stress::races {

/// One thread writes by the pointer of a pin and releases it. Of the others half pin the storage to read meanwhile,
/// and half clone it once it is not pinned. Either nobody shares the data, and all readers are aliases of it; or it
/// is not pinned, and all readers share what the pin wrote.
template <class Buffer>
class UnpinsAgainstClones final : public Scenario {
 public:
  explicit UnpinsAgainstClones(Fixture& fixture) : fixture_(fixture), threads_(fixture.threads) {
    fixture.counts_copies = false;  // who clones what is pinned again does not know that it copies
  }

  void prepare() override {
    storage_ = Storage(fixture_.filled<Buffer>(fixture_.original()));
    threads_[0].pin = storage_.pin();
  }

  void act(unsigned thread) override {
    OfThread& mine = threads_[thread];
    const Storage& storage = storage_;
    if (thread == 0) {
      fixture_.record(thread, "writes and releases its pin");
      fixture_.fill(mine.pin.mutable_data(), fixture_.stamp(0));
      mine.pin = Pin();
    } else if (thread % 2 == 1) {
      fixture_.record(thread, "pins to read");
      mine.pin = storage.pin_to_read();
    } else {
      fixture_.take_turns(thread, 20, [&](std::uint64_t) {
        if (!mine.clone && !storage.is_pinned()) {
          mine.clone = fixture_.clone(thread, storage);
          fixture_.expect_content(mine.clone, fixture_.stamp(0), "a clone has what the pin wrote");
        }
      });
    }
    fixture_.record(thread, "done");
  }

  void check() override {
    const bool is_pinned = storage_.is_pinned();
    fixture_.expect(!is_pinned || storage_.use_count() == 1, "pinned data is not shared");
    if (fixture_.has_failed()) {
      return;  // a pin may be of memory that a clone is about to release
    }
    const std::uint64_t written = fixture_.stamp(fixture_.threads);
    fixture_.fill(storage_.mutable_data(), written);
    for (unsigned thread = 0; thread < fixture_.threads; ++thread) {
      OfThread& each = threads_[thread];
      if (each.pin.data() != nullptr) {
        fixture_.expect_content(each.pin, is_pinned ? written : fixture_.stamp(0),
                                "an alias sees a later write, and nobody else does");
      }
      if (each.clone) {
        fixture_.expect_content(each.clone, fixture_.stamp(0), "no clone sees a later write");
      }
      each = OfThread();
    }
    fixture_.expect(!storage_.is_pinned(), "a storage is not pinned once its pins are released");
    storage_ = Storage();
    fixture_.expect_equal(fixture_.memory.live_blocks(), 0, "blocks without an owner");
  }

 private:
  using Storage = basic_storage<typename SyncOf<Buffer>::Sync>;
  using Pin = typename Storage::Pin;

  struct alignas(64) OfThread {
    Pin pin;
    Storage clone;
  };

  Fixture& fixture_;
  Storage storage_;
  std::vector<OfThread> threads_;
};

}  // namespace byre::stress::races
