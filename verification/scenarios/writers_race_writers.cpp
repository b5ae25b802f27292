// SPDX-License-Identifier: BSL-1.0
#include "buffers.hpp"
#include "word_state.hpp"

namespace byre::verification {
namespace {

/// All owners of the same data write.
template <unsigned Writers>
class WritersRaceWriters {
 public:
  static constexpr unsigned threads = Writers;

  void thread(unsigned index) {
    auto& buffer = buffers_[index];
    expect(read(buffer) == 7, "an owner reads what it was given");
    how_[index] = write(buffer, index);
    expect(read(buffer) == index, "a writer reads what it wrote");
  }

  void after() {
    unsigned kept = 0;
    for (unsigned index = 0; index < threads; ++index) {
      expect(read(buffers_[index]) == index, "each owner keeps what it wrote");
      kept += how_[index] == Written::in_place ? 1 : 0;
    }
    expect(kept == 1, "one owner keeps the original");
    expect(buffers_.memory.copies() == threads - 1,
           "writers make one copy fewer than there are owners");
  }

 private:
  SharedBuffers<threads> buffers_;
  Written how_[threads] = {};
};

class TwoWriters : public WritersRaceWriters<2> {
 public:
  static constexpr std::string_view cover_points[] = {
      "the last owner waits for a pending copy",
      "the copy ended before the last owner slept",
      "the last copy wakes the last owner",
  };

  void saw(const sync::Site& site, std::uint64_t value) {
    sleeper_.saw(site, value);
    if (site.name == "share_word.still_pending") {
      cover(sleeper_.sleeps() ? "the last owner waits for a pending copy"
                              : "the copy ended before the last owner slept");
    } else if (site.name == "share_word.wake_after_copy") {
      cover("the last copy wakes the last owner");
    }
  }

 private:
  Sleeper sleeper_;
};

template <unsigned Writers>
class OfMany : public WritersRaceWriters<Writers> {
 public:
  static constexpr std::string_view cover_points[] = {
      "the last owner waits for two pending copies",
      "one of two copies ends while the last owner sleeps",
  };

  void saw(const sync::Site& site, std::uint64_t value) {
    sleeper_.saw(site, value);
    const WordState now(value);
    if (site.name == "share_word.still_pending" && now.copies >= 2) {
      cover("the last owner waits for two pending copies");
    }
    if (site.name == "share_word.finish_copy" && sleeper_.sleeps() && now.copies != 0) {
      cover("one of two copies ends while the last owner sleeps");
    }
  }

 private:
  Sleeper sleeper_;
};

/// Waiters spin before they park, and are woken spuriously.
class Restless : public WritersRaceWriters<2> {
 public:
  static constexpr std::string_view cover_points[] = {"a waiter is woken spuriously"};

  Restless() { Checked::spin_limit = 1; }
  ~Restless() { Checked::spin_limit = 0; }

  void saw(const sync::Site& site, std::uint64_t) {
    if (site.name == "share_word.park") {
      cover(parked_ ? "a waiter is woken spuriously" : "a waiter parks");
      parked_ = true;
    }
  }

 private:
  bool parked_ = false;
};

const Scenario* const writers_race_writers_listed[] = {
    scenario<TwoWriters>("writers_race_writers",
                         "Two owners that write make one copy, and keep what they wrote: promises "
                         "1 and 3, I4, I5, I6."),
    scenario<OfMany<3>>("three_writers_race",
                        "Three owners that write make two copies: promise 3, I6.", preemptions(3),
                        preemptions(6)),
    scenario<OfMany<4>>("four_writers_race",
                        "Four owners that write make three copies: promise 3, I6.", preemptions(2),
                        preemptions(3)),
    scenario<Restless>("restless_writers_race_writers",
                       "The same where waiters spin before they park, and wake spuriously: I3."),
};

}  // namespace

}  // namespace byre::verification
