// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "bare_data.hpp"

namespace byre::verification {

/// All owners claim, then copy or write in place, and leave.
template <unsigned Owners, class Word = basic_share_word<Checked>>
class ClaimsStealOnce {
 public:
  static constexpr unsigned threads = Owners;

  void thread(unsigned) {
    if (data_.claim() == Claim::steal) {
      ++steals_;
      data_.write(8);
      data_.drop();
    } else {
      expect(data_.read() == 7, "the data is constant while it is copied");
      data_.finish_copy();
    }
  }

  void after() { expect(steals_ == 1, "of all who claim, one steals"); }

 private:
  BareData<Word> data_{Owners, 7};
  unsigned steals_ = 0;
};

}  // namespace byre::verification
