// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "bare_data.hpp"

namespace byre::verification {

/// Two owners claim. Who steals, having waited or not, clones; of the two owners there are then one
/// copies while the other leaves, so that the copier has to free. That it is freed, the checker sees.
template <template <class> class Share>
class LaterCopiersFree {
 public:
  static constexpr unsigned threads = 2;

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

 private:
  BareData<Share> data_{2, 7};
};

}  // namespace byre::verification
