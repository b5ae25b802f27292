// SPDX-License-Identifier: BSL-1.0
/// The body that runs the program under way, and the oracle over all its threads.
#pragma once

#include "actor.hpp"

namespace byre::verification {

/// The program of the search under way.
inline const Program* program_under_way = nullptr;

template <unsigned Threads>
class RunsProgram {
 public:
  static constexpr unsigned threads = Threads;

  RunsProgram() {
    auto shared = CheckedBuffer::allocate(cells(1), memory_);
    cell(shared.mutable_data()).set(ThreadModel::original);
    for (Actor& actor : actors_) {
      actor.begin_with(shared);
    }
  }

  void thread(unsigned index) {
    actors_[index].run(index, program_under_way->threads[index], memory_);
  }

  void after() {
    check_original();
    for (const Actor& actor : actors_) {
      actor.check_end([this](unsigned value) { return owners_of(value); });
    }
    check_memory();
  }

 private:
  unsigned owners_of(unsigned value) const {
    unsigned owners = 0;
    for (const Actor& actor : actors_) {
      owners += actor.model().owners_of(value);
    }
    return owners;
  }

  /// Of N owners that write, N-1 copy: the last of them to leave the original keeps it.
  void check_original() const {
    unsigned takers = 0;
    bool all_copied = true;
    for (const Actor& actor : actors_) {
      takers += actor.model().took_original();
      all_copied = all_copied && actor.model().copied_away();
    }
    expect(takers + (owners_of(ThreadModel::original) != 0) <= 1,
           "one owner at most takes the data");
    expect(!all_copied, "where all write, one owner keeps the data");
  }

  /// Each copy that a write reported was made, and what nobody has any more is freed.
  void check_memory() const {
    unsigned copies = 0;
    unsigned alive = 0;
    for (const Actor& actor : actors_) {
      copies += actor.model().copies();
      alive += actor.model().blocks_of_its_own();
    }
    alive += owners_of(ThreadModel::original) != 0;
    const Tracked& memory = memory_.tracked();
    expect(memory.copies() == copies, "as many copies are made as writes report");
    expect(memory.allocations() - memory.frees() == alive, "what nobody owns is freed at once");
  }

  ScarceMemory memory_;
  std::array<Actor, threads> actors_;
};

}  // namespace byre::verification
