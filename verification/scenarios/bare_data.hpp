// SPDX-License-Identifier: BSL-1.0
/// Shared data without buffers: one cell and a share word, or another protocol in its place, for scenarios that need
/// more owners or more steps than buffers leave room for. The checker finds a second free, and a missing one.
#pragma once

#include <byre/cow/share_word.hpp>

#include "../search.hpp"

namespace byre::verification {

template <class Word = basic_share_word<Checked>>
class BareData {
 public:
  BareData(unsigned owners, unsigned value) : shared_(new Shared) {
    Execution::current().name(shared_, sizeof *shared_, "shared");
    shared_->cell.set(value);
    for (; owners > 1; --owners) {
      shared_->share.add_owner();
    }
  }

  unsigned read() const { return shared_->cell.get(); }
  void write(unsigned value) { shared_->cell.set(value); }

  void clone() { shared_->share.add_owner(); }
  bool is_unique() const { return shared_->share.is_unique(); }
  Claim claim(Wait wait = Wait::allowed) { return shared_->share.claim(wait); }
  void abandon_copy() { shared_->share.abandon_copy(); }

  /// The two after which nothing may be touched; true iff the caller has to free.
  bool drop() { return freed_if(shared_->share.drop_owner()); }
  bool finish_copy() { return freed_if(shared_->share.finish_copy()); }

 private:
  struct Shared {
    Word share;
    Cell cell;
  };

  bool freed_if(bool nobody_is_left) {
    if (nobody_is_left) {
      delete shared_;
    }
    return nobody_is_left;
  }

  Shared* const shared_;
};

}  // namespace byre::verification
