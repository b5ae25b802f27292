// SPDX-License-Identifier: BSL-1.0
#include "buffers.hpp"

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

  void saw(const sync::Site& site, std::uint64_t value) {
    if (site.name == "share_word.drop_alone" && value == 1) {
      cover("the last owner finds itself alone");
    } else if (site.name == "share_word.drop_owner" && value == 0) {
      cover("two drops at once: the later one frees");
    }
  }

  void after() { expect(buffers_.memory.frees() == 1, "the data is freed once"); }

 private:
  SharedBuffers<threads> buffers_;
};

const Scenario* const drops_race_drops_listed[] = {
    scenario<DropsRaceDrops<2>>("drops_race_drops",
                                "Data is freed once, by whoever lets go last and after all reads: "
                                "promises 1 and 4, I1, I2, I7."),
    scenario<DropsRaceDrops<3>>("three_drops_race", "The same with three owners."),
};

}  // namespace

}  // namespace byre::verification
