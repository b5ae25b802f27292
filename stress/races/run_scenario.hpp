// SPDX-License-Identifier: BSL-1.0
/// Runs a story: the same threads over many rounds, perturbed or not, with everything counted that
/// can be counted exactly.
///
/// A story is a class template over the buffer's type with
///   Story(Stage&)
///   void prepare()             alone, before a round
///   void act(unsigned thread)  by every thread at once
///   void check()               alone, after the round
#pragma once

#include <byre/config.hpp>
#include <byre/stats/counters.hpp>

#include <boost/atomic/atomic.hpp>

#include <cstdint>
#include <exception>
#include <string>
#include <thread>

#include "../crew.hpp"
#include "line.hpp"
#include "race.hpp"
#include "stage.hpp"

namespace byre::stress::races {

/// Throws std::invalid_argument.
void check_settings(const RaceSettings& settings);

/// Compares what byre counted with what the threads saw.
void check_counters(Stage& stage, const stats::Counters& since);

/// Gives the round's memory back, and says what was wrong with it.
void check_memory(Stage& stage);

template <class Story>
class StoryRun {
 public:
  explicit StoryRun(const RaceSettings& settings)
      : settings_(settings),
        stage_(settings),
        story_(stage_),
        start_(settings.threads),
        finish_(settings.threads) {}

  RaceResult run() {
    {
      // Nobody goes to the line before all are there who have to meet at it.
      Crew others([this] { say(Word::go_home); });
      for (unsigned thread = 1; thread < settings_.threads; ++thread) {
        others.start([this, thread] {
          if (hear() == Word::begin) {
            take_part(thread);
          }
        });
      }
      say(Word::begin);
      take_part(0);
    }
    return result_;
  }

 private:
  enum class Word : std::uint8_t { none, begin, go_home };

  /// The first word is the one that counts.
  void say(Word word) noexcept {
    Word before = Word::none;
    // Release pairs with hear(): what was made before is there.
    word_.compare_exchange_strong(before, word, boost::memory_order_release,
                                  boost::memory_order_relaxed);
  }
  Word hear() const noexcept {
    for (;;) {
      if (const Word word = word_.load(boost::memory_order_acquire); word != Word::none) {
        return word;
      }
      std::this_thread::yield();
    }
  }

  /// Thread 0 does what is done alone, between the finish of one round and the start of the next.
  void take_part(unsigned thread) {
    Perturbs perturbs(settings_.perturbation, seed_of_thread(settings_.seed, thread));
    const std::uint64_t delays_before = delays_of_this_thread();
    for (;;) {
      if (thread == 0) {
        alone([this] { begin_round(); });
      }
      start_.meet();
      if (over_) {
        break;
      }
      stage_.note(thread, "begins");
      guarded([this, thread] { story_.act(thread); });
      finish_.meet();
      if (thread == 0) {
        alone([this] { end_round(); });
      }
    }
    // Relaxed: read after the join.
    delays_.fetch_add(delays_of_this_thread() - delays_before, boost::memory_order_relaxed);
    finish_.meet();
    if (thread == 0) {
      result_.delays = delays_.load(boost::memory_order_relaxed);
    }
  }

  void begin_round() {
    over_ = result_.rounds == settings_.rounds || settings_.stop.stop_requested() ||
            stage_.has_failed();
    if (!over_) {
      ++result_.rounds;
      guarded([this] { story_.prepare(); });
      before_ = stats::snapshot();
    }
  }

  void end_round() {
    check_counters(stage_, stats::snapshot() - before_);
    guarded([this] { story_.check(); });
    check_memory(stage_);
    const Deeds tally = stage_.tally();
    result_.operations += tally.operations();
    result_.lazy_clones += tally.clones;
    result_.copies += tally.copied;
    result_.steals += tally.stole;
    result_.writes_in_place += tally.unique;
    stage_.next_round();
    result_.failures = stage_.failures();
    if (settings_.after_round) {
      settings_.after_round(result_);
    }
  }

  template <class Act>
  void guarded(Act act) {
    try {
      act();
    } catch (const std::exception& error) {
      stage_.fail(std::string("an exception nobody expected: ") + error.what());
    }
  }

  template <class Act>
  static void alone(Act act) {
    const Perturbs undisturbed(no_perturbation, 0);
    act();
  }

  const RaceSettings& settings_;
  Stage stage_;
  Story story_;
  Line start_;
  Line finish_;
  boost::atomic<Word> word_{Word::none};
  bool over_ = false;  // written between a finish and a start, by thread 0
  stats::Counters before_;
  boost::atomic<std::uint64_t> delays_{0};
  RaceResult result_;
};

template <class Story>
RaceResult run_story(const RaceSettings& settings) {
  check_settings(settings);
  return StoryRun<Story>(settings).run();
}

}  // namespace byre::stress::races
