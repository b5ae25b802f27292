// SPDX-License-Identifier: BSL-1.0
/// Known-wrong ways to share a file with other processes. In each, an owner exports the file while
/// another owner writes, or while the other process is killed.
#include <byre/cow/share_word.hpp>
#include <byre/pages/detail/exported.hpp>

#include "../scenarios/simulated_system.hpp"

namespace byre::verification {
namespace {

/// A file with two owners, and a process that can receive a view.
class TwoOwners : public TwoThreads {
 protected:
  TwoOwners() {
    file_.value.set(7);
    word_.add_owner();
  }

  void open() {
    const System::Call call(system_, step_of<"system.open_for_others">());
    System::open_elsewhere(file_);
  }
  bool is_open() {
    const System::Call call(system_, step_of<"system.is_open_elsewhere">());
    return file_.opened != 0;
  }
  void send() { process_.send({&file_, {}, 7}); }
  /// Counts other processes as one copier, as core does.
  void count() {
    lock_.lock(step_of<"wrong.lock">());
    if (!is_counted_.get()) {
      word_.add_owner();
      static_cast<void>(word_.claim(Wait::never));
      is_counted_.set(true);
    }
    lock_.unlock(step_of<"wrong.unlock">());
  }
  /// Ends that copier.
  void end() {
    lock_.lock(step_of<"wrong.lock">());
    if (is_counted_.get()) {
      is_counted_.set(false);
      finish_copy();
    }
    lock_.unlock(step_of<"wrong.unlock">());
  }
  void finish_copy() { is_freed_ = word_.finish_copy() || is_freed_; }
  void drop() { is_freed_ = word_.drop_owner() || is_freed_; }

  /// As core does before a write.
  void look() {
    lock_.lock(step_of<"wrong.lock">());
    if (is_counted_.get() && !is_open()) {
      is_counted_.set(false);
      finish_copy();
    }
    lock_.unlock(step_of<"wrong.unlock">());
  }
  void write_if_last() {
    if (word_.claim(Wait::never) == Claim::steal) {
      file_.value.set(8);
    }
  }

  /// Expects that the process reads the value of the export, and ends it.
  void finish() {
    static_cast<void>(process_.receive() && process_.map());
    process_.kill();
    system_.give_up(file_);
  }

  System system_;
  Stored& file_ = system_.create_file();
  basic_share_word<Checked> word_;
  CheckedMutex lock_;
  Checked::Plain<bool> is_counted_{false};
  Process process_{system_, false};
  bool is_freed_ = false;
};

/// Wrong: counts the copier, and then opens the file.
class OpensLast : public TwoOwners {
 public:
  void thread(unsigned index) {
    if (index == 0) {
      count();
      open();
      send();
      drop();
    } else {
      look();
      write_if_last();
    }
  }
  void after() { finish(); }
};

/// Wrong: the owner counts the copier when the other process has confirmed that it received the
/// file. The owner continues meanwhile.
class CountsWhenReceived : public TwoOwners {
 public:
  CountsWhenReceived() { drop(); }

  void thread(unsigned index) {
    if (index == 0) {
      open();
      send();
      look();
      write_if_last();
    } else if (process_.receive() && process_.map()) {
      count();
      process_.read();
    }
  }
  void after() { finish(); }
};

/// Wrong: counts no copier. An owner asks the system before it claims.
class AsksInsteadOfCounting : public TwoOwners {
 public:
  void thread(unsigned index) {
    if (index == 0) {
      open();
      send();
      drop();
    } else if (!is_open()) {
      write_if_last();
    }
  }
  void after() { finish(); }
};

/// Wrong: asks the system without the lock. An earlier view has ended.
class AsksWithoutLock : public TwoOwners {
 public:
  AsksWithoutLock() { count(); }

  void thread(unsigned index) {
    if (index == 0) {
      open();
      count();
      send();
      drop();
    } else {
      if (!is_open()) {
        end();
      }
      write_if_last();
    }
  }
  void after() { finish(); }
};

/// Wrong: the copier ends when the other process says so. A process that is killed never does.
class EndsByMessage : public TwoOwners {
 public:
  EndsByMessage() {
    open();
    count();
    mortal_.send({&file_, {}, 7});
    drop();
  }

  void thread(unsigned index) {
    if (index == 0) {
      drop();
    } else if (mortal_.receive() && mortal_.map() && mortal_.end()) {
      finish_copy();
    }
  }
  void after() {
    mortal_.kill();
    finish();
    expect(is_freed_, "data without owners and views is freed");
  }

 private:
  Process mortal_{system_};
};

const Scenario* const known_wrong_exports[] = {
    known_wrong<OpensLast>("known_wrong.opens_last",
                           "If the copier is counted before the file is opened, another owner "
                           "ends the copier in between, and writes what a process reads.",
                           Verdict::wrong_answer),
    known_wrong<CountsWhenReceived>(
        "known_wrong.counts_when_received",
        "If the copier is counted after the file was handed out, the owner writes the file first.",
        Verdict::data_race),
    known_wrong<AsksInsteadOfCounting>(
        "known_wrong.asks_instead_of_counting",
        "If an owner only asks the system before it claims, another owner exports in between.",
        Verdict::wrong_answer),
    known_wrong<AsksWithoutLock>("known_wrong.asks_without_lock",
                                 "If a thread asks the system without the lock, it ends the copier "
                                 "of a view that was exported in between.",
                                 Verdict::wrong_answer),
    known_wrong<EndsByMessage>(
        "known_wrong.ends_by_message",
        "If the other process has to say that its view ended, a killed process keeps the data for "
        "ever.",
        Verdict::wrong_answer),
};

}  // namespace
}  // namespace byre::verification
