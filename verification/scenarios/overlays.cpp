// SPDX-License-Identifier: BSL-1.0
/// Two or three owners share paged data (a file of pages). They write it through overlays (private
/// mappings of the file), or make writable clones and write through pointers taken before the
/// clone. The file must not change while an overlay shows it, except by a write-back from the last
/// overlay. Every reader has to read its own value. If the load of is_sole_copier is not an
/// acquire, a write-back races the reads of other overlays.
#include "paged_buffers.hpp"

namespace byre::verification {
namespace {

/// One buffer owns a file, and two buffers own an overlay of it.
class FileAndOverlays : public PagedOwners<3> {
 protected:
  FileAndOverlays() {
    buffers_[0] = paged_buffer_of(7, files_);
    buffers_[1] = buffers_[0];
    page_of(buffers_[1]).set(8);
    buffers_[2] = buffers_[1];
  }
};

/// All owners of one file write.
template <unsigned Owners>
class OverlaysRaceWriters : public PagedOwners<Owners> {
 public:
  OverlaysRaceWriters() {
    this->buffers_[0] = paged_buffer_of(7, this->files_);
    for (unsigned index = 1; index < Owners; ++index) {
      this->buffers_[index] = this->buffers_[0];
    }
  }

  void thread(unsigned index) {
    this->write_own(index, 7);
    drop(this->buffers_[index]);
  }
};

/// The owner of the file writes. One owner of the overlay writes, so another overlay is mapped. The
/// other owner of the overlay reads and drops.
class OverlaysOfOverlays : public FileAndOverlays {
 public:
  void thread(unsigned index) {
    if (index == 2) {
      expect(read_page(buffers_[2]) == 8, "an owner reads the shared value");
    } else {
      write_own(index, 7 + index);
    }
    drop(buffers_[index]);
  }
};

/// An overlay that was not written shows its file. Therefore the owner of the file may write in
/// place only if no overlay remains, not even an overlay that a clone of the first overlay has
/// mapped.
class UnwrittenOverlays : public PagedOwners<2> {
 public:
  UnwrittenOverlays() {
    buffers_[0] = paged_buffer_of(7, files_);
    CheckedBuffer overlay = buffers_[0];
    overlay.mutable_data();
    buffers_[1] = overlay;
    buffers_[1].mutable_data();
  }

  void thread(unsigned index) {
    CheckedBuffer& buffer = buffers_[index];
    if (index == 0) {
      page_of(buffer).set(9);
    } else {
      expect(read_page(buffer) == 7, "the file is constant while an overlay shows it");
    }
    drop(buffer);
  }
};

/// The owner of the file reads and drops. The other owners write. A writer that finds no other
/// overlay of the file writes its pages back to the file.
class LastOverlaysWriteBack : public FileAndOverlays {
 public:
  void thread(unsigned index) {
    if (index == 0) {
      expect(read_page(buffers_[0]) == 7, "an owner reads the shared value");
    } else {
      write_own(index, 8);
      buffers_[index].mutable_data();  // the overlay is unique now
    }
    drop(buffers_[index]);
  }
};

/// A shared overlay is written while another overlay of the file is read.
class OverlaysRaceAWriteBack : public PagedOwners<2> {
 public:
  OverlaysRaceAWriteBack() {
    CheckedBuffer file = paged_buffer_of(7, files_);
    buffers_[0] = file;
    buffers_[0].mutable_data();
    buffers_[1] = file;
    page_of(buffers_[1]).set(8);
    clone_ = buffers_[1];
  }

  void thread(unsigned index) {
    CheckedBuffer& buffer = buffers_[index];
    if (index == 0) {
      expect(read_page(buffer) == 7, "the file is constant while an overlay shows it");
    } else {
      page_of(buffer).set(9);
      expect(read_page(clone_) == 8, "a clone reads the shared value");
      drop(clone_);
    }
    drop(buffer);
  }

 private:
  CheckedBuffer clone_;
};

/// The source writes, is cloned again and writes again, while the first clone reads, writes and
/// drops. If `RefusesWritten` is true, the file refuses to map an overlay of the source, as if too
/// many pages had been written, so the second clone moves the source to a new file.
template <bool RefusesWritten>
class WritableClonesRaceWriters : public TwoThreads {
 public:
  WritableClonesRaceWriters() {
    files_.refuses_written = RefusesWritten;
    source_ = paged_buffer_of(7, files_);
    page_ = &page_of(source_);
    clone_ = source_.writable_clone();
  }

