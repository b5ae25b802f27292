// SPDX-License-Identifier: BSL-1.0
/// Lazy clones of buffers, beside other clones and writers.
#include "buffers.hpp"
#include "word_state.hpp"

namespace byre::verification {
namespace {

/// All threads clone a buffer that was never cloned; the first writes its clone, and all let go.
template <unsigned Threads = 2>
class FirstClonesAtOnce {
 public:
  static constexpr unsigned threads = Threads;

  FirstClonesAtOnce() { source_ = buffer_of(7, memory_); }

  void thread(unsigned index) {
    CheckedBuffer clone = source_;
    expect(read(clone) == 7, "a clone reads what its source does");
    if (index == 0) {
      expect(write(clone, 8) == Written::in_a_copy, "the source is an owner still");
    }
  }

  void after() {
    expect(read(source_) == 7, "the source never sees a write to a clone");
    expect(source_.is_unique(), "no owner is counted that is gone");
  }

 private:
  Tracked memory_;
  CheckedBuffer source_;
};

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

  void saw(const sync::Site& site, std::uint64_t value) {
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

class BesideADrop : public ClonesRaceWriters<3> {
 public:
  static constexpr std::string_view cover_points[] = {
      "the writer keeps the data",
      "the writer copies",
      "data is cloned while it is copied",
  };
};

const Scenario* const clones_listed[] = {
    scenario<FirstClonesAtOnce<>>(
        "first_clones_at_once",
        "Two threads may lazily clone one buffer, from its very first clone on: promises 2 and 7."),
    scenario<FirstClonesAtOnce<3>>("three_first_clones_at_once", "The same of three threads.", 4,
                                   7),
    scenario<ClonesRaceWriters<>>(
        "clones_race_writers",
        "An owner may clone while another writes; neither notices: promises 1 and 7, I4."),
    scenario<BesideADrop>("clones_race_writers_and_drops", "The same while a third owner lets go.",
                          4, 7),
};

}  // namespace
}  // namespace byre::verification
