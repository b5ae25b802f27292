// SPDX-License-Identifier: BSL-1.0
/// A device with a command queue: an allocator with deferred copies, which a separate thread
/// executes. Used by the scenarios of submitted copies.
#pragma once

#include <byre/memory/allocator.hpp>

#include <utility>

#include "parallel_writers.hpp"

namespace byre::verification {

/// An in-order queue with a lock that each call passes through. The rest of a call is one step,
/// since the internals of the queue are not under test. The device reads and writes cells. The host
/// accesses cells only if copies are not in queue order (CopiesEnd::later).
class DeviceQueue final : public Allocator {
 public:
  /// `ends_early`: a wrong form that reports the end of a copy when the copy is submitted.
  explicit DeviceQueue(CopiesEnd copies_end, bool ends_early = false)
      : Allocator(Device(1, 0), copies_end), ends_early_(ends_early) {}
  Block allocate(const Request& request) override { return memory_.allocate(request); }
  void deallocate(const Block& block) noexcept override { memory_.deallocate(block); }
  Block submit_copy(const Request& request, const void* source, std::size_t nbytes,
                    PendingCopy& pending) override {
    const Block block = memory_.allocate(request);
    expect(nbytes == cells(1), "a copy has the size of the data");
    if (refuses_ && rl::rand(2) != 0) {
      ++refusals_;
      memory_.deallocate(block);
      throw CopyFailed();
    }
    submit({.kind = Command::copy,
            .data = static_cast<std::byte*>(block.data),
            .source = static_cast<const std::byte*>(source),
            .pending = ends_early_ ? PendingCopy() : std::move(pending)});
    if (ends_early_) {
      pending.end();
    }
    ++copies_;
    return block;
  }
  const char* name() const noexcept override { return "device"; }

  void submit_write(std::byte* data, unsigned value) {
    submit({.kind = Command::write, .data = data, .value = value});
  }
  /// Submits a read of `data`. The data has to be `value` when the device executes the read.
  void submit_read(const std::byte* data, unsigned value) {
    submit({.kind = Command::read, .source = data, .value = value});
  }

  /// Called by the device's thread: executes all commands submitted so far.
  void run() {
    for (Command* command = take(); command != nullptr; command = take()) {
      switch (command->kind) {
        case Command::write:
          cell(command->data).set(command->value);
          break;
        case Command::read:
          expect(cell(command->source).get() == command->value,
                 "the device reads the value that was submitted before");
          break;
        case Command::copy:
          cell(command->data).set(cell(command->source).get());
          command->pending.end();
          break;
      }
    }
  }

  /// From now on the scheduler may make submissions fail.
  void refuse() noexcept { refuses_ = true; }

  unsigned copies() const noexcept { return copies_; }
  unsigned refusals() const noexcept { return refusals_; }
  unsigned frees() const noexcept { return memory_.frees(); }

 private:
  struct Command {
    enum Kind : std::uint8_t { copy, write, read } kind = read;
    std::byte* data = nullptr;
    const std::byte* source = nullptr;
    unsigned value = 0;
    PendingCopy pending = {};
  };

  void submit(Command command) {
    lock_.pass_through();
    const PreemptionDisabled as_one_step;
    expect(submitted_ < std::size(commands_), "the model has room for every command");
    commands_[submitted_++] = std::move(command);
  }
  Command* take() {
    lock_.pass_through();
    return done_ == submitted_ ? nullptr : &commands_[done_++];
  }

  const bool ends_early_;
  Tracked memory_;
  ModelLock lock_;
  Command commands_[16];
  unsigned submitted_ = 0;
  unsigned done_ = 0;
  unsigned copies_ = 0;
  unsigned refusals_ = 0;
  bool refuses_ = false;
};

/// `Owners` buffers that share a device's data, which holds 7 at first.
template <unsigned Owners, CopiesEnd End = CopiesEnd::in_order>
class DeviceBuffers {
 public:
  static constexpr unsigned owners = Owners;

 protected:
  using Buffer = basic_buffer<LocksIn<Locks>>;

  DeviceBuffers() {
    LocksIn<Locks>::table();
    buffers_[0] = Buffer::allocate(cells(1), device_);
    device_.submit_write(buffers_[0].mutable_data(), 7);
    device_.run();
    for (unsigned index = 1; index < Owners; ++index) {
      buffers_[index] = buffers_[0];
    }
  }

  void submit_write(unsigned index) { device_.submit_write(buffers_[index].mutable_data(), index); }
  void submit_read(unsigned index, unsigned value) {
    device_.submit_read(std::as_const(buffers_[index]).data(), value);
  }

  DeviceQueue device_{End};
  Buffer buffers_[Owners];
};

/// Each owner acts on its own thread. The last thread is the device, which may execute commands at
/// any time. At the end it executes the remaining commands, before and after Body::check().
template <class Body>
class WithDeviceThread : public Body {
 public:
  static constexpr unsigned threads = Body::owners + 1;

  void thread(unsigned index) { index == Body::owners ? this->device_.run() : Body::act(index); }

  void after() {
    this->device_.run();
    Body::check();
    this->device_.run();
  }
};

}  // namespace byre::verification
