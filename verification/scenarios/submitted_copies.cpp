// SPDX-License-Identifier: BSL-1.0
/// Two or three owners of a device's data write, resize and drop while the device, a separate
/// thread, makes their deferred copies. If the owners' accesses are in the order of the device's
/// queue, exactly one owner keeps the original and no owner waits. Otherwise the last owner waits
/// for the device. If the load of claim_in_order is relaxed, the owner that resizes races the reads
/// of an owner that has dropped.
#include "buffers.hpp"
#include "device_queue.hpp"

namespace byre::verification {
namespace {

template <unsigned Owners>
class SubmittedCopiesRaceWriters : public DeviceBuffers<Owners> {
 public:
  static constexpr std::string_view cover_points[] = {
      "a copy is pending when the last owner writes",
      "a copy has ended when the last owner writes",
  };

  void act(unsigned index) {
    const std::byte* const shared = std::as_const(this->buffers_[index]).data();
    std::byte* const own = this->buffers_[index].mutable_data();
    this->device_.submit_read(own, 7);  // reads the old value, even if the last owner writes
    this->device_.submit_write(own, index);
    if (std::as_const(this->buffers_[index]).data() == shared) {
      ++kept_;
      cover(cover_points[this->buffers_[index].is_unique() ? 1 : 0]);
    }
  }

  void on_step(const sync::Site& site, std::uint64_t) {
    expect(site.name != "share_word.park", "in queue order no owner waits for a copy");
  }

  void check() {
    expect(kept_ == 1, "one owner keeps the original");
    expect(this->device_.copies() == Owners - 1, "all other owners copy, once each");
    for (unsigned index = 0; index < Owners; ++index) {
      expect(this->buffers_[index].is_unique(), "written data is unique");
      this->submit_read(index, index);
    }
  }

 private:
  unsigned kept_ = 0;
};

/// Both owners write, and the scheduler chooses which submissions fail.
class FailingSubmissions : public DeviceBuffers<2> {
 public:
  static constexpr std::string_view cover_points[] = {"a submission fails", "no submission fails"};

  FailingSubmissions() { device_.refuse(); }

  void act(unsigned index) {
    wrote_[index] = succeeds([&] { submit_write(index); });
    submit_read(index, wrote_[index] ? index : 7);
  }

  void check() {
    unsigned unwritten = 0;
    for (unsigned index = 0; index < owners; ++index) {
      submit_read(index, wrote_[index] ? index : 7);
      unwritten += wrote_[index] ? 0 : 1;
    }
    expect(unwritten == device_.refusals(), "a write fails only if its submission failed");
    cover(unwritten == 0 ? "no submission fails" : "a submission fails");
    for (unsigned index = 0; index < owners; ++index) {
      expect(buffers_[index].use_count() == (wrote_[index] ? 1 : unwritten),
             "an owner shares the original if and only if its submission failed");
    }
  }

 private:
  bool wrote_[owners] = {};
};

/// One owner writes and the other drops. If the write copies, the source of the copy then has no
/// owner, although the device has not read it yet.
class SourcesEndWithTheirCopies : public DeviceBuffers<2> {
 public:
  void act(unsigned index) {
    if (index == 0) {
      // The old data has no owner until the device finishes the copy, and must live until then.
      buffers_[0].mutable_data();
      kept_ = std::move(buffers_[0]);
    } else {
      drop(buffers_[1]);
    }
  }

  void check() {
    expect(device_.frees() == device_.copies(), "the source is freed when its copy has ended");
    device_.submit_read(std::as_const(kept_).data(), 7);
  }

 private:
  Buffer kept_;
};

/// One of the owners resizes its buffer if it is the only owner, even while submitted copies are
/// pending.
template <unsigned Owners>
class OneOwnerResizes : public DeviceBuffers<Owners> {
 public:
  static constexpr std::string_view cover_points[] = {
      "the only owner resizes while a copy is pending",
      "a resize of shared data is rejected",
  };

 protected:
  void resize_and_write(unsigned index) {
    try {
      this->buffers_[index].resize(cells(0));
      this->submit_write(index);
      cover("the only owner resizes while a copy is pending");
    } catch (const NotUnique&) {
      cover("a resize of shared data is rejected");
    }
  }
};

/// The other owner reads, submits a read, and drops.
class ResizesInOrder : public TwoThreads, public OneOwnerResizes<3> {
 public:
  ResizesInOrder() {
    buffers_[2].mutable_data();  // this copy is pending until the end
  }

  void thread(unsigned index) {
    if (index == 1) {
      resize_and_write(1);
      return;
    }
    expect(buffers_[0].nbytes() == cells(1), "a reader's size never changes");
    submit_read(0, 7);
    drop(buffers_[0]);
  }

