// SPDX-License-Identifier: BSL-1.0
/// Two or three threads ask for the versions of storages while others ask, clone, drop or write. A
/// storage whose version was asked is counted twice in the share word. If a thread could find the
/// version before the second owner, or if a write left the second owner behind, shared data would
/// pass for unique, or unique data would be copied.
#include <byre/storage/detail/buffer_impl.hpp>
#include <byre/storage/storage.hpp>

#include "buffers.hpp"
#include "parallel_writers.hpp"

namespace byre::verification {
namespace {

using Storage = basic_storage<Checked>;

/// A storage that holds 7. The constructor makes the process-wide source of numbers, so that its
/// construction orders nothing between the threads.
class OneStorage {
 protected:
  OneStorage() { expect(Storage(buffer_of(7, memory_)).version() == 1, "the first number is 1"); }

  /// Expects that the storage is the only owner, and that a write changes its version in place.
  void expect_alone(Storage& storage) {
    const unsigned copies = memory_.copies();
    const std::uint64_t version = storage.version();
    expect(storage.is_unique() && storage.use_count() == 1, "a version shows no second owner");
    expect(storage.materialize() == Materialized::already_unique, "a version is not stolen from");
    expect(storage.version() != version, "a write changes the version");
    expect(write(storage, 9) == Written::in_place, "data of one storage is written in place");
    expect(memory_.copies() == copies, "data of one storage is not copied");
  }

  Tracked memory_;
  Storage storage_{buffer_of(7, memory_)};
};

/// The threads ask for the version of one storage that has none.
class AsksRaceAsks : public TwoThreads, public OneStorage {
 public:
  static constexpr std::string_view cover_points[] = {"a thread finds the version",
                                                      "a thread begins in vain"};

  void thread(unsigned index) { versions_[index] = storage_.version(); }
  void on_step(const sync::Site& site, std::uint64_t value) {
    cover_if(site.name == "version.number" && value > 1, "a thread finds the version");
    cover_if(site.name == "share_word.drop_owners", "a thread begins in vain");
  }

  void after() {
    expect(versions_[0] != 0 && versions_[0] == versions_[1], "all threads get one version");
    expect(storage_.version() == versions_[0], "a version is constant without a write");
    expect_alone(storage_);
    expect(storage_.version() > versions_[0], "a later version has a higher number");
  }

 private:
  std::uint64_t versions_[threads] = {};
};

/// The threads ask for the versions of two storages.
class NumbersAreDrawnOnce : public TwoThreads, public OneStorage {
 public:
  NumbersAreDrawnOnce() { other_ = storage_.lazy_clone(); }

  void thread(unsigned index) { versions_[index] = (index == 0 ? storage_ : other_).version(); }

  void after() {
    const std::uint64_t sum = versions_[0] + versions_[1];
    expect(versions_[0] != versions_[1] && sum == 2 + 3, "numbers are drawn in turn");
    expect(storage_.lazy_clone().version() == 4, "each new version is the next number");
  }

 private:
  Storage other_;
  std::uint64_t versions_[threads] = {};
};

/// One thread asks while another tests a storage whose data is shared.
class AsksRaceUniqueness : public TwoThreads, public OneStorage {
 public:
  static constexpr std::string_view cover_points[] = {"the version is found"};

  AsksRaceUniqueness() { other_ = storage_.lazy_clone(); }

  void thread(unsigned index) {
    if (index == 0) {
      storage_.version();
    } else {
      expect(!storage_.is_unique(), "shared data is not unique");
      const std::uint32_t count = storage_.use_count();
      expect(count == 2 || count == 3, "a watch is never subtracted before it is added");
      is_tested_ = true;
    }
  }
  void on_step(const sync::Site& site, std::uint64_t value) {
    cover_if(site.name == "version.number" && value > 1 && !is_tested_, "the version is found");
  }

  void after() {
    expect(storage_.use_count() == 2, "another storage shares the data");
    other_ = Storage();
    expect_alone(storage_);
  }

 private:
  Storage other_;
  bool is_tested_ = false;
};

/// Each thread writes one of `Writers` storages that share the data and have versions.
template <unsigned Writers>
class AskedWritersRace : public OneStorage {
 public:
  static constexpr unsigned threads = Writers;

  AskedWritersRace() {
    for (unsigned index = 0; index < Writers; ++index) {
      storages_[index] = storage_.lazy_clone();
      versions_[index] = storages_[index].version();
    }
    storage_ = Storage();
  }

  void thread(unsigned index) {
    expect(read(storages_[index]) == 7, "a storage reads no write of another");
    write(storages_[index], index);
  }
  void on_step(const sync::Site& site, std::uint64_t) {
    cover_if(site.name == "share_word.park", "a writer waits");
  }

  void after() {
    expect(memory_.copies() == Writers - 1, "one writer keeps the original, the others copy");
    for (unsigned index = 0; index < Writers; ++index) {
      expect(read(storages_[index]) == index, "a storage reads what was written to it");
      expect(storages_[index].version() > versions_[index], "a write changes the version");
      expect_alone(storages_[index]);
    }
  }

 private:
  Storage storages_[Writers];
  std::uint64_t versions_[Writers] = {};
};

/// One thread asks for the version of its storage and writes it. The other thread writes a storage
/// that shares the data.
class AsksRaceWriters : public TwoThreads, public OneStorage {
 public:
  AsksRaceWriters() { other_ = storage_.lazy_clone(); }

  void thread(unsigned index) {
    if (index == 0) {
      version_ = storage_.version();
      write(storage_, 0);
    } else {
      write(other_, 1);
    }
  }

