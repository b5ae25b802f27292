// SPDX-License-Identifier: BSL-1.0
/// Writable clones of data in pages: both sides write by pointers that they took before.
#include "paged_buffers.hpp"

namespace byre::verification {
namespace {

/// The source writes, is cloned again and writes on, while the first clone reads, writes and leaves.
/// `RefusesWritten`: so many pages are written that the second clone moves to a new file.
template <bool RefusesWritten>
class WritableClonesRaceWriters {
 public:
  static constexpr unsigned threads = 2;

  WritableClonesRaceWriters() {
    files_.refuses_written = RefusesWritten;
    source_ = paged_buffer_of(7, files_);
    page_ = &page_of(source_);
    clone_ = source_.writable_clone();
  }

  void thread(unsigned index) {
    if (index == 1) {
      expect(read_page(clone_) == 7, "a clone reads what it was given");
      page_of(clone_).set(9);
      expect(read_page(clone_) == 9, "a clone reads what it wrote");
      drop(clone_);
      return;
    }
    page_->set(1);
    CheckedBuffer second = source_.writable_clone();
    expect(source_.data() == reinterpret_cast<const std::byte*>(page_), "the address stays");
    page_->set(2);
    expect(read_page(second) == 1, "a clone begins as its source is");
    expect(read_page(source_) == 2, "the source reads what its pointer wrote");
    drop(source_);
    drop(second);
  }

 private:
  CellFiles files_;
  CheckedBuffer source_;
  CheckedBuffer clone_;
  Page* page_;
};

/// Both sides are cloned at once, and one of them is the last to show the file.
class WritableClonesAtOnce : public PagedOwners<2> {
 public:
  WritableClonesAtOnce() {
    buffers_[0] = paged_buffer_of(7, files_);
    buffers_[1] = buffers_[0].writable_clone();
  }

  void thread(unsigned index) {
    CheckedBuffer& side = buffers_[index];
    page_of(side).set(index);
    CheckedBuffer clone = side.writable_clone();
    page_of(clone).set(10 + index);
    expect(read_page(side) == index, "a side reads what it wrote");
    drop(clone);
    drop(side);
  }
};

/// The source is shared lazily: it leaves the other owner before it is cloned.
class WritableClonesRaceLazyClones {
 public:
  static constexpr unsigned threads = 2;

  WritableClonesRaceLazyClones() {
    source_ = paged_buffer_of(7, files_);
    lazy_ = source_;
  }

  void thread(unsigned index) {
    if (index == 1) {
      write_page(lazy_, 5);
      expect(read_page(lazy_) == 5, "an owner reads what it wrote");
      drop(lazy_);
      return;
    }
    CheckedBuffer clone = source_.writable_clone();
    page_of(source_).set(1);
    expect(read_page(clone) == 7, "a clone begins as its source is");
    drop(clone);
    drop(source_);
  }

 private:
  CellFiles files_;
  CheckedBuffer source_;
  CheckedBuffer lazy_;
};

/// The source, alone with its file and written, was shared lazily: both owners write, and each begins as the source is.
class WritableClonesAreSharedLazily : public PagedOwners<2> {
 public:
  WritableClonesAreSharedLazily() {
    CheckedBuffer source = paged_buffer_of(7, files_);
    source.writable_clone();
    page_of(source).set(8);
    buffers_[0] = source;
    buffers_[1] = source;
  }

  void thread(unsigned index) {
    write_own(index, 8);
    drop(buffers_[index]);
  }
};

const Scenario* const writable_clones_listed[] = {
    scenario<WritableClonesRaceWriters<false>>(
        "writable_clones_race_writers",
        "A file is constant while a writable clone shows it, and written back by the last one: I4.",
        reduced_search),
    scenario<WritableClonesRaceWriters<true>>(
        "writable_clones_of_new_files",
        "A writable clone may move its source to a new file, at the address it has.",
        reduced_search),
    scenario<WritableClonesAtOnce>("writable_clones_at_once",
                                   "Both sides of a writable clone may be cloned at once.",
                                   reduced_search),
    scenario<WritableClonesAreSharedLazily>(
        "writable_clones_are_shared_lazily",
        "A page is freed beneath the last overlay only while no overlay of it is begun.", 1,
        reduced_search),
    scenario<WritableClonesRaceLazyClones>(
        "writable_clones_race_lazy_clones",
        "A writable clone leaves lazy clones of its source as they are.", reduced_search),
};

}  // namespace
}  // namespace byre::verification
