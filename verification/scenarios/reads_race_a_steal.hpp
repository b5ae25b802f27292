// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "buffers.hpp"

namespace byre::verification {

/// One owner reads and lets go; the other writes, in place where it finds itself alone.
template <template <class> class Share>
class ReadsRaceASteal {
 public:
  static constexpr unsigned threads = 2;
  static constexpr std::string_view cover_points[] = {
      "the writer steals",
      "the writer copies",
      "the writer finds itself unique",
  };

  ReadsRaceASteal() {
    reader_ = buffer_of<Share>(7, memory_);
    writer_ = reader_;
  }

  void thread(unsigned index) {
    if (index == 0) {
      expect(read(reader_) == 7, "a reader never sees another owner's write");
      expect(reader_.nbytes() == cells(1), "nor its change of size");
      expect(reader_.use_count() <= threads, "no more owners are counted than there are");
      drop(reader_);
    } else {
      if (writer_.is_unique()) {
        cover("the writer finds itself unique");
        expect(writer_.is_unique(), "who is unique stays so until it clones");
        writer_.resize(cells(1));
      }
      const Materialized how = write(writer_, 8);
      cover(how == Materialized::stole ? "the writer steals" : "the writer copies");
      expect(how != Materialized::already_unique, "shared data is stolen or copied");
    }
  }

  void after() {
    expect(read(writer_) == 8, "the writer keeps what it wrote");
    expect(writer_.materialize() == Materialized::already_unique, "who wrote owns plainly");
    expect(memory_.copies() == memory_.frees(), "the data lives on only where it was stolen");
  }

 private:
  Tracked memory_;
  CheckedBuffer<Share> reader_;
  CheckedBuffer<Share> writer_;
};

}  // namespace byre::verification
