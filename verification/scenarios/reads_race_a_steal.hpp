// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "buffers.hpp"

namespace byre::verification {

/// One owner reads and lets go; the other writes, in place where it finds itself alone.
template <class Sync = Checked>
class ReadsRaceASteal {
 public:
  static constexpr unsigned threads = 2;
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

}  // namespace byre::verification
