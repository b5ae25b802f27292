// SPDX-License-Identifier: BSL-1.0
/// Copies that a device makes later, in the order of its queue or in none.
#include "buffers.hpp"
#include "device_queue.hpp"

namespace byre::verification {
namespace {

/// All owners write, and no owner waits for a copy.
template <unsigned Owners>
class SubmittedCopiesRaceWriters : public DeviceBuffers<Owners> {
 public:
  static constexpr std::string_view cover_points[] = {
      "a copy is under way when the last owner writes",
      "a copy has ended when the last owner writes",
  };

  void act(unsigned index) {
    const std::byte* const shared = std::as_const(this->buffers_[index]).data();
    std::byte* const own = this->buffers_[index].mutable_data();
    this->device_.submit_read(own, 7);  // a copy of what was, whatever the last owner writes
    this->device_.submit_write(own, index);
    if (std::as_const(this->buffers_[index]).data() == shared) {
      ++kept_;
      cover(cover_points[this->buffers_[index].is_unique() ? 1 : 0]);
    }
  }

  void on_step(const sync::Site& site, std::uint64_t) {
    expect(site.name != "share_word.park", "in order no owner waits for a copy");
  }

  void check() {
    expect(kept_ == 1, "one owner keeps the original");
    expect(this->device_.copies() == Owners - 1, "all others copy, once each");
    for (unsigned index = 0; index < Owners; ++index) {
      expect(this->buffers_[index].is_unique(), "nobody shares what was written");
      this->submit_read(index, index);
    }
  }

 private:
  unsigned kept_ = 0;
};

/// The scheduler chooses which submissions fail.
class FailingSubmissions : public DeviceBuffers<2> {
 public:
  static constexpr std::string_view cover_points[] = {"a submission fails", "none fails"};

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
    expect(unwritten == device_.refusals(), "only a failure keeps from writing");
    cover(unwritten == 0 ? "none fails" : "a submission fails");
    for (unsigned index = 0; index < owners; ++index) {
      expect(buffers_[index].use_count() == (wrote_[index] ? 1 : unwritten),
             "who failed owns still, and nobody else does");
    }
  }

 private:
  bool wrote_[owners] = {};
};

/// Owners write, and let go of what they wrote at once: the device has yet to read it.
class SourcesEndWithTheirCopies : public DeviceBuffers<2> {
 public:
  void act(unsigned index) {
    if (index == 0) {
      // Not released before its copy ends: it is nobody's until the device gives it back.
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

/// Owners of which one changes the size, where it finds itself alone but for copies that are submitted.
template <unsigned Owners>
class OneOwnerResizes : public DeviceBuffers<Owners> {
 public:
  static constexpr std::string_view cover_points[] = {
      "a sole owner resizes beside a copy",
      "a resize of shared data is refused",
  };

 protected:
  void resize_and_write(unsigned index) {
    try {
      this->buffers_[index].resize(cells(0));
      this->submit_write(index);
      cover("a sole owner resizes beside a copy");
    } catch (const NotUnique&) {
      cover("a resize of shared data is refused");
    }
  }
};

/// Another reads, has the device read, and lets go.
class ResizesInOrder : public TwoThreads, public OneOwnerResizes<3> {
 public:
  ResizesInOrder() {
    buffers_[2].mutable_data();  // whose copy is under way until the end
  }

  void thread(unsigned index) {
    if (index == 1) {
      resize_and_write(1);
      return;
    }
    expect(buffers_[0].nbytes() == cells(1), "a reader never sees another owner's change of size");
    submit_read(0, 7);
    drop(buffers_[0]);
  }

  void after() {
    submit_read(2, 7);
    device_.run();
  }
};

/// Another copies: nobody changes the size between the copy's claim and its submission.
class ResizesRaceCopiesInOrder : public OneOwnerResizes<2> {
 public:
  void act(unsigned index) {
    if (index == 1) {
      resize_and_write(1);
    } else {
      device_.submit_read(buffers_[0].mutable_data(), 7);
      expect(buffers_[0].nbytes() == cells(1), "a copy has the size that was shared");
    }
  }

  void check() { submit_read(0, 7); }
};

/// Nothing orders what the host does after the device: the last owner waits for the copy, and writes itself.
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

/// Read-only data of the device: its owners copy it without a claim, and let go when the copy has ended.
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
    expect(releases_ == 1, "the last copy that ends releases what is read-only");
    expect(device_.copies() == 2, "every writer copies it");
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
        "Of owners of a device's data that all write, one keeps it and waits for no copy: promises "
        "1 and 3, I6.",
        2, 4),
    scenario<WithDeviceThread<SubmittedCopiesRaceWriters<3>>>("three_submitted_copies",
                                                              "The same of three owners.", 1, 2),
    scenario<WithDeviceThread<FailingSubmissions>>("failing_submissions",
                                                   "A write whose copy cannot be submitted changes "
                                                   "nothing, and nobody else notices: promise 5.",
                                                   2, 3),
    scenario<WithDeviceThread<SourcesEndWithTheirCopies>>(
        "sources_end_with_their_copies",
        "Data that nobody owns any more lives until the device has copied it: I1.", 3,
        reduced_search),
    scenario<ResizesInOrder>("resizes_in_order",
                             "Who is alone but for copies in front of it may change the size: I5.",
                             3, reduced_search),
    scenario<WithDeviceThread<ResizesRaceCopiesInOrder>>(
        "resizes_race_copies_in_order",
        "Nobody changes the size between the claim of a copy and its submission: I5.", 2,
        reduced_search),
    scenario<LaterCopiesAreWaitedFor>(
        "later_copies_are_waited_for",
        "Where accesses have no order, the last owner waits until the device has copied: I4, I5.",
        2, 3),
    scenario<WithDeviceThread<SubmittedCopiesOfReadOnly>>(
        "submitted_copies_of_read_only",
        "Read-only data of a device lives until all copies of it are made: I1.", 2, 4),
};

}  // namespace
}  // namespace byre::verification
