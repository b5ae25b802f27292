// SPDX-License-Identifier: BSL-1.0
/// Pins that are released while their storage is cloned, and pinned to read.
#include <byre/storage/detail/buffer_impl.hpp>
#include <byre/storage/pin.hpp>
#include <byre/storage/storage.hpp>

#include <array>
#include <utility>

#include "buffers.hpp"

namespace byre::verification {
namespace {

/// A storage that a consumer writes by the pointer of a pin, and then unpins.
class PinnedStorage {
 public:
  PinnedStorage() {
    storage_ = Storage(buffer_of(7, memory_));
    consumer_ = storage_.pin();
    expect(storage_.is_pinned(), "a storage is pinned from the pin on");
    expect(!storage_.lazy_clone().shares_data_with(storage_), "a clone of pinned data is a copy");
    expect(memory_.copies() == 1, "which is made at once");
  }

 protected:
  using Storage = basic_storage<Checked>;
  using Pin = Storage::Pin;

  void write_and_unpin() {
    cell(consumer_.mutable_data()).set(8);
    consumer_ = Pin();
  }
  void expect_unpinned() {
    clone_ = Storage();
    expect(!storage_.is_pinned(), "a storage is not pinned once its pins are released");
    expect(storage_.lazy_clone().shares_data_with(storage_), "and is shared again");
    expect(read(storage_) == 8, "what the consumer wrote is there");
  }

  Tracked memory_;
  Storage storage_;
  Storage clone_;  ///< of a scenario that makes one
  Pin consumer_;
};

class ClonesRaceUnpins : public TwoThreads, public PinnedStorage {
 public:
  static constexpr std::string_view cover_points[] = {"the pin is gone", "the pin is there"};

  void thread(unsigned index) {
    if (index == 0) {
      write_and_unpin();
    } else if (storage_.is_pinned()) {
      cover("the pin is there");
    } else {
      cover("the pin is gone");
      clone_ = storage_.lazy_clone();
      expect(clone_.shares_data_with(storage_), "without a pin a clone shares the data");
      expect(read(clone_) == 8, "which has all that was written by it");
    }
  }

  void after() { expect_unpinned(); }
};

/// Whoever pins to read meanwhile has an alias of pinned data, or a share of data that nobody writes.
template <unsigned Threads>
class PinsToReadRaceUnpins : public PinnedStorage {
 public:
  static constexpr unsigned threads = Threads;
  static constexpr std::string_view cover_points[] = {"the reader aliases", "the reader shares"};

  void thread(unsigned index) {
    if (index == 0) {
      write_and_unpin();
    } else if (index == 1) {
      reader_ = storage_.pin_to_read();
    } else if (!storage_.is_pinned()) {
      clone_ = storage_.lazy_clone();
    }
    if (index == 1 && Threads == 2) {
      // Not told by the count of pins, which is an edge of its own.
      const bool shares = storage_.use_count() == 2;
      cover(shares ? "the reader shares" : "the reader aliases");
      expect(!shares || cell(reader_.data()).get() == 8, "it reads what was written by the pin");
    }
  }

  void after() {
    const bool aliases = storage_.is_pinned();
    if constexpr (Threads > 2) {
      cover(aliases ? "the reader aliases" : "the reader shares");
    }
    expect(!(aliases && clone_.shares_data_with(storage_)), "pinned data is shared with no clone");
    clone_ = Storage();
    storage_.materialize();
    cell(storage_.mutable_data()).set(9);
    expect(cell(reader_.data()).get() == (aliases ? 9U : 8U), "only an alias sees a later write");
    cell(storage_.mutable_data()).set(8);
    reader_ = Pin();
    expect_unpinned();
  }

 private:
  Pin reader_;
};

/// A pin to write, which is a write: the other pin's holder does not write then, but may let go.
class PinsRaceUnpins : public TwoThreads, public PinnedStorage {
 public:
  void thread(unsigned index) {
    if (index == 0) {
      consumer_ = Pin();
    } else {
      other_ = storage_.pin();
    }
  }

  void after() {
    expect(storage_.is_pinned(), "a pin that was not released is there");
    other_ = Pin();
    cell(storage_.mutable_data()).set(8);
    expect_unpinned();
  }

 private:
  Pin other_;
};

/// Two that pin to read find each other's pins, and neither adds to one that is about to be taken back.
class PinsToReadRaceEachOther : public PinnedStorage {
 public:
  static constexpr unsigned threads = 3;
  static constexpr std::string_view cover_points[] = {"a reader aliases", "the clone shares"};

  void thread(unsigned index) {
    if (index == 0) {
      write_and_unpin();
      clone_ = storage_.lazy_clone();
    } else {
      readers_[index - 1] = storage_.pin_to_read();
    }
  }

  void after() {
    const bool aliases = storage_.is_pinned();
    const bool shares = clone_.shares_data_with(storage_);
    cover_if(aliases, "a reader aliases");
    cover_if(shares, "the clone shares");
    expect(!(aliases && shares), "pinned data is shared with no clone");
    readers_ = {};
    expect_unpinned();
  }

 private:
  std::array<Pin, 2> readers_;
};

const Scenario* const pins_scenarios[] = {
    scenario<ClonesRaceUnpins>("clones_race_unpins",
                               "Who clones a storage after its last pin was released shares the "
                               "data, and sees what was written by the pin."),
    scenario<PinsToReadRaceUnpins<2>>("pins_to_read_race_unpins",
                                      "Who pins a storage to read while its pin is released is an "
                                      "alias of pinned data, or shares data that nobody writes."),
    scenario<PinsToReadRaceUnpins<3>>(
        "pins_to_read_race_clones", "Meanwhile a third thread clones: pinned data is never shared.",
        reduced_search),
    scenario<PinsRaceUnpins>("pins_race_unpins",
                             "Of two pins one is made while the other is released: the storage is "
                             "pinned until both are."),
    scenario<PinsToReadRaceEachOther>("pins_to_read_race_each_other",
                                      "Two pin a storage to read while its pin is released and a "
                                      "clone is made: pinned data is never shared.",
                                      3),
};

}  // namespace
}  // namespace byre::verification
