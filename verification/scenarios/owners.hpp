// SPDX-License-Identifier: BSL-1.0
/// Scenarios of owners without buffers. The owners share one cell and a share word, or another
/// protocol in place of the share word: the textbook form and the published designs run these
/// scenarios, too. Without buffers an execution has fewer steps, so a search can have more owners.
#pragma once

#include <byre/cow/share_word.hpp>

#include "sleepers.hpp"

namespace byre::verification {

/// A cell and its share word. A second free or a missing one fails the execution.
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

  /// drop() and finish_copy() return true if the call has freed the data. The caller must not
  /// access the data after either call.
  bool drop() { return freed_if(shared_->share.drop_owner()); }
  bool finish_copy() { return freed_if(shared_->share.finish_copy()); }

  /// Makes the copy after a claim, checks that the data is `value`, and finishes the copy.
  bool copy(unsigned value = 7) {
    expect(read() == value, "the data is constant while it is copied");
    return finish_copy();
  }

 private:
  struct Shared {
    Word share;
    Cell cell;
  };

  bool freed_if(bool is_last) {
    if (is_last) {
      delete shared_;
    }
    return is_last;
  }

  Shared* const shared_;
};

/// All owners read the data and drop it.
template <unsigned Owners, class Word>
class OwnersDrop {
 public:
  static constexpr unsigned threads = Owners;

  void thread(unsigned) {
    expect(data_.read() == 7, "an owner reads the shared value");
    data_.drop();
  }

 private:
  BareData<Word> data_{Owners, 7};
};

/// All owners claim, then copy or write in place. The owner that steals then drops the data, or
/// holds it to the end if `Keeps` is true.
template <unsigned Owners, class Word = basic_share_word<Checked>, bool Keeps = false>
class ClaimsStealOnce {
 public:
  static constexpr unsigned threads = Owners;

  void thread(unsigned) {
    if (data_.claim() == Claim::copy) {
      data_.copy();
      return;
    }
    ++steals_;
    data_.write(8);
    if (!Keeps) {
      data_.drop();
    }
  }

  void after() {
    expect(steals_ == 1, "exactly one of the claiming owners steals");
    expect(!Keeps || data_.drop(), "no other owner is counted");
  }

 private:
  BareData<Word> data_{Owners, 7};
  unsigned steals_ = 0;
};

template <unsigned Owners, class Word>
using OwnersWrite = ClaimsStealOnce<Owners, Word, true>;

/// Both owners write. The copy of the second owner fails.
template <class Word>
class OwnersFail : public TwoThreads {
 public:
  static constexpr std::string_view cover_points[] = {"a copy fails", "no copy fails"};

  void thread(unsigned index) {
    if (data_.claim() == Claim::steal) {
      data_.write(8 + index);
    } else if (index == 0) {
      data_.copy();
    } else {
      data_.abandon_copy();
      expect(data_.read() == 7, "an owner whose copy failed reads the old value");
      has_failed_ = true;
    }
  }

  void after() {
    cover(has_failed_ ? "a copy fails" : "no copy fails");
    expect(data_.read() == (has_failed_ ? 7U : 9U),
           "the data has the second owner's write, or the old value");
    expect(data_.drop(), "the first owner is not counted");
  }

 private:
  BareData<Word> data_{threads, 7};
  bool has_failed_ = false;
};

/// One of two owners copies, and ends its copy only after the other has dropped. If a drop waited
/// for copies, neither the drop nor the copy would end.
template <class Word = basic_share_word<Checked>>
class DropsEndFirst : public TwoThreads {
 public:
  static constexpr std::string_view cover_points[] = {
      "a drop ends while a copy is pending",
      "the copier is the last, and frees",
  };

  void thread(unsigned index) {
    if (index != 0) {
      expect(data_.read() == 7, "an owner reads the shared value");
      data_.drop();
      drop_.happen();
    } else if (data_.claim() == Claim::copy) {
      drop_.await();
      cover("a drop ends while a copy is pending");
      cover_if(data_.copy(), "the copier is the last, and frees");
    } else {
      data_.drop();
    }
  }

 private:
  BareData<Word> data_{threads, 7};
  Event<> drop_;
};

}  // namespace byre::verification
