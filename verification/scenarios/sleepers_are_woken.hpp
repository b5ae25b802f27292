// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "../search.hpp"

namespace byre::verification {

/// What a Sync promises of park and unpark_all: the first thread changes a state and wakes, by relaxed
/// steps; the others sleep until the change. The address is of no object, since neither may touch it.
/// `Parking` is the model that the other scenarios stand on, or the lot that ships.
template <unsigned Sleepers, class Parking = Checked>
class SleepersAreWoken {
 public:
  static constexpr unsigned threads = Sleepers + 1;
  static constexpr std::string_view cover_points[] = {
      "a thread sleeps before the change",
      "the change comes before the sleep",
  };

  void thread(unsigned index) {
    if (index == 0) {
      change();
    } else {
      while (!is_changed()) {
        Parking::park(
            address, [this] { return is_unchanged(); }, step_of<"sleeper.park">());
      }
    }
  }

 protected:
  static constexpr const void* address = "where threads sleep";

  void change() {
    state_.store(1, step_of<"sleeper.change">(relaxed));
    Parking::unpark_all(address, step_of<"sleeper.unpark">());
  }

  bool is_changed() const { return state_.load(step_of<"sleeper.check">(relaxed)) != 0; }

 private:
  bool is_unchanged() const {
    const bool changed = is_changed();
    cover(changed ? "the change comes before the sleep" : "a thread sleeps before the change");
    return !changed;
  }

  Checked::Atomic<std::uint32_t> state_{0};
};

}  // namespace byre::verification
