// SPDX-License-Identifier: BSL-1.0
#include "buffers.hpp"
#include "word_state.hpp"

namespace byre::verification {
namespace {

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

  void saw(const sync::Site& site, std::uint64_t) {
    const bool may_block =
        site.operation == sync::Operation::lock || site.operation == sync::Operation::park;
    expect(!may_block || current_thread() == 0, "a drop never blocks");
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

class OneDropRacesACopy : public DropsRaceCopies<1> {
 public:
  static constexpr std::string_view cover_points[] = {
      "the last owner drops while a copy is pending",
      "the copier is the last, and frees",
      "the writer keeps the data",
  };

  void saw(const sync::Site& site, std::uint64_t value) {
    DropsRaceCopies::saw(site, value);
    const WordState now(value);
    if (site.name == "share_word.drop_owner" && now.owners == 0 && now.copies == 1) {
      cover("the last owner drops while a copy is pending");
    } else if (site.name == "share_word.finish_copy" && value == 0) {
      cover("the copier is the last, and frees");
    }
  }
};

const Scenario* const drops_race_copies_listed[] = {
    scenario<OneDropRacesACopy>("drops_race_copies",
                                "A drop never waits for a copy under way; whichever ends last "
                                "frees, after all reads: promise 4, I1, I2."),
    scenario<DropsRaceCopies<2>>("two_drops_race_a_copy", "The same with two drops.",
                                 reduced_search),
};

}  // namespace

}  // namespace byre::verification
