// SPDX-License-Identifier: BSL-1.0
#include "buffers.hpp"

namespace byre::verification {
namespace {

/// Two owners of adopted memory, of which one reads and lets go and the other writes or lets go
/// too.
template <bool Writes>
class AdoptedMemory {
 public:
  static constexpr unsigned threads = 2;

  AdoptedMemory() {
    cell_.emplace(7U);
    Execution::current().name(&*cell_, sizeof(Cell), "adopted");
    auto delete_cell = [this](void* data) {
      expect(data == &*cell_, "the deleter is given what was adopted");
      expect(++deleted_ == 1, "the deleter is called once");
      cell_.reset();  // a write, to the checker: it comes after all reads
    };
    buffers_[0] = CheckedBuffer::adopt(&*cell_, cells(1), delete_cell, memory_);
    buffers_[1] = buffers_[0];
  }

  void thread(unsigned index) {
    auto& buffer = buffers_[index];
    expect(read(buffer) == 7, "an owner reads what was adopted");
    if (Writes && index == 0) {
      how_ = write(buffer, 8);
    } else {
      drop(buffer);
    }
  }

  void after() {
    if (Writes) {
      const bool in_place = how_ == Written::in_place;
      cover(in_place ? "adopted memory is written in place" : "adopted memory is copied");
      expect(read(buffers_[0]) == 8, "the writer keeps what it wrote");
      expect(deleted_ == (in_place ? 0U : 1U), "adopted memory lives as long as it is owned");
      drop(buffers_[0]);
    }
    expect(deleted_ == 1, "adopted memory is deleted");
  }

 private:
  Tracked memory_;
  std::optional<Cell> cell_;
  unsigned deleted_ = 0;
  Written how_ = Written::in_place;
  CheckedBuffer buffers_[threads];
};

class AndWritten : public AdoptedMemory<true> {
 public:
  static constexpr std::string_view cover_points[] = {
      "adopted memory is written in place",
      "adopted memory is copied",
  };
};

const Scenario* const adopted_memory_listed[] = {
    scenario<AdoptedMemory<false>>("adopted_memory_is_dropped",
                                   "Adopted memory is lazily cloned like any other; its deleter is "
                                   "called once, after all reads: promise 8."),
    scenario<AndWritten>("adopted_memory_is_written",
                         "The last owner of adopted memory writes it in place, and its deleter "
                         "waits for that owner: promise 8."),
};

}  // namespace

}  // namespace byre::verification