  void after() {
    submit_read(2, 7);
    device_.run();
  }
};

/// The other owner copies. The size must not change between the claim of its copy and the
/// submission.
class ResizesRaceCopiesInOrder : public OneOwnerResizes<2> {
 public:
  void act(unsigned index) {
    if (index == 1) {
      resize_and_write(1);
    } else {
      device_.submit_read(buffers_[0].mutable_data(), 7);
      expect(buffers_[0].nbytes() == cells(1), "a copy has the shared size");
    }
  }

  void check() { submit_read(0, 7); }
};

/// The host's accesses are not in queue order. The last owner waits for the copy, and then writes
/// on the host.
class LaterCopiesAreWaitedFor : public DeviceBuffers<2, CopiesEnd::later> {
 public:
  static constexpr unsigned threads = owners + 1;
  static constexpr std::string_view cover_points[] = {"the last owner sleeps",
                                                      "the last owner finds the copy made"};

  void thread(unsigned index) {
    if (index == owners) {
      while (!(is_done_[0] && is_done_[1])) {
        device_.run();
        Checked::pause();
      }
      return;
    }
    const std::byte* const shared = std::as_const(buffers_[index]).data();
    std::byte* const data = buffers_[index].mutable_data();
    if (data == shared) {
      cell(data).set(9);
      kept_[index] = true;
      cover(slept_ ? "the last owner sleeps" : "the last owner finds the copy made");
    }
    is_done_[index] = true;
  }

  void after() {
    device_.run();
    expect(kept_[0] != kept_[1], "one owner keeps the original");
    for (unsigned index = 0; index < 2; ++index) {
      submit_read(index, kept_[index] ? 9 : 7);
    }
    device_.run();
  }

  void on_step(const sync::Site& site, std::uint64_t) {
    slept_ = slept_ || site.name == "share_word.still_pending";
  }

 private:
  bool kept_[2] = {};
  bool is_done_[2] = {};
  bool slept_ = false;
};

/// Read-only data of the device. Its owners copy the data without a claim, and drop it when their
/// copies have ended.
class SubmittedCopiesOfReadOnly {
 public:
  static constexpr unsigned owners = 2;

  SubmittedCopiesOfReadOnly() {
    LocksIn<Locks>::table();
    lent_.set(7);
    buffers_[0] = Buffer::adopt_read_only(
        static_cast<const void*>(&lent_), cells(1),
        [this](void*) noexcept {
          lent_.set(0);
          ++releases_;
        },
        device_);
    buffers_[1] = buffers_[0];
  }

  void act(unsigned index) { device_.submit_write(buffers_[index].mutable_data(), index); }

  void check() {
    expect(releases_ == 1, "the read-only data is released when the last copy ends");
    expect(device_.copies() == 2, "every writer copies read-only data");
    for (unsigned index = 0; index < 2; ++index) {
      device_.submit_read(std::as_const(buffers_[index]).data(), index);
    }
  }

 protected:
  DeviceQueue device_{CopiesEnd::in_order};

 private:
  using Buffer = basic_buffer<LocksIn<Locks>>;

  Cell lent_;
  unsigned releases_ = 0;
  Buffer buffers_[2];
};

const Scenario* const submitted_copies_scenarios[] = {
    scenario<WithDeviceThread<SubmittedCopiesRaceWriters<2>>>(
        "submitted_copies_race_writers",
        "Two owners of a device's data write: one keeps the original, and neither waits for a "
        "copy: "
        "promises 1 and 3, I6.",
        2, 4),
    scenario<WithDeviceThread<SubmittedCopiesRaceWriters<3>>>(
        "three_submitted_copies",
        "Three owners of a device's data write: one keeps the original, and none waits for a copy.",
        1, 2),
    scenario<WithDeviceThread<FailingSubmissions>>("failing_submissions",
                                                   "A write whose copy cannot be submitted changes "
                                                   "nothing and affects no other owner: promise 5.",
                                                   2, 3),
    scenario<WithDeviceThread<SourcesEndWithTheirCopies>>(
        "sources_end_with_their_copies",
        "Data without owners lives until the device has copied it: I1.", 3, reduced_search),
    scenario<ResizesInOrder>(
        "resizes_in_order",
        "The only owner may change the size behind copies that were submitted before: I5.", 3,
        reduced_search),
    scenario<WithDeviceThread<ResizesRaceCopiesInOrder>>(
        "resizes_race_copies_in_order",
        "The size does not change between the claim of a copy and its submission: I5.", 2,
        reduced_search),
    scenario<LaterCopiesAreWaitedFor>("later_copies_are_waited_for",
                                      "If accesses are not in queue order, the last owner waits "
                                      "until the device has copied: I4, I5.",
                                      2, 3),
    scenario<WithDeviceThread<SubmittedCopiesOfReadOnly>>(
        "submitted_copies_of_read_only",
        "Read-only data of a device lives until all its copies are made: I1.", 2, 4),
};

}  // namespace
}  // namespace byre::verification
