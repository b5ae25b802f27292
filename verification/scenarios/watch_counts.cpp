// SPDX-License-Identifier: BSL-1.0
/// How many reasons there are to watch: nobody who has what is watched takes it for nothing.
#include <byre/shadow/watch_count.hpp>

#include "../search.hpp"

namespace byre::verification {
namespace {

/// One thread has a storage watched and hands it to another, which looks and lets go of it. A third's
/// reasons come and go meanwhile.
class WatchedStoragesAreLookedAt {
 public:
  static constexpr unsigned threads = 3;
  static constexpr std::string_view cover_points[] = {"handed over", "not handed over yet"};

  void thread(unsigned index) {
    if (index == 0) {
      count_.add();
      expect(!count_.is_none(), "who adds a reason sees one");
      handed_.store(1, handing.at(Hand::over, std::memory_order::release));
    } else if (index == 1) {
      const bool is_handed = handed_.load(handing.at(Hand::taken, std::memory_order::acquire)) == 1;
      cover(is_handed ? "handed over" : "not handed over yet");
      if (is_handed) {
        expect(!count_.is_none(), "who has what is watched sees a reason");
        count_.drop();
        is_dropped_.set(true);
      }
    } else {
      count_.add();
      expect(!count_.is_none(), "who adds a reason sees one");
      count_.drop();
    }
  }

  void after() {
    expect(count_.is_none() == is_dropped_.get(),
           "no reason is left that is gone, and none is lost");
  }

 private:
  /// How user code hands a storage to another thread. No steps of the library's: not in its tables.
  enum class Hand : std::uint8_t { over, taken };
  static constexpr sync::SiteTable<Hand, 2> handing{{{
      {"hand.over", sync::Operation::store, std::memory_order::release, "taken", "the user's"},
      {"hand.taken", sync::Operation::load, std::memory_order::acquire, "over", "the user's"},
  }}};

  shadow::basic_watch_count<Checked> count_;
  Checked::Atomic<std::uint32_t> handed_{0};
  Checked::Plain<bool> is_dropped_{false};
};

}  // namespace

extern const Scenario watched_storages_are_looked_at;
const Scenario watched_storages_are_looked_at = scenario<WatchedStoragesAreLookedAt>({
    .name = "watched_storages_are_looked_at",
    .shows = "Who has a storage that is watched never takes it that nothing is.",
});

}  // namespace byre::verification
