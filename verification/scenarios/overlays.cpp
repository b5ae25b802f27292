// SPDX-License-Identifier: BSL-1.0
/// Overlays: data in pages, which writers of shared data see privately.
#include "paged_buffers.hpp"

namespace byre::verification {
namespace {

/// One owns a file, and two an overlay of it.
class FileAndOverlays : public PagedOwners<3> {
 protected:
  FileAndOverlays() {
    buffers_[0] = paged_buffer_of(7, files_);
    buffers_[1] = buffers_[0];
    write_page(buffers_[1], 8);
    buffers_[2] = buffers_[1];
  }
};

/// All owners of the same pages write.
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

/// The owner of the file writes; of the others one writes, which maps another overlay, and one reads and drops.
class OverlaysOfOverlays : public FileAndOverlays {
 public:
  void thread(unsigned index) {
    if (index == 2) {
      expect(read_page(buffers_[2]) == 8, "an owner reads what it was given");
    } else {
      write_own(index, 7 + index);
    }
    drop(buffers_[index]);
  }
};

/// An overlay that was not written shows its file: who owns that may write in place only when no overlay is left,
/// not even one that was mapped by a clone of the first.
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
      write_page(buffer, 9);
    } else {
      expect(read_page(buffer) == 7, "the file is constant while an overlay shows it");
    }
    drop(buffer);
  }
};

/// The owner of the file reads and drops; the others write, and one that finds no other overlay of the file writes it
/// back.
class LastOverlaysWriteBack : public FileAndOverlays {
 public:
  void thread(unsigned index) {
    if (index == 0) {
      expect(read_page(buffers_[0]) == 7, "an owner reads what it was given");
    } else {
      write_own(index, 8);
    }
    drop(buffers_[index]);
  }
};

/// An overlay, which has a clone, is written while another of the same file is read.
class OverlaysRaceAWriteBack : public PagedOwners<2> {
 public:
  OverlaysRaceAWriteBack() {
    CheckedBuffer file = paged_buffer_of(7, files_);
    buffers_[0] = file;
    buffers_[0].mutable_data();
    buffers_[1] = file;
    write_page(buffers_[1], 8);
    clone_ = buffers_[1];
  }

  void thread(unsigned index) {
    CheckedBuffer& buffer = buffers_[index];
    if (index == 0) {
      expect(read_page(buffer) == 7, "the file is constant while an overlay shows it");
    } else {
      write_page(buffer, 9);
      expect(read_page(clone_) == 8, "a clone reads what it was given");
      drop(clone_);
    }
    drop(buffer);
  }

 private:
  CheckedBuffer clone_;
};

const Scenario* const overlays_listed[] = {
    scenario<OverlaysRaceWriters<2>>(
        "overlays_race_writers",
        "Who writes shared pages sees them as it wrote them, and nobody else does: promise 1, I4.",
        reduced_search),
    scenario<OverlaysRaceWriters<3>>("three_overlays_race_writers", "The same of three owners.", 1,
                                     reduced_search),
    scenario<OverlaysOfOverlays>(
        "overlays_of_overlays",
        "An overlay of a clone of an overlay keeps their file constant and alive.", 1,
        reduced_search),
    scenario<UnwrittenOverlays>("unwritten_overlays",
                                "A file is written in place once no overlay is left: I4, I5.",
                                reduced_search),
    scenario<LastOverlaysWriteBack>(
        "last_overlays_write_back",
        "The last overlay of a file that nobody owns, and its clones, may write it back.", 1,
        reduced_search),
    scenario<OverlaysRaceAWriteBack>(
        "overlays_race_a_write_back",
        "A file is not written back before the last other overlay of it has been read.",
        reduced_search),
};

}  // namespace
}  // namespace byre::verification
