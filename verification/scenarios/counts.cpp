// SPDX-License-Identifier: BSL-1.0
/// Scenarios about counts, which no promise is about but mutants are.
#include <byre/storage/detail/buffer_impl.hpp>
#include <byre/storage/storage.hpp>

#include "bare_data.hpp"
#include "buffers.hpp"

namespace byre::verification {
namespace {

/// One owner writes; another lets go of the data, and then a third writes.
class WritesAfterADrop {
 public:
  static constexpr unsigned threads = 2;

  void thread(unsigned index) {
    if (index == 1) {
      drop(buffers_[2]);
    }
    write(buffers_[index], index);
  }

  void after() {
    expect(buffers_.memory.copies() == 1, "of the two owners that are left, one copies");
  }

 private:
  SharedBuffers<3> buffers_;
};

/// Two of three owners fail to copy, at once.
class FailedOwnersAreCounted {
 public:
  static constexpr unsigned threads = 2;

  FailedOwnersAreCounted() { buffers_.memory.set_faults(Faults::allocations); }

  void thread(unsigned index) {
    try {
      write(buffers_[index], index);
    } catch (const OutOfMemory&) {
    }
  }

  void after() {
    expect(buffers_[2].use_count() == 1 + buffers_.memory.failures(),
           "who failed owns again, once");
  }

 private:
  SharedBuffers<3> buffers_;
};

/// One of two owners copies, the other leaves.
class CopiersAreCounted {
 public:
  static constexpr unsigned threads = 2;

  void thread(unsigned index) {
    if (index == 1 || data_.claim() == Claim::steal) {
      data_.drop();
      return;
    }
    expect(!data_.is_unique(), "nobody is alone while somebody copies");
    data_.finish_copy();
  }

 private:
  BareData<> data_{2, 7};
};

/// Two threads copy one handle, and let go of their copies.
class OneHandleIsCopiedAtOnce {
 public:
  static constexpr unsigned threads = 2;

  OneHandleIsCopiedAtOnce() { handle_ = basic_storage<Checked>(buffer_of(7, memory_)); }

  void thread(unsigned) {
    const basic_storage<Checked> another = handle_;
    expect(read(another) == 7, "a handle keeps its storage alive");
  }

  void after() { expect(handle_.handle_count() == 1, "each handle is counted once"); }

 private:
  Tracked memory_;
  basic_storage<Checked> handle_;
};

/// Two threads drop the handles that there are.
class NoHandleIsLeft {
 public:
  static constexpr unsigned threads = 2;

  NoHandleIsLeft() { handles_.add(); }

  void thread(unsigned index) { is_last_[index] = handles_.drop(); }

  void after() {
    expect(is_last_[0] != is_last_[1], "one of two handles is the last");
    expect(handles_.count() == 0, "none is left");
  }

 private:
  basic_ref_count<Checked> handles_;
  bool is_last_[threads] = {};
};

const Scenario* const counts_listed[] = {
    scenario<WritesAfterADrop>(
        "writes_after_a_drop",
        "A dropped owner is not counted when the next write decides whether to copy: promise 3.",
        reduced_search),
    scenario<FailedOwnersAreCounted>(
        "failed_owners_are_counted",
        "Owners that fail to copy at once own again, each counted once: promise 5.",
        reduced_search),
    scenario<CopiersAreCounted>(
        "copiers_are_counted", "Who copies is counted: no owner finds itself alone meanwhile, I5."),
    scenario<NoHandleIsLeft>(
        "no_handle_is_left",
        "After the last handle was dropped none is counted, whoever drops it."),
    scenario<OneHandleIsCopiedAtOnce>(
        "one_handle_is_copied_at_once",
        "One handle may be copied on many threads at once, and each copy is counted."),
};

}  // namespace

}  // namespace byre::verification
