// SPDX-License-Identifier: BSL-1.0
/// A simulated system with processes that map a file of pages privately, as far as exports need it:
/// which open files, messages and mappings exist, and that they end with their process. Each call
/// of the system is one step. The scheduler chooses whether and when a process is killed.
#pragma once

#include <byre/system/detail/descriptor.hpp>

#include <fcntl.h>

#include <optional>
#include <utility>

#include "../search.hpp"

namespace byre::verification {

/// The stored page of a file, and the lock that the first write of an overlay takes. The page is
/// freed when neither a CellFile nor an open file, a message or a mapping of another process
/// refers to it.
struct Stored {
  Cell value{0};
  ModelLock lock;
  unsigned references = 1;
  unsigned opened = 0;  ///< descriptors, messages and mappings that share the lock of open files
};

class System {
 public:
  /// The scope of one call. Each call happens after all earlier calls.
  class Call {
   public:
    Call(System& system, sync::Step step) : system_(system) {
      step.order = relaxed;
      system_.calls_.fetch_add(1, step);
      rl::ctx().disable_preemption();
      system_.lock_.acquire();
    }
    ~Call() {
      system_.lock_.pass_through();
      rl::ctx().enable_preemption();
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    System& system_;
  };

  System() { Execution::current().name(this, sizeof *this, "system"); }
  ~System() {
    if (file_count_ != 0) {
      fail(Verdict::leak, "a file was never freed");
    }
  }
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  /// The search does not branch on the reuse of its memory, as it does at each delete.
  Stored& create_file() {
    ++file_count_;
    return *::new (Execution::current().allocate(sizeof(Stored), alignof(Stored))) Stored;
  }

  // Called within the scope of a call.
  static void open_elsewhere(Stored& file) noexcept {
    ++file.references;
    ++file.opened;
  }
  void close_elsewhere(Stored& file) noexcept {
    --file.opened;
    give_up(file);
  }
  void give_up(Stored& file) noexcept {
    if (--file.references == 0) {
      file.~Stored();
      --file_count_;
    }
  }

  /// Waits by a duplicate of the owner's descriptor, until no other process has the file open. Each
  /// call of another process may wake the waiter, which then looks again.
  template <class Unlock>
  bool wait_until_closed(Stored& file, const Unlock& unlock) noexcept {
    {
      const Call call(*this, step_of<"system.duplicate">());
      ++file.references;
    }
    unlock();
    const auto is_open = [&] {
      lock_.acquire();
      return file.opened != 0;
    };
    for (bool waits = true; waits;) {
      {
        const Call call(*this, step_of<"system.look_before_wait">());
        waits = is_open();
        is_waited_for_ = is_waited_for_ || waits;
      }
      if (waits) {
        Checked::park(this, is_open, step_of<"system.wait">());
      }
    }
    const Call call(*this, step_of<"system.close_duplicate">());
    give_up(file);
    return true;
  }
  void wake() noexcept {
    if (is_waited_for_) {
      Checked::unpark_all(this, step_of<"system.wake">());
    }
  }

 private:
  Checked::Atomic<std::uint32_t> calls_{0};
  ModelLock lock_;
  bool is_waited_for_ = false;
  unsigned file_count_ = 0;
};

/// What an export sends: the open file of a page, and the page itself if it was written in an
/// overlay.
struct View {
  Stored* file = nullptr;
  std::optional<unsigned> written = {};
  unsigned expected = 0;  ///< the value at the export

  explicit operator bool() const noexcept { return file != nullptr; }
};

/// Another process. If `mortal`, it may be killed before each of its system calls: the system then
/// ends the view, received or not, and the process does nothing more. While the process has
/// a mapping, it reads its page in each call.
class Process {
 public:
  explicit Process(System& system, bool mortal = true) : system_(system), is_mortal_(mortal) {}

  // Each function is one call of the system. It returns false if the process has ended.

  /// Takes the view out of the socket. Returns false if the socket is empty.
  bool receive() {
    return call(step_of<"process.receive">(), [&] { view_ = std::exchange(message_, View()); }) &&
           view_;
  }
  bool map() {
    return call(step_of<"process.map">(), [&] {
      System::open_elsewhere(*view_.file);
      is_mapped_ = true;
      expect_value();
    });
  }
  bool read() {
    return call(step_of<"process.read">(), [] {});
  }
  /// Writes the private page.
  bool write(unsigned value) {
    return call(step_of<"process.write">(), [&] { view_.written = view_.expected = value; });
  }
  /// Sends the view as it was received on to another process.
  bool send_on(Process& to) {
    return call(step_of<"process.send">(), [&] {
      System::open_elsewhere(*view_.file);
      to.deliver(view_);
    });
  }
  bool end() {
    return call(step_of<"process.end">(), [&] { give_up_everything(); });
  }

  /// Kills the process, unless it has ended.
  void kill() {
    {
      const System::Call call(system_, step_of<"process.kill">());
      give_up_everything();
    }
    system_.wake();
  }

  /// Sends a view of the owner, which gives up its descriptor.
  void send(View view) {
    {
      const System::Call call(system_, step_of<"system.send">());
      deliver(view);
    }
    system_.wake();
  }

  bool has_view() const noexcept { return bool(message_) || bool(view_); }
  bool was_killed() const noexcept { return was_killed_; }
  bool has_ended() const noexcept { return has_ended_; }

 private:
  template <class Act>
  bool call(sync::Step step, const Act& act) {
    bool goes_on = false;
    {
      const System::Call call(system_, step);
      if (has_ended_) {
        return false;
      }
      goes_on = !is_mortal_ || rl::rand(2) == 0;
      if (goes_on) {
        if (is_mapped_) {
          expect_value();
        }
        act();
      } else {
        was_killed_ = true;
        give_up_everything();
      }
    }
    if (has_ended_) {
      system_.wake();
    }
    return goes_on;
  }

  void expect_value() const {
    const unsigned value = view_.written ? *view_.written : view_.file->value.get();
    expect(value == view_.expected, "a view reads the value of its export, or its own writes");
  }

  void deliver(View view) {
    if (has_ended_) {
      system_.close_elsewhere(*view.file);
    } else {
      message_ = view;
    }
  }

  void give_up_everything() {
    has_ended_ = true;
    for (View* const each : {&message_, &view_}) {
      if (*each) {
        system_.close_elsewhere(*each->file);
      }
    }
    if (is_mapped_) {
      system_.close_elsewhere(*view_.file);
    }
    message_ = view_ = View();
    is_mapped_ = false;
  }

  System& system_;
  const bool is_mortal_;
  View message_;  ///< in the socket of the process
  View view_;
  bool is_mapped_ = false;
  bool has_ended_ = false;
  bool was_killed_ = false;
};

/// A descriptor for core's FileForOthers. The model counts open files by Stored::opened.
inline byre::detail::Descriptor any_descriptor() noexcept {
  return byre::detail::Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

}  // namespace byre::verification
