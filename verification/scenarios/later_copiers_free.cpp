// SPDX-License-Identifier: BSL-1.0
#include "bare_data.hpp"

namespace byre::verification {
namespace {

/// Two owners claim. Who steals, having waited or not, clones; of the two owners there are then one
/// copies while the other leaves, so that the copier has to free. That it is freed, the checker sees.
class LaterCopiersFree {
 public:
  static constexpr unsigned threads = 2;
  static constexpr std::string_view cover_points[] = {"a stealer that had waited clones"};

  void thread(unsigned) {
    if (data_.claim() == Claim::copy) {
      expect(data_.read() == 7, "the data is constant while it is copied");
      data_.finish_copy();
      return;
    }
    data_.write(8);
    data_.clone();
    expect(data_.claim() == Claim::copy, "a later owner copies");
    expect(!data_.drop(), "data is not freed while it is copied");
    expect(data_.read() == 8, "a later copier reads what the stealer wrote");
    data_.finish_copy();
  }

  void saw(const sync::Site& site, std::uint64_t) {
    if (site.name == "share_word.stop_waiting") {
      waited_ = true;
    } else if (site.name == "share_word.add_owner" && waited_) {
      cover("a stealer that had waited clones");
    }
  }

 private:
  BareData<> data_{2, 7};
  bool waited_ = false;
};

const Scenario* const later_copiers_free_listed[] = {
    scenario<LaterCopiersFree>("later_copiers_free",
                               "A steal leaves the data as new: later owners copy, drop and free "
                               "as the first did: I3, I7."),
};

}  // namespace

}  // namespace byre::verification
