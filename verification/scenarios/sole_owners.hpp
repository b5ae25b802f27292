// SPDX-License-Identifier: BSL-1.0
/// One of two owners reads and drops. The other owner, if it finds that it is the only owner,
/// writes or resizes. The write or resize has to happen after the read: if the load of is_writable
/// or is_unique is relaxed, the write races the read.
#pragma once

#include "buffers.hpp"

namespace byre::verification {

/// One owner reads and drops. The other writes, in place if it is the only owner.
template <class Sync = Checked>
class ReadsRaceASteal : public TwoThreads {
 public:
  static constexpr std::string_view cover_points[] = {
      "the writer finds unique data",
      "the writer steals",
      "the writer copies",
  };

  void thread(unsigned index) {
    if (index == 0) {
      expect(read(reader_) == 7, "a reader never reads another owner's write");
      expect(reader_.use_count() <= threads, "use_count() is at most the number of owners");
      drop(reader_);
      return;
    }
    const std::byte* const shared = writer_.data();
    const Materialized how = writer_.materialize();
    cell(writer_.mutable_data()).set(8);
    expect((writer_.data() != shared) == (how == Materialized::copied),
           "the data moves only if it was copied");
    cover(how == Materialized::copied  ? "the writer copies"
          : how == Materialized::stole ? "the writer steals"
                                       : "the writer finds unique data");
  }

  void after() {
    expect(read(writer_) == 8, "the writer reads what it wrote");
    expect(writer_.materialize() == Materialized::already_unique, "the writer's data is unique");
    expect(writer_.use_count() == 1, "a former owner is not counted");
    expect(buffers_.memory.copies() == buffers_.memory.frees(),
           "the original is freed if and only if it was copied");
  }

 private:
  SharedBuffers<threads, Sync> buffers_;
  basic_buffer<Sync>& reader_ = buffers_[0];
  basic_buffer<Sync>& writer_ = buffers_[1];
};

/// One owner reads and drops. The other, if it is the only owner, changes the size: within the
/// capacity, and beyond it.
template <class Sync = Checked>
class ResizesRaceDrops : public TwoThreads {
 public:
  static constexpr std::string_view cover_points[] = {
      "the only owner resizes",
      "a resize of shared data is rejected",
  };

  void thread(unsigned index) {
    if (index == 0) {
      expect(read(reader_) == 7, "a reader's bytes never move");
      expect(reader_.nbytes() == cells(1), "a reader's size never changes");
      drop(reader_);
      return;
    }
    try {
      resized_.resize(cells(0));
      expect(resized_.is_unique(), "unique data stays unique until it is cloned");
      resized_.resize(cells(2));
      cell(resized_.mutable_data(), 1).set(8);
      cover("the only owner resizes");
    } catch (const NotUnique&) {
      expect(resized_.nbytes() == cells(1), "a rejected resize changes nothing");
      cover("a resize of shared data is rejected");
    }
  }

  void after() {
    const bool moved = buffers_.memory.allocations() == 2;
    expect(buffers_.memory.frees() == (moved ? 1U : 0U),
           "the old bytes are freed if they have moved");
    expect(cell(resized_.data(), moved ? 1 : 0).get() == (moved ? 8U : 7U),
           "the old bytes remain if they have not moved");
  }

 private:
  SharedBuffers<threads, Sync> buffers_;
  basic_buffer<Sync>& reader_ = buffers_[0];
  basic_buffer<Sync>& resized_ = buffers_[1];
};

}  // namespace byre::verification
