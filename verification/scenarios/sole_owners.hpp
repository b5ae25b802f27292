// SPDX-License-Identifier: BSL-1.0
/// Two owners: one reads and lets go, and the other acts on being alone.
#pragma once

#include "buffers.hpp"

namespace byre::verification {

/// One owner reads and lets go; the other writes, in place where it finds itself alone.
template <class Sync = Checked>
class ReadsRaceASteal : public TwoThreads {
 public:
  static constexpr std::string_view cover_points[] = {
      "the writer finds itself alone at once",
      "the writer steals",
      "the writer copies",
  };

  void thread(unsigned index) {
    if (index == 0) {
      expect(read(reader_) == 7, "a reader never sees another owner's write");
      expect(reader_.use_count() <= threads, "no more owners are counted than there are");
      drop(reader_);
      return;
    }
    const std::byte* const shared = writer_.data();
    const Materialized how = writer_.materialize();
    cell(writer_.mutable_data()).set(8);
    expect((writer_.data() != shared) == (how == Materialized::copied), "only a copy moves");
    cover(how == Materialized::copied  ? "the writer copies"
          : how == Materialized::stole ? "the writer steals"
                                       : "the writer finds itself alone at once");
  }

  void after() {
    expect(read(writer_) == 8, "the writer keeps what it wrote");
    expect(writer_.materialize() == Materialized::already_unique, "who wrote owns plainly");
    expect(writer_.use_count() == 1, "no owner is counted that is gone");
    expect(buffers_.memory.copies() == buffers_.memory.frees(),
           "the data lives on only where it was kept");
  }

 private:
  SharedBuffers<threads, Sync> buffers_;
  basic_buffer<Sync>& reader_ = buffers_[0];
  basic_buffer<Sync>& writer_ = buffers_[1];
};

/// One owner reads and lets go; the other, where it finds itself alone, changes the size: within
/// the capacity, and beyond it.
template <class Sync = Checked>
class ResizesRaceDrops : public TwoThreads {
 public:
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
