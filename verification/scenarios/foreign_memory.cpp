// SPDX-License-Identifier: BSL-1.0
/// Two or three owners share foreign memory (adopted, borrowed or mapped), and read, write, clone
/// and drop it. The deleter is called, or the mapping ends, once and after all reads. Clones of
/// borrowed memory are copies, and read-only memory is never written. If drop_owner is weaker than
/// acq_rel, the deleter races the reads of the other owner.
#include "buffers.hpp"

namespace byre::verification {
namespace {

/// Two owners of adopted memory. One reads and drops. The other owner writes, or also drops.
template <bool Writes>
class AdoptedMemory : public TwoThreads {
 public:
  static constexpr std::string_view endings[] = {
      "adopted memory is written in place",
      "adopted memory is copied",
  };
  static constexpr auto cover_points = std::span<const std::string_view>(endings, Writes ? 2 : 0);

  AdoptedMemory() {
    cell_.emplace(7U);
    Execution::current().name(&*cell_, sizeof(Cell), "adopted");
    auto delete_cell = [this](void* data) {
      expect(data == &*cell_, "the deleter receives the adopted address");
      expect(++deleted_ == 1, "the deleter is called once");
      cell_.reset();  // counts as a write, so it must happen after all reads
    };
    buffers_[0] = CheckedBuffer::adopt(&*cell_, cells(1), delete_cell, memory_);
    buffers_[1] = buffers_[0];
  }

  void thread(unsigned index) {
    auto& buffer = buffers_[index];
    expect(read(buffer) == 7, "an owner reads the adopted value");
    if (Writes && index == 0) {
      how_ = write(buffer, 8);
    } else {
      drop(buffer);
    }
  }

  void after() {
    if (Writes) {
      const bool in_place = how_ == Written::in_place;
      cover(endings[in_place ? 0 : 1]);
      expect(read(buffers_[0]) == 8, "the writer reads what it wrote");
      expect(deleted_ == (in_place ? 0U : 1U),
             "adopted memory is deleted if and only if it was copied");
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

/// Two threads clone a buffer of borrowed memory, and one of them writes its clone. Then the buffer
/// itself is written and dropped, the lender (the owner of the borrowed memory) checks and destroys
/// the memory, and the clones are read.
template <bool ReadOnly>
class BorrowedMemory : public TwoThreads {
 public:
  BorrowedMemory() {
    lent_.emplace(7U);
    Execution::current().name(&*lent_, sizeof(Cell), "lent");
    using Lent = std::conditional_t<ReadOnly, const void*, void*>;
    source_ = CheckedBuffer::borrow(static_cast<Lent>(&*lent_), cells(1), memory_);
  }

  void thread(unsigned index) {
    auto& clone = clones_[index];
    clone = source_;
    expect(!clone.shares_data_with(source_), "a clone of borrowed memory is a copy");
    expect(clone.is_unique(), "a copy is unique");
    expect(read(clone) == 7, "a clone reads the source's value");
    if (index == 0) {
      expect(write(clone, 0) == Written::in_place, "a write to a copy does not copy again");
    }
  }

  void after() {
    expect(read(source_) == 7, "a write to a clone does not change the source");
    const Written how = write(source_, 8);
    expect((how == Written::in_a_copy) == ReadOnly,
           "a write copies only read-only borrowed memory");
    expect(memory_.copies() == threads + (ReadOnly ? 1U : 0U), "each clone makes one copy");
    drop(source_);
    expect(lent_->get() == (ReadOnly ? 7U : 8U),
           "the lender reads the write unless it lent the memory read-only");
    lent_.reset();
    expect(read(clones_[0]) == 0 && read(clones_[1]) == 7,
           "the clones outlive the borrowed memory");
  }

 private:
  Tracked memory_;
  std::optional<Cell> lent_;
  CheckedBuffer source_;
  CheckedBuffer clones_[threads];
};

/// All owners of a mapped file read it and drop it. The first owner also writes, and this write may
/// fail. No owner may write the mapping, or read it after its end.
template <unsigned Owners>
class ReadOnlyOrigins {
 public:
  static constexpr unsigned threads = Owners;
  static constexpr std::string_view cover_points[] = {
      "the writer is the last owner, and still copies",
      "the writer drops its share while another owner exists",
  };

  ReadOnlyOrigins() { buffers_.memory.set_faults(Faults::both); }

  void thread(unsigned index) {
    auto& buffer = buffers_[index];
    expect(read(buffer) == mapped_number, "an owner reads the file");
    if (index == 0) {
      write_twice(buffer);
    }
    drop(buffer);
  }

  void on_step(const sync::Site& site, std::uint64_t value) {
    constexpr std::uint64_t read_only_bit = std::uint64_t{1} << 63;
    cover_if(site.name == "share_word.is_writable" && value == (read_only_bit | 1),
             "the writer is the last owner, and still copies");
    cover_if(site.name == "share_word.drop_owner" && value == (read_only_bit | 1),
             "the writer drops its share while another owner exists");
    expect(!site.name.starts_with("share_word.claim"), "read-only data is never claimed");
  }

  void after() {
    expect(buffers_.memory.copies() == (wrote_ ? 1U : 0U), "one writer makes one copy");
    expect(live_mappings() == 0, "the last owner ends the mapping");
  }

 private:
  void write_twice(CheckedBuffer& buffer) {
    wrote_ = succeeds([&] {
      expect(write(buffer, 8) == Written::in_a_copy, "a write to read-only data copies");
    });
    if (wrote_) {
      expect(write(buffer, 9) == Written::in_place, "a second write does not copy");
    } else {
      expect(buffer.is_read_only() && read(buffer) == mapped_number,
             "a write that fails changes nothing");
    }
  }

  SharedBuffers<threads> buffers_{
      [](Tracked& of) { return CheckedBuffer::map_file("a file", of); }};
  bool wrote_ = false;
};

const Scenario* const foreign_memory_scenarios[] = {
    scenario<AdoptedMemory<false>>("adopted_memory_is_dropped",
                                   "Adopted memory is lazily cloned like allocated memory; its "
                                   "deleter is called once, after all reads: promise 8."),
    scenario<AdoptedMemory<true>>(
        "adopted_memory_is_written",
        "The last owner of adopted memory writes it in place, and its drop "
        "calls the deleter: promise 8."),
    scenario<BorrowedMemory<false>>(
        "borrowed_memory",
        "Two threads may clone borrowed memory at once, and no clone uses "
        "that memory later: promises 1 and 7."),
    scenario<BorrowedMemory<true>>("read_only_loan", "Borrowed read-only memory is never written."),
    scenario<ReadOnlyOrigins<2>>("read_only_origins",
                                 "A mapped file is shared like other data, never written, and "
                                 "unmapped after all reads: promise 1."),
    scenario<ReadOnlyOrigins<3>>(
        "three_read_only_origins",
        "Three owners of a mapped file never write it, and unmap it after all reads.",
        reduced_search),
};

}  // namespace
}  // namespace byre::verification
