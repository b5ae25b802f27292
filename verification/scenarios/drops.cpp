// SPDX-License-Identifier: BSL-1.0
/// Owners drop or clone while other owners drop, write or copy. The last owner or copier frees the
/// data, exactly once and after all reads, and a drop never waits. If drop_owner or finish_copy is
/// weaker than acq_rel, the free races the reads of the other owners.
#include "buffers.hpp"
#include "owners.hpp"
#include "sole_owners.hpp"

namespace byre::verification {
namespace {

/// All owners read and drop.
template <unsigned Owners>
class DropsRaceDrops {
 public:
  static constexpr unsigned threads = Owners;
  static constexpr std::string_view cover_points[] = {
      "the last owner finds the data unique",
      "two drops at once: the later one frees",
  };

  void thread(unsigned index) {
    expect(read(buffers_[index]) == 7, "an owner reads the shared value");
    drop(buffers_[index]);
  }

  void on_step(const sync::Site& site, std::uint64_t value) {
    cover_if(site.name == "share_word.drop_alone" && value == 1,
             "the last owner finds the data unique");
    cover_if(site.name == "share_word.drop_owner" && value == 0,
             "two drops at once: the later one frees");
  }

  void after() { expect(buffers_.memory.frees() == 1, "the data is freed once"); }

 private:
  SharedBuffers<threads> buffers_;
};

/// The first owner writes and holds its buffer to the end. The other owners read and drop.
template <unsigned Drops>
class DropsRaceCopies {
 public:
  static constexpr unsigned threads = Drops + 1;
  static constexpr std::string_view cover_points[] = {
      "the writer copies",
      "the writer writes in place",
  };

  void thread(unsigned index) {
    auto& buffer = buffers_[index];
    if (index != 0) {
      expect(read(buffer) == 7, "an owner reads the shared value");
      drop(buffer);
    } else if (write(buffer, 8) == Written::in_place) {
      expect(buffers_.memory.frees() == 0, "data that is written in place is not freed");
      cover("the writer writes in place");
    } else {
      cover("the writer copies");
    }
  }

  void on_step(const sync::Site& site, std::uint64_t value) {
    const bool may_block =
        site.operation == sync::Operation::lock || site.operation == sync::Operation::park;
    expect(!may_block || current_thread() == 0, "a drop never blocks");
    const WordState now(value);
    cover_if(site.name == "share_word.drop_owner" && now.owners == 0 && now.copies == 1,
             "the last owner drops while a copy is pending");
    cover_if(site.name == "share_word.finish_copy" && value == 0,
             "the copier is the last, and frees");
  }

  void after() {
    expect(read(buffers_[0]) == 8, "the writer reads what it wrote");
    expect(buffers_.memory.copies() <= 1, "one writer makes one copy");
    expect(buffers_.memory.frees() == buffers_.memory.copies(),
           "the original is freed if and only if it was copied");
  }

 private:
  SharedBuffers<threads> buffers_;
};

using OneDropRacesACopy =
    WithCoverPoints<DropsRaceCopies<1>, "the last owner drops while a copy is pending",
                    "the copier is the last, and frees", "the writer writes in place">;

/// One owner clones, and drops its buffer and the clone. Another owner writes. A third owner, if
/// there is one, drops.
template <unsigned Threads = 2>
class ClonesRaceWriters {
 public:
  static constexpr unsigned threads = Threads;
  static constexpr std::string_view cover_points[] = {
      "the writer writes in place",
      "the writer copies",
  };

  void thread(unsigned index) {
    auto& buffer = buffers_[index];
    if (index == 0) {
      CheckedBuffer clone = buffer;
      drop(buffer);
      expect(read(clone) == 7, "a clone outlives its source and reads no other owner's write");
    } else if (index == 1) {
      cover(write(buffer, 8) == Written::in_place ? "the writer writes in place"
                                                  : "the writer copies");
    } else {
      drop(buffer);
    }
  }

  void on_step(const sync::Site& site, std::uint64_t value) {
    cover_if(site.name == "share_word.add_owner" && WordState(value).copies != 0,
             "data is cloned while it is copied");
  }

  void after() {
    expect(read(buffers_[1]) == 8, "the writer reads what it wrote");
    expect(buffers_[1].is_unique(), "a former owner is not counted");
    expect(buffers_.memory.copies() == buffers_.memory.frees(),
           "the original is freed if and only if it was copied");
  }

 private:
  SharedBuffers<threads> buffers_;
};

using ClonesRaceWritersAndDrops =
    WithCoverPoints<ClonesRaceWriters<3>, "the writer writes in place", "the writer copies",
                    "data is cloned while it is copied">;

const Scenario* const drops_scenarios[] = {
    scenario<DropsRaceDrops<2>>("drops_race_drops",
                                "The last of two owners frees the data, once and after all reads: "
                                "promises 1 and 4, I1, I2, I7."),
    scenario<DropsRaceDrops<3>>(
        "three_drops_race", "The last of three owners frees the data, once and after all reads."),
    scenario<OneDropRacesACopy>("drops_race_copies",
                                "A drop never waits for a pending copy. The drop or the copy that "
                                "ends last frees the data, after all reads: promise 4, I1, I2."),
    scenario<DropsRaceCopies<2>>("two_drops_race_a_copy",
                                 "Two drops never wait for a pending copy.", reduced_search),
    scenario<DropsEndFirst<>>(
        "drops_end_first", "A drop ends although a pending copy waits for that drop: promise 4."),
    scenario<ReadsRaceASteal<>>(
        "reads_race_a_steal",
        "A stealer writes only after every read by a former owner: promises 1 and 6, I5."),
    scenario<ResizesRaceDrops<>>("resizes_race_drops",
                                 "The only owner happens after all that former owners did, and may "
                                 "resize: promise 1, I5, I7."),
    scenario<ClonesRaceWriters<>>(
        "clones_race_writers",
        "An owner may clone while another writes, and neither is affected: promises 1 and 7, I4."),
    scenario<ClonesRaceWritersAndDrops>("clones_race_writers_and_drops",
                                        "An owner clones and another writes while a third drops.",
                                        4, 7),
};

}  // namespace
}  // namespace byre::verification
