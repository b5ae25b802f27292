// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "../search.hpp"

namespace byre::verification {

enum class SleeperSite : std::uint8_t { change, check, park, unpark };

inline constexpr sync::SiteTable<SleeperSite, 4> sleeper_sites{{{
    {"sleeper.change", sync::Operation::store, std::memory_order::relaxed},
    {"sleeper.check", sync::Operation::load, std::memory_order::relaxed},
    {"sleeper.park", sync::Operation::park, std::memory_order::seq_cst},
    {"sleeper.unpark", sync::Operation::unpark, std::memory_order::seq_cst},
}}};

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
            address, [this] { return is_unchanged(); }, sites.at(At::park));
      }
    }
  }

 protected:
  using At = SleeperSite;
  static constexpr const auto& sites = sleeper_sites;
  static constexpr const void* address = &sleeper_sites;

  void change() {
    state_.store(1, sites.at(At::change, std::memory_order::relaxed));
    Parking::unpark_all(address, sites.at(At::unpark));
  }

  bool is_changed() const {
    return state_.load(sites.at(At::check, std::memory_order::relaxed)) != 0;
  }

 private:
  bool is_unchanged() const {
    const bool changed = is_changed();
    cover(changed ? "the change comes before the sleep" : "a thread sleeps before the change");
    return !changed;
  }

  Checked::Atomic<std::uint32_t> state_{0};
};

}  // namespace byre::verification
