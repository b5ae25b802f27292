// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "bare_data.hpp"

namespace byre::verification {

/// What an owner does whose copy failed.
enum class AfterFailure : bool { leaves, tries_again_without_waiting };

/// The first owner writes, and may have to wait. The copies of the others fail.
template <template <class> class Share, unsigned Failing, AfterFailure Then>
class UndosWakeWaiters {
 public:
  static constexpr unsigned threads = Failing + 1;

  void thread(unsigned index) {
    if (index == 0) {
      write(Wait::allowed);
    } else if (data_.claim() == Claim::steal) {
      write_in_place();
    } else {
      data_.abandon_copy();
      expect(data_.read() == 7, "who failed owns still, and nobody writes what it reads");
      if (Then == AfterFailure::leaves) {
        data_.drop();
      } else {
        write(Wait::never);
      }
    }
  }

 private:
  void write(Wait wait) {
    if (data_.claim(wait) == Claim::steal) {
      write_in_place();
    } else {
      expect(data_.read() == 7, "the data is constant while it is copied");
      data_.finish_copy();
    }
  }

  void write_in_place() {
    data_.write(8);
    data_.drop();
  }

  BareData<Share> data_{threads, 7};
};

}  // namespace byre::verification