  void after() {
    expect(memory_.copies() == 1, "one of two writers copies");
    expect(read(storage_) == 0 && read(other_) == 1, "a storage reads what was written to it");
    expect(storage_.version() > version_, "a write changes the version");
    expect_alone(storage_);
    expect_alone(other_);
  }

 private:
  Storage other_;
  std::uint64_t version_ = 0;
};

/// One thread asks for the version of its storage and releases the storage. The other thread writes
/// a storage that shares the data.
class AskedDropsRaceWriters : public TwoThreads, public OneStorage {
 public:
  static constexpr std::string_view cover_points[] = {"the writer copies", "the writer is alone"};

  AskedDropsRaceWriters() { other_ = storage_.lazy_clone(); }

  void thread(unsigned index) {
    if (index == 0) {
      storage_.version();
      expect(read(storage_) == 7, "a storage reads no write of another");
      storage_ = Storage();
    } else {
      cover(write(other_, 8) == Written::in_place ? "the writer is alone" : "the writer copies");
    }
  }

  void after() {
    expect(memory_.frees() == 1 + memory_.copies(), "the original is freed iff it was copied");
    expect(read(other_) == 8, "the writer reads what it wrote");
    expect_alone(other_);
  }

 private:
  Storage other_;
};

/// One thread asks for the version while another clones the storage, and writes the clone.
class AsksRaceClones : public TwoThreads, public OneStorage {
 public:
  void thread(unsigned index) {
    if (index == 0) {
      version_ = storage_.version();
    } else {
      Storage clone = storage_.lazy_clone();
      expect(clone.version() > 1, "a clone has a version of its own");
      expect(write(clone, 8) == Written::in_a_copy, "the storage still owns the data");
    }
  }

  void after() {
    expect(memory_.copies() == 1, "the clone makes the only copy");
    expect(storage_.version() == version_, "a write to a clone changes no version of its source");
    expect(read(storage_) == 7, "a write to a clone does not change its source");
    expect_alone(storage_);
  }

 private:
  std::uint64_t version_ = 0;
};

/// Two storages with versions share the data. One of them has no memory for a copy.
class FailingWritesOfAsked : public TwoThreads, public OneStorage {
 public:
  static constexpr std::string_view cover_points[] = {"the write fails", "the write is in place"};

  FailingWritesOfAsked() {
    other_ = storage_.lazy_clone();
    version_ = storage_.version();
    other_.version();
  }

  void thread(unsigned index) {
    if (index == 0) {
      memory_.refuse(true);
      is_written_ = succeeds([&] { write(storage_, 0); });
      memory_.refuse(false);
      cover(is_written_ ? "the write is in place" : "the write fails");
    } else {
      write(other_, 1);
    }
  }

  void after() {
    expect(read(storage_) == (is_written_ ? 0U : 7U), "a failed write changes nothing");
    expect(read(other_) == 1, "a failure changes no other storage");
    expect(!is_written_ || storage_.version() > version_, "a write changes the version");
    expect_alone(storage_);
    expect_alone(other_);
  }

 private:
  Storage other_;
  std::uint64_t version_ = 0;
  bool is_written_ = false;
};

/// A loop of two threads writes a storage that has a version.
class LoopsEndWatches : public TwoThreads, public LoopOverStorage<2> {
 public:
  LoopsEndWatches() {
    clone_ = Storage();
    version_ = handles_[0].version();
  }

  void thread(unsigned index) { write(index); }

  void after() {
    expect_written();
    expect(handles_[0].use_count() == 1, "one thread of the loop ends the watch");
    expect(handles_[0].version() != version_, "a loop changes the version");
    expect(memory_.copies() == 0, "unshared data is not copied");
  }

 private:
  std::uint64_t version_ = 0;
};

const Scenario* const versions_scenarios[] = {
    scenario<AsksRaceAsks>("asks_race_asks",
                           "Two threads that ask for the version of one storage get one number, "
                           "and the next write ends the one watch: V1.",
                           reduced_search),
    scenario<NumbersAreDrawnOnce>("numbers_are_drawn_once",
                                  "Two threads that ask for the versions of two storages get two "
                                  "numbers.",
                                  reduced_search),
    scenario<AsksRaceUniqueness>("asks_race_uniqueness",
                                 "A thread that finds a version finds the second owner that it "
                                 "adds: V1.",
                                 reduced_search),
    scenario<WithCoverPoints<AskedWritersRace<2>, "a writer waits">>(
        "asked_writers_race",
        "Two writers whose storages have versions make one copy: promise "
        "3, V2.",
        reduced_search),
    scenario<AskedWritersRace<3>>("three_asked_writers_race",
                                  "Three writers whose storages have versions make two copies: "
                                  "promise 3, V2.",
                                  0, 1),
    scenario<AsksRaceWriters>("asks_race_writers",
                              "A storage may be asked for its version while another storage with "
                              "its data is written: promises 1 and 3.",
                              reduced_search),
    scenario<AskedDropsRaceWriters>("asked_drops_race_writers",
                                    "A storage that is released ends its watch: the data is freed "
                                    "once, and another storage writes in place: V2, I1.",
                                    reduced_search),
    scenario<AsksRaceClones>("asks_race_clones",
                             "A storage may be cloned and asked for its version at once: promises "
                             "2 and 7.",
                             reduced_search),
    scenario<FailingWritesOfAsked>("failing_writes_of_asked",
                                   "If a write to a storage with a version fails, the storage is "
                                   "unchanged, and no owner is lost: promise 5.",
                                   reduced_search),
    scenario<LoopsEndWatches>("loops_end_watches",
                              "The first thread of a loop ends the watch: promise 9.",
                              reduced_search),
};

}  // namespace
}  // namespace byre::verification
