// SPDX-License-Identifier: BSL-1.0
/// One thread changes a state and wakes the threads that sleep until the change. Every sleeper has
/// to wake: a lost wake is a deadlock. park and unpark_all of every Sync promise this. For cover
/// points, this header also decodes share words and tracks whether an owner sleeps.
#pragma once

#include <byre/sync/detail/site.hpp>

#include "../search.hpp"

namespace byre::verification {

/// A state that one thread changes and that others sleep for. The atomic steps on the state are
/// relaxed. `address` belongs to no object that threads use, since parking must not access it.
/// `Parking` is the checker's model of parking, or a parking lot.
template <class Parking = Checked>
class Event {
 public:
  explicit Event(const void* of = "where threads sleep") : address(of) {
    if constexpr (requires { Parking::lot(); }) {
      Parking::lot();
    }
  }

  void happen() {
    state_.store(1, step_of<"sleeper.change">(relaxed));
    Parking::unpark_all(address, step_of<"sleeper.unpark">());
  }
  bool has_happened() const { return state_.load(step_of<"sleeper.check">(relaxed)) != 0; }
  void await() const {
    const auto keep_waiting = [this] {
      const bool happened = has_happened();
      cover(happened ? "the change comes before the sleep" : "a thread sleeps before the change");
      return !happened;
    };
    while (!has_happened()) {
      Parking::park(address, keep_waiting, step_of<"sleeper.park">());
    }
  }

  const void* const address;

 private:
  Checked::Atomic<std::uint32_t> state_{0};
};

/// The first thread changes the state. The others sleep until then.
template <unsigned Sleepers, class Parking = Checked>
class SleepersAreWoken {
 public:
  static constexpr unsigned threads = Sleepers + 1;
  static constexpr std::string_view cover_points[] = {
      "a thread sleeps before the change",
      "the change comes before the sleep",
  };

  void thread(unsigned index) { index == 0 ? event_.happen() : event_.await(); }

 protected:
  Event<Parking> event_;
};

struct WordState {
  explicit WordState(std::uint64_t word) noexcept
      : owners(word & 0x7FFF'FFFF), copies(word >> 32 & 0x7FFF'FFFF) {}

  std::uint64_t owners;
  std::uint64_t copies;
};

/// Tracks the waiting owner. The owner sleeps from the load that found copies pending until a
/// thread wakes the owner.
class Sleeper {
 public:
  void on_step(const sync::Site& site, std::uint64_t value) noexcept {
    if (site.name == "share_word.still_pending") {
      const WordState now(value);
      sleeps_ = now.owners == 1 && now.copies != 0;
    } else if (site.name.starts_with("share_word.wake")) {
      sleeps_ = false;
    }
  }
  bool sleeps() const noexcept { return sleeps_; }

 private:
  bool sleeps_ = false;
};

}  // namespace byre::verification