  void thread(unsigned index) {
    if (index == 1) {
      expect(read_page(clone_) == 7, "a clone reads the shared value");
      page_of(clone_).set(9);
      expect(read_page(clone_) == 9, "a clone reads what it wrote");
      drop(clone_);
      return;
    }
    page_->set(1);
    CheckedBuffer second = source_.writable_clone();
    expect(source_.data() == reinterpret_cast<const std::byte*>(page_),
           "the source's address does not change");
    page_->set(2);
    expect(read_page(second) == 1, "a clone starts with its source's value");
    expect(read_page(source_) == 2, "the source reads what was written through its pointer");
    drop(source_);
    drop(second);
  }

 private:
  CellFiles files_;
  CheckedBuffer source_;
  CheckedBuffer clone_;
  Page* page_;
};

/// The source and its clone are cloned at once. One of them is the last overlay that shows the
/// file.
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
    expect(read_page(side) == index, "a buffer reads what it wrote");
    drop(clone);
    drop(side);
  }
};

/// The source has a lazy clone, so writable_clone() first has to make the source's data unique.
class WritableClonesRaceLazyClones : public TwoThreads {
 public:
  WritableClonesRaceLazyClones() {
    source_ = paged_buffer_of(7, files_);
    lazy_ = source_;
  }

  void thread(unsigned index) {
    if (index == 1) {
      page_of(lazy_).set(5);
      expect(read_page(lazy_) == 5, "an owner reads what it wrote");
      drop(lazy_);
      return;
    }
    CheckedBuffer clone = source_.writable_clone();
    page_of(source_).set(1);
    expect(read_page(clone) == 7, "a clone starts with its source's value");
    drop(clone);
    drop(source_);
  }

 private:
  CellFiles files_;
  CheckedBuffer source_;
  CheckedBuffer lazy_;
};

/// The source is the only overlay of its file, was written, and was then lazily cloned. Both owners
/// write, and each starts with the source's value.
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
    buffers_[index].mutable_data();  // the overlay is unique now
    drop(buffers_[index]);
  }
};

const Scenario* const overlays_scenarios[] = {
    scenario<OverlaysRaceWriters<2>>(
        "overlays_race_writers",
        "A writer of shared pages reads its own write, and no other owner does: promise 1, I4.",
        reduced_search),
    scenario<OverlaysRaceWriters<3>>(
        "three_overlays_race_writers",
        "Three owners write shared pages, and each reads only its own write.", 1, reduced_search),
    scenario<OverlaysOfOverlays>(
        "overlays_of_overlays",
        "An overlay of a clone of an overlay keeps their file constant and alive.", 1,
        reduced_search),
    scenario<UnwrittenOverlays>("unwritten_overlays",
                                "A file is written in place only if no overlay remains: I4, I5.",
                                reduced_search),
    scenario<LastOverlaysWriteBack>("last_overlays_write_back",
                                    "The last overlay of a file without owners, and clones of that "
                                    "overlay, may write the file back.",
                                    1, reduced_search),
    scenario<OverlaysRaceAWriteBack>(
        "overlays_race_a_write_back",
        "A file is not written back before all other overlays of it were read.", reduced_search),
    scenario<WritableClonesRaceWriters<false>>("writable_clones_race_writers",
                                               "A file is constant while a writable clone shows "
                                               "it, and the last clone writes it back: I4.",
                                               reduced_search),
    scenario<WritableClonesRaceWriters<true>>(
        "writable_clones_of_new_files",
        "A writable clone may move its source to a new file without changing its address.",
        reduced_search),
    scenario<WritableClonesAtOnce>("writable_clones_at_once",
                                   "The source and its writable clone may be cloned at once.",
                                   reduced_search),
    scenario<WritableClonesAreSharedLazily>("writable_clones_are_shared_lazily",
                                            "A page under the last overlay is freed only if no "
                                            "thread is about to begin another overlay.",
                                            1, reduced_search),
    scenario<WritableClonesRaceLazyClones>(
        "writable_clones_race_lazy_clones",
        "A writable clone does not change lazy clones of its source.", reduced_search),
};

}  // namespace
}  // namespace byre::verification
