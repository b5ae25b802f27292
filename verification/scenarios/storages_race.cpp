// SPDX-License-Identifier: BSL-1.0
#include <byre/storage/detail/buffer_impl.hpp>
#include <byre/storage/storage.hpp>

#include "buffers.hpp"

namespace byre::verification {
namespace {

/// All threads lazily clone one storage through its one handle, and write the clones.
template <unsigned Threads>
class StoragesClonedAtOnce {
 public:
  static constexpr unsigned threads = Threads;

  StoragesClonedAtOnce() { source_ = Storage(buffer_of(7, memory_)); }

  void thread(unsigned index) {
    Storage clone = source_.lazy_clone();
    expect(!(clone == source_), "a lazy clone is another storage");
    expect(clone.handle_count() == 1, "with one handle");
    expect(write(clone, index) == Written::in_a_copy, "the source owns the data still");
    expect(read(clone) == index, "a clone keeps what is written to it");
  }

  void after() {
    expect(read(source_) == 7, "the source never sees a write to a clone");
    expect(source_.is_unique(), "no owner is counted that is gone");
    expect(source_.handle_count() == 1, "no handle is counted that is gone");
    expect(memory_.copies() == threads, "each clone makes one copy");
  }

 private:
  using Storage = basic_storage<Checked>;

  Tracked memory_;
  Storage source_;
};

/// Two storages that share data, with two handles each: two threads hold one of both. The first
/// thread writes the first storage after all handles to the second were released.
class StoragesWriteAfterDrops {
 public:
  static constexpr unsigned threads = 2;
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
  using Storage = basic_storage<Checked>;

  Tracked memory_;
  Storage written_;
  Storage dropped_[threads];
};

const Scenario* const storages_race_listed[] = {
    scenario<StoragesClonedAtOnce<2>>(
        "storages_cloned_at_once",
        "One storage may be lazily cloned by two threads at once: promises 2 and 7.",
        preemptions(4), preemptions(7)),
    scenario<StoragesClonedAtOnce<3>>("storages_cloned_by_three", "The same of three threads.",
                                      preemptions(1), preemptions(3)),
    scenario<StoragesWriteAfterDrops>("storages_write_after_drops",
                                      "A storage is written in place once the last handle of the "
                                      "other was released, on whichever thread: promise 1, I5."),
};

}  // namespace

}  // namespace byre::verification
