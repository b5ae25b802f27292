// SPDX-License-Identifier: BSL-1.0
/// Owners that let go, or clone, beside others that let go, write or copy.
#include "buffers.hpp"
#include "owners.hpp"
#include "sole_owners.hpp"

namespace byre::verification {
namespace {

/// All owners read, and let go.
template <unsigned Owners>
class DropsRaceDrops {
 public:
  static constexpr unsigned threads = Owners;
  static constexpr std::string_view cover_points[] = {
      "the last owner finds itself alone",
      "two drops at once: the later one frees",
  };

  void thread(unsigned index) {
    expect(read(buffers_[index]) == 7, "an owner reads what it was given");
    drop(buffers_[index]);
  }

  void on_step(const sync::Site& site, std::uint64_t value) {
    cover_if(site.name == "share_word.drop_alone" && value == 1,
             "the last owner finds itself alone");
    cover_if(site.name == "share_word.drop_owner" && value == 0,
             "two drops at once: the later one frees");
  }

  void after() { expect(buffers_.memory.frees() == 1, "the data is freed once"); }

 private:
  SharedBuffers<threads> buffers_;
};

/// The first owner writes and keeps the result; the others read and let go.
template <unsigned Drops>
class DropsRaceCopies {
 public:
  static constexpr unsigned threads = Drops + 1;
  static constexpr std::string_view cover_points[] = {
      "the writer copies",
      "the writer keeps the data",
  };

  void thread(unsigned index) {
    auto& buffer = buffers_[index];
    if (index != 0) {
      expect(read(buffer) == 7, "an owner reads what it was given");
      drop(buffer);
    } else if (write(buffer, 8) == Written::in_place) {
      expect(buffers_.memory.frees() == 0, "what is written in place is nowhere else");
      cover("the writer keeps the data");
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
    expect(read(buffers_[0]) == 8, "the writer keeps what it wrote");
    expect(buffers_.memory.copies() <= 1, "one writer makes one copy");
    expect(buffers_.memory.frees() == buffers_.memory.copies(),
           "the data dies only where it was copied");
  }

 private:
  SharedBuffers<threads> buffers_;
};

using OneDropRacesACopy =
    WithCoverPoints<DropsRaceCopies<1>, "the last owner drops while a copy is pending",
                    "the copier is the last, and frees", "the writer keeps the data">;

/// One owner clones and lets go of both; another writes; a third, if any, lets go.
template <unsigned Threads = 2>
class ClonesRaceWriters {
 public:
  static constexpr unsigned threads = Threads;
  static constexpr std::string_view cover_points[] = {
      "the writer keeps the data",
      "the writer copies",
  };

  void thread(unsigned index) {
    auto& buffer = buffers_[index];
    if (index == 0) {
      CheckedBuffer clone = buffer;
      drop(buffer);
      expect(read(clone) == 7, "a clone lives without its source, and sees no other's write");
    } else if (index == 1) {
      cover(write(buffer, 8) == Written::in_place ? "the writer keeps the data"
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
    expect(read(buffers_[1]) == 8, "the writer keeps what it wrote");
    expect(buffers_[1].is_unique(), "no owner is counted that is gone");
    expect(buffers_.memory.copies() == buffers_.memory.frees(),
           "the data dies only where it was copied");
  }

 private:
  SharedBuffers<threads> buffers_;
};

using ClonesRaceWritersAndDrops =
    WithCoverPoints<ClonesRaceWriters<3>, "the writer keeps the data", "the writer copies",
                    "data is cloned while it is copied">;

const Scenario* const drops_scenarios[] = {
    scenario<DropsRaceDrops<2>>("drops_race_drops",
                                "Data is freed once, by whoever lets go last and after all reads: "
                                "promises 1 and 4, I1, I2, I7."),
    scenario<DropsRaceDrops<3>>("three_drops_race", "The same with three owners."),
    scenario<OneDropRacesACopy>("drops_race_copies",
                                "A drop never waits for a copy under way; whichever ends last "
                                "frees, after all reads: promise 4, I1, I2."),
    scenario<DropsRaceCopies<2>>("two_drops_race_a_copy", "The same with two drops.",
                                 reduced_search),
    scenario<DropsEndFirst<>>("drops_end_first",
                              "A drop ends beside a copy that does not end before it: promise 4."),
    scenario<ReadsRaceASteal<>>(
        "reads_race_a_steal",
        "A stealer writes only after every read by a former owner: promises 1 and 6, I5."),
    scenario<ResizesRaceDrops<>>("resizes_race_drops",
                                 "Who finds itself unique comes after all that the others did, and "
                                 "may resize: promise 1, I5, I7."),
    scenario<ClonesRaceWriters<>>(
        "clones_race_writers",
        "An owner may clone while another writes; neither notices: promises 1 and 7, I4."),
    scenario<ClonesRaceWritersAndDrops>("clones_race_writers_and_drops",
                                        "The same while a third owner lets go.", 4, 7),
};

}  // namespace
}  // namespace byre::verification
