// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "buffers.hpp"

namespace byre::verification {

/// One owner reads and lets go; the other, where it finds itself alone, changes the size: within
/// the capacity, and beyond it.
template <class Sync = Checked>
class ResizesRaceDrops {
 public:
  static constexpr unsigned threads = 2;
  static constexpr std::string_view cover_points[] = {
      "a sole owner resizes",
      "a resize of shared data is refused",
  };

  void thread(unsigned index) {
    if (index == 0) {
      expect(read(reader_) == 7, "a reader never sees its bytes move");
      expect(reader_.nbytes() == cells(1), "nor another owner's change of size");
      drop(reader_);
      return;
    }
    try {
      resized_.resize(cells(0));
      expect(resized_.is_unique(), "who is alone stays so until it clones");
      resized_.resize(cells(2));
      cell(resized_.mutable_data(), 1).set(8);
      cover("a sole owner resizes");
    } catch (const NotUnique&) {
      expect(resized_.nbytes() == cells(1), "a resize that is refused changes nothing");
      cover("a resize of shared data is refused");
    }
  }

  void after() {
    const bool moved = buffers_.memory.allocations() == 2;
    expect(buffers_.memory.frees() == (moved ? 1U : 0U), "bytes are freed when they have moved");
    expect(cell(resized_.data(), moved ? 1 : 0).get() == (moved ? 8U : 7U), "and kept if not");
  }

 private:
  SharedBuffers<threads, Sync> buffers_;
  basic_buffer<Sync>& reader_ = buffers_[0];
  basic_buffer<Sync>& resized_ = buffers_[1];
};

}  // namespace byre::verification
