// SPDX-License-Identifier: BSL-1.0
/// Storages: their handles, and first lazy clones of them and of buffers.
#include <byre/storage/detail/buffer_impl.hpp>
#include <byre/storage/storage.hpp>

#include <type_traits>

#include "buffers.hpp"

namespace byre::verification {
namespace {

using Storage = basic_storage<Checked>;

/// Two threads release the last two handles to a storage.
class LastHandlesRace : public TwoThreads {
 public:
  LastHandlesRace() {
    handles_[0] = Storage(buffer_of(7, memory_));
    handles_[1] = handles_[0];
  }

  void thread(unsigned index) {
    expect(read(handles_[index]) == 7, "a handle keeps its storage alive");
    handles_[index] = {};
  }

  void after() { expect(memory_.frees() == 1, "the storage is freed once"); }

 protected:
  Tracked memory_;
  Storage handles_[threads];
};

/// They copy them too; who finds itself alone with the storage, writes.
class HandlesRaceHandles : public LastHandlesRace {
 public:
  static constexpr std::string_view cover_points[] = {"the last handle writes"};

  void thread(unsigned index) {
    {
      const Storage another = handles_[index];
      expect(read(another) == 7, "a storage is written only by who is alone with it");
    }
    if (index == 1 && handles_[1].handle_count() == 1) {
      cover("the last handle writes");
      cell(handles_[1].mutable_data()).set(8);
    }
    handles_[index] = Storage();
  }
};

/// All threads lazily clone a buffer or a storage that was never cloned, through its one handle. All write their clones,
/// but of a buffer only the first.
template <class Source, unsigned Threads>
class ClonedAtOnce {
 public:
  static constexpr unsigned threads = Threads;

  ClonedAtOnce() { source_ = Source(buffer_of(7, memory_)); }

  void thread(unsigned index) {
    Source clone = source_.lazy_clone();
    expect(read(clone) == 7, "a clone reads what its source does");
    if constexpr (is_storage) {
      expect(!(clone == source_), "a lazy clone is another storage");
      expect(clone.handle_count() == 1, "with one handle");
    }
    if (index < writers) {
      expect(write(clone, index) == Written::in_a_copy, "the source owns the data still");
      expect(read(clone) == index, "a clone keeps what is written to it");
    }
  }

  void after() {
    expect(read(source_) == 7, "the source never sees a write to a clone");
    expect(source_.is_unique(), "no owner is counted that is gone");
    expect(memory_.copies() == writers, "each clone that is written makes one copy");
    if constexpr (is_storage) {
      expect(source_.handle_count() == 1, "no handle is counted that is gone");
    }
  }

 private:
  static constexpr bool is_storage = std::is_same_v<Source, Storage>;
  static constexpr unsigned writers = is_storage ? Threads : 1;

  Tracked memory_;
  Source source_;
};

/// Two storages that share data, with two handles each: two threads hold one of both. The first
/// thread writes the first storage after all handles to the second were released.
class StoragesWriteAfterDrops : public TwoThreads {
 public:
  static constexpr std::string_view cover_points[] = {
      "the other storage is gone: no copy",
      "the other storage is there: a copy",
  };

  StoragesWriteAfterDrops() {
    written_ = Storage(buffer_of(7, memory_));
    dropped_[0] = written_.lazy_clone();
    dropped_[1] = dropped_[0];
  }

  void thread(unsigned index) {
    expect(read(dropped_[index]) == 7, "a storage never sees a write to another");
    dropped_[index] = {};
    if (index == 0) {
      cover(write(written_, 8) == Written::in_place ? "the other storage is gone: no copy"
                                                    : "the other storage is there: a copy");
    }
  }

  void after() {
    expect(read(written_) == 8, "the writer keeps what it wrote");
    expect(memory_.copies() == memory_.frees(), "the data dies only where it was copied");
  }

 private:
  Tracked memory_;
  Storage written_;
  Storage dropped_[threads];
};

/// Two threads copy one handle, and let go of their copies.
class OneHandleIsCopiedAtOnce : public LastHandlesRace {
 public:
  OneHandleIsCopiedAtOnce() { handles_[1] = {}; }

  void thread(unsigned) {
    const Storage another = handles_[0];
    expect(read(another) == 7, "a handle keeps its storage alive");
  }

  void after() { expect(handles_[0].handle_count() == 1, "each handle is counted once"); }
};

/// Two threads drop the handles that there are.
class NoHandleIsLeft : public TwoThreads {
 public:
  NoHandleIsLeft() { handles_.add(); }

  void thread(unsigned index) { is_last_[index] = handles_.drop(); }

  void after() {
    expect(is_last_[0] != is_last_[1], "one of two handles is the last");
    expect(handles_.count() == 0, "none is left");
  }

 private:
  basic_ref_count<Checked> handles_;
  bool is_last_[threads] = {};
};

const Scenario* const handles_scenarios[] = {
    scenario<HandlesRaceHandles>("handles_race_handles",
                                 "Handles to one storage may be copied and released on any thread, "
                                 "and a count of one can be acted on."),
    scenario<LastHandlesRace>(
        "last_handles_race", "The last handle destroys the storage once, after all use by others."),
    scenario<ClonedAtOnce<Storage, 2>>(
        "storages_cloned_at_once",
        "One storage may be lazily cloned by two threads at once: promises 2 and 7.", 4, 7),
    scenario<ClonedAtOnce<Storage, 3>>("storages_cloned_by_three", "The same of three threads.", 1,
                                       3),
    scenario<StoragesWriteAfterDrops>("storages_write_after_drops",
                                      "A storage is written in place once the last handle of the "
                                      "other was released, on whichever thread: promise 1, I5."),
    scenario<OneHandleIsCopiedAtOnce>(
        "one_handle_is_copied_at_once",
        "One handle may be copied on many threads at once, and each copy is counted."),
    scenario<NoHandleIsLeft>(
        "no_handle_is_left",
        "After the last handle was dropped none is counted, whoever drops it."),
    scenario<ClonedAtOnce<CheckedBuffer, 2>>(
        "first_clones_at_once",
        "Two threads may lazily clone one buffer, from its very first clone on: promises 2 and 7."),
    scenario<ClonedAtOnce<CheckedBuffer, 3>>("three_first_clones_at_once",
                                             "The same of three threads.", 4, 7),
};

}  // namespace
}  // namespace byre::verification
