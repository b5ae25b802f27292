// SPDX-License-Identifier: BSL-1.0
/// Two or three threads clone a storage and pin it to read or to write, while a consumer writes
/// through a pin and releases it. Pinned data is not shared. A clone may share the data only after
/// the last pin was released, and then has to read all that was written through that pin. If the
/// decrement that releases a pin, or the load of the number of pins, is relaxed, a clone races the
/// consumer's write.
#include <byre/storage/detail/buffer_impl.hpp>
#include <byre/storage/pin.hpp>
#include <byre/storage/storage.hpp>

#include <array>
#include <utility>

#include "buffers.hpp"

namespace byre::verification {
namespace {

/// A storage that a consumer writes through a pin, which it then releases.
class PinnedStorage {
 public:
  PinnedStorage() {
    storage_ = Storage(buffer_of(7, memory_));
    consumer_ = storage_.pin();
    expect(storage_.is_pinned(), "a storage is pinned after pin()");
    expect(!storage_.lazy_clone().shares_data_with(storage_), "a clone of pinned data is a copy");
    expect(memory_.copies() == 1, "a clone of pinned data is made at once");
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
    expect(!storage_.is_pinned(), "a storage is not pinned after its pins were released");
    expect(storage_.lazy_clone().shares_data_with(storage_),
           "a storage without pins shares its data");
    expect(read(storage_) == 8, "the storage has the consumer's write");
  }

  Tracked memory_;
  Storage storage_;
  Storage clone_;  ///< used by scenarios that clone
  Pin consumer_;
};

class ClonesRaceUnpins : public TwoThreads, public PinnedStorage {
 public:
  static constexpr std::string_view cover_points[] = {"the pin was released", "the pin exists"};

  void thread(unsigned index) {
    if (index == 0) {
      write_and_unpin();
    } else if (storage_.is_pinned()) {
      cover("the pin exists");
    } else {
      cover("the pin was released");
      clone_ = storage_.lazy_clone();
      expect(clone_.shares_data_with(storage_), "without a pin a clone shares the data");
      expect(read(clone_) == 8, "a clone reads all that was written through the released pin");
    }
  }

  void after() { expect_unpinned(); }
};

/// While the consumer writes, another thread pins to read. Its pin aliases pinned data, or shares
/// data that no thread writes.
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
      // Do not call is_pinned() here: its acquire load would add a happens-before edge.
      const bool shares = storage_.use_count() == 2;
      cover(shares ? "the reader shares" : "the reader aliases");
      expect(!shares || cell(reader_.data()).get() == 8,
             "a reader that shares reads what was written through the pin");
    }
  }

  void after() {
    const bool aliases = storage_.is_pinned();
    if constexpr (Threads > 2) {
      cover(aliases ? "the reader aliases" : "the reader shares");
    }
    expect(!(aliases && clone_.shares_data_with(storage_)), "no clone shares pinned data");
    clone_ = Storage();
    storage_.materialize();
    cell(storage_.mutable_data()).set(9);
    expect(cell(reader_.data()).get() == (aliases ? 9U : 8U), "only an alias reads a later write");
    cell(storage_.mutable_data()).set(8);
    reader_ = Pin();
    expect_unpinned();
  }

 private:
  Pin reader_;
};

/// One thread pins to write, which counts as a write. The holder of the other pin does not write
/// meanwhile, but may release its pin.
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
    expect(storage_.is_pinned(), "a pin that was not released is counted");
    other_ = Pin();
    cell(storage_.mutable_data()).set(8);
    expect_unpinned();
  }

 private:
  Pin other_;
};

/// Two threads pin to read. Each may find the other's pin, but must not find a pin that the other
/// thread adds only to remove it again.
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
    expect(!(aliases && shares), "no clone shares pinned data");
    readers_ = {};
    expect_unpinned();
  }

 private:
  std::array<Pin, 2> readers_;
};

const Scenario* const pins_scenarios[] = {
    scenario<ClonesRaceUnpins>("clones_race_unpins",
                               "A clone made after the last pin was released shares the data, and "
                               "reads all that was written through the pin."),
    scenario<PinsToReadRaceUnpins<2>>("pins_to_read_race_unpins",
                                      "A pin to read that is made while another pin is released "
                                      "aliases pinned data, or shares data that no thread writes."),
    scenario<PinsToReadRaceUnpins<3>>("pins_to_read_race_clones",
                                      "A pin to read is made while another pin is released and a "
                                      "third thread clones: pinned data is never shared.",
                                      reduced_search),
    scenario<PinsRaceUnpins>(
        "pins_race_unpins",
        "A pin is made while another is released: the storage is pinned until both are released."),
    scenario<PinsToReadRaceEachOther>("pins_to_read_race_each_other",
                                      "Two pins to read are made while another pin is released and "
                                      "a clone is made: pinned data is never shared.",
                                      3),
};

}  // namespace
}  // namespace byre::verification
