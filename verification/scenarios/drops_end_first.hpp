// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "bare_data.hpp"
#include "sleepers_are_woken.hpp"

namespace byre::verification {

/// One of two owners copies, and ends the copy only when the other has dropped: a drop that waits for
/// copies never ends.
template <class Word = basic_share_word<Checked>>
class DropsEndFirst {
 public:
  static constexpr unsigned threads = 2;
  static constexpr std::string_view cover_points[] = {
      "a drop ends while a copy is pending",
      "the copier is the last, and frees",
  };

  void thread(unsigned index) {
    if (index != 0) {
      expect(data_.read() == 7, "an owner reads what it was given");
      data_.drop();
      dropped_.store(1, step_of<"sleeper.change">(relaxed));
      Checked::unpark_all(address, step_of<"sleeper.unpark">());
    } else if (data_.claim() == Claim::copy) {
      await_drop();
      cover("a drop ends while a copy is pending");
      expect(data_.read() == 7, "data that is copied is constant");
      if (data_.finish_copy()) {
        cover("the copier is the last, and frees");
      }
    } else {
      data_.drop();
    }
  }

 private:
  static constexpr const void* address = "where threads sleep";

  bool has_dropped() const { return dropped_.load(step_of<"sleeper.check">(relaxed)) != 0; }
  void await_drop() const {
    while (!has_dropped()) {
      Checked::park(
          address, [this] { return !has_dropped(); }, step_of<"sleeper.park">());
    }
  }

  BareData<Word> data_{threads, 7};
  Checked::Atomic<std::uint32_t> dropped_{0};
};

}  // namespace byre::verification
