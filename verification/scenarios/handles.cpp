// SPDX-License-Identifier: BSL-1.0
/// Two or three threads copy and release handles of one storage, or concurrently make the first
/// lazy clones of a storage or buffer. The last handle destroys the storage once, after all uses,
/// and every clone is counted. If the decrement of the handle count is weaker than acq_rel, the
/// destruction races the reads of the other thread.
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
    expect(read(handles_[index]) == 7, "the storage lives while a handle exists");
    handles_[index] = {};
  }

  void after() { expect(memory_.frees() == 1, "the storage is freed once"); }

 protected:
  Tracked memory_;
  Storage handles_[threads];
};

/// Two threads copy and release handles. The second thread writes the storage if its handle is the
/// only one.
class HandlesRaceHandles : public LastHandlesRace {
 public:
  static constexpr std::string_view cover_points[] = {"the last handle writes"};

  void thread(unsigned index) {
    {
      const Storage another = handles_[index];
      expect(read(another) == 7, "the storage is not written while another handle exists");
    }
    if (index == 1 && handles_[1].handle_count() == 1) {
      cover("the last handle writes");
      cell(handles_[1].mutable_data()).set(8);
    }
    handles_[index] = Storage();
  }
};

/// All threads lazily clone a source that was never cloned: a buffer, or a storage through its only
/// handle. Each thread writes its clone of a storage, but only the first thread writes its clone of
/// a buffer.
template <class Source, unsigned Threads>
class ClonedAtOnce {
 public:
  static constexpr unsigned threads = Threads;

  ClonedAtOnce() { source_ = Source(buffer_of(7, memory_)); }

  void thread(unsigned index) {
    Source clone = source_.lazy_clone();
    expect(read(clone) == 7, "a clone reads the source's value");
    if constexpr (is_storage) {
      expect(!(clone == source_), "a lazy clone is another storage");
      expect(clone.handle_count() == 1, "a lazy clone has one handle");
    }
    if (index < writers) {
      expect(write(clone, index) == Written::in_a_copy,
             "the write copies, since the source still owns the data");
      expect(read(clone) == index, "a clone reads what was written to it");
    }
  }

  void after() {
    expect(read(source_) == 7, "a write to a clone does not change the source");
    expect(source_.is_unique(), "a former owner is not counted");
    expect(memory_.copies() == writers, "each written clone makes one copy");
    if constexpr (is_storage) {
      expect(source_.handle_count() == 1, "a released handle is not counted");
    }
  }

 private:
  static constexpr bool is_storage = std::is_same_v<Source, Storage>;
  static constexpr unsigned writers = is_storage ? Threads : 1;

  Tracked memory_;
  Source source_;
};

/// Two storages share data. Each thread releases a handle of the second storage. The first thread
/// then writes the first storage: in place if both handles were released.
class StoragesWriteAfterDrops : public TwoThreads {
 public:
  static constexpr std::string_view cover_points[] = {
      "the other storage was released: no copy",
      "the other storage exists: a copy",
  };

  StoragesWriteAfterDrops() {
    written_ = Storage(buffer_of(7, memory_));
    dropped_[0] = written_.lazy_clone();
    dropped_[1] = dropped_[0];
  }

  void thread(unsigned index) {
    expect(read(dropped_[index]) == 7, "a write does not change the other storage");
    dropped_[index] = {};
    if (index == 0) {
      cover(write(written_, 8) == Written::in_place ? "the other storage was released: no copy"
                                                    : "the other storage exists: a copy");
    }
  }

  void after() {
    expect(read(written_) == 8, "the writer reads what it wrote");
    expect(memory_.copies() == memory_.frees(),
           "the original is freed if and only if it was copied");
  }

 private:
  Tracked memory_;
  Storage written_;
  Storage dropped_[threads];
};

/// Two threads copy the same handle and release their copies.
class OneHandleIsCopiedAtOnce : public LastHandlesRace {
 public:
  OneHandleIsCopiedAtOnce() { handles_[1] = {}; }

  void thread(unsigned) {
    const Storage another = handles_[0];
    expect(read(another) == 7, "the storage lives while a handle exists");
  }

  void after() { expect(handles_[0].handle_count() == 1, "each handle is counted once"); }
};

/// Two threads drop the last two handles.
class NoHandleIsLeft : public TwoThreads {
 public:
  NoHandleIsLeft() { handles_.add(); }

  void thread(unsigned index) { is_last_[index] = handles_.drop(); }

  void after() {
    expect(is_last_[0] != is_last_[1], "exactly one of two drops is the last");
    expect(handles_.count() == 0, "no handle is counted");
  }

 private:
  basic_ref_count<Checked> handles_;
  bool is_last_[threads] = {};
};

const Scenario* const handles_scenarios[] = {
    scenario<HandlesRaceHandles>("handles_race_handles",
                                 "Handles of one storage may be copied and released on any thread, "
                                 "and a thread whose handle is the only one may write."),
    scenario<LastHandlesRace>(
        "last_handles_race",
        "The last handle destroys the storage once, after all uses by others."),
    scenario<ClonedAtOnce<Storage, 2>>(
        "storages_cloned_at_once",
        "Two threads may lazily clone one storage at once: promises 2 and 7.", 4, 7),
    scenario<ClonedAtOnce<Storage, 3>>("storages_cloned_by_three",
                                       "Three threads may lazily clone one storage at once.", 1, 3),
    scenario<StoragesWriteAfterDrops>("storages_write_after_drops",
                                      "A storage is written in place after the last handle of the "
                                      "storage that shared its data was released, on any thread: "
                                      "promise 1, I5."),
    scenario<OneHandleIsCopiedAtOnce>(
        "one_handle_is_copied_at_once",
        "Two threads may copy one handle at once, and each copy is counted."),
    scenario<NoHandleIsLeft>("no_handle_is_left",
                             "After the last handle was dropped, no handle is counted."),
    scenario<ClonedAtOnce<CheckedBuffer, 2>>(
        "first_clones_at_once",
        "Two threads may lazily clone one buffer, even for the first time: promises 2 and 7."),
    scenario<ClonedAtOnce<CheckedBuffer, 3>>(
        "three_first_clones_at_once",
        "Three threads may lazily clone one buffer, even for the first time.", 4, 7),
};

}  // namespace
}  // namespace byre::verification
