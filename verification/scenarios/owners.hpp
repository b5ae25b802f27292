// SPDX-License-Identifier: BSL-1.0
/// Owners of shared data that drop, write, or fail to copy, for protocols in the place of the share word: the textbook
/// form, and the published designs that are wrong.
#pragma once

#include "bare_data.hpp"

namespace byre::verification {

/// All owners read, and drop the data.
template <unsigned Owners, class Word>
class OwnersDrop {
 public:
  static constexpr unsigned threads = Owners;

  void thread(unsigned) {
    expect(data_.read() == 7, "an owner reads what it was given");
    data_.drop();
  }

 private:
  BareData<Word> data_{Owners, 7};
};

/// All owners write, and keep the data.
template <unsigned Owners, class Word>
class OwnersWrite {
 public:
  static constexpr unsigned threads = Owners;

  void thread(unsigned) {
    if (data_.claim() == Claim::steal) {
      ++steals_;
      data_.write(8);
    } else {
      expect(data_.read() == 7, "the data is constant while it is copied");
      data_.finish_copy();
    }
  }

  void after() {
    expect(steals_ == 1, "of all owners that write, one keeps the data");
    expect(data_.drop(), "the others have left it");
  }

 private:
  BareData<Word> data_{Owners, 7};
  unsigned steals_ = 0;
};

/// Both owners write; the copy of the second fails.
template <class Word>
class OwnersFail {
 public:
  static constexpr unsigned threads = 2;
  static constexpr std::string_view cover_points[] = {"a copy fails", "no copy fails"};

  void thread(unsigned index) {
    if (data_.claim() == Claim::steal) {
      data_.write(8 + index);
    } else if (index == 0) {
      expect(data_.read() == 7, "the data is constant while it is copied");
      data_.finish_copy();
    } else {
      data_.abandon_copy();
      expect(data_.read() == 7, "an owner whose copy failed reads what it had");
      has_failed_ = true;
    }
  }

  void after() {
    cover(has_failed_ ? "a copy fails" : "no copy fails");
    expect(data_.read() == (has_failed_ ? 7U : 9U), "the second owner has what it wrote, or had");
    expect(data_.drop(), "the first owner has left the data");
  }

 private:
  BareData<Word> data_{threads, 7};
  bool has_failed_ = false;
};

}  // namespace byre::verification
