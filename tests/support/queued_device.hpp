// SPDX-License-Identifier: BSL-1.0
/// QueuedDevice: an allocator of a device with deferred copies. It executes commands in order, on
/// its own thread or when run() is called.
#pragma once

#include <byre/memory/allocator.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>

namespace byre::test {

/// The device's memory is host memory, which tests access only by commands. As with a driver, a
/// released block is not reused before the commands that were submitted earlier have completed.
/// Thread-safe.
class QueuedDevice final : public Allocator {
 public:
  explicit QueuedDevice(CopiesEnd copies_end) : Allocator(Device(7, 0), copies_end) {}
  /// Executes the remaining commands.
  ~QueuedDevice() override {
    stop();
    run();
  }

  Block allocate(const Request& request) override {
    auto* const data = static_cast<std::byte*>(
        ::operator new(request.nbytes + 1, std::align_val_t(data_alignment)));
    return {data, request.nbytes, data};
  }
  void deallocate(const Block& block) noexcept override {
    void* const base = block.base;
    submit([base] { ::operator delete(base, std::align_val_t(data_alignment)); });
  }
  Block submit_copy(const Request& request, const void* source, std::size_t nbytes,
                    PendingCopy& pending) override {
    const Block block = allocate(request);
    if (fails_to_submit) {
      deallocate(block);
      throw std::runtime_error("the queue is full");
    }
    if (copies_at_once) {
      std::memcpy(block.data, source, nbytes);
      return block;
    }
    auto kept = std::make_shared<PendingCopy>(std::move(pending));
    // Lets another thread run: a last owner that wrongly steals now would submit its write before
    // the copy.
    std::this_thread::yield();
    submit([=, data = block.data] {
      std::memcpy(data, source, nbytes);
      kept->end();
    });
    return block;
  }
  void copy(void* destination, const void* source, std::size_t nbytes) override {
    submit([=] { std::memcpy(destination, source, nbytes); });
  }
  const char* name() const noexcept override { return "queued device"; }

  void submit(std::function<void()> command) noexcept {
    {
      const std::lock_guard lock(mutex_);
      commands_.push_back(std::move(command));
    }
    changed_.notify_all();
  }
  void submit_fill(void* data, int value, std::size_t nbytes) {
    submit([=] { std::memset(data, value, nbytes); });
  }
  /// Submits a read of the first byte. The result is valid once the device has executed the
  /// command.
  std::shared_ptr<int> submit_read(const void* data) {
    auto value = std::make_shared<int>(-1);
    submit([=] { *value = *static_cast<const unsigned char*>(data); });
    return value;
  }

  /// Starts a thread that executes submitted commands until stop().
  void start() {
    thread_ = std::thread([this] {
      std::unique_lock lock(mutex_);
      while (!stops_) {
        changed_.wait(lock, [this] { return stops_ || !commands_.empty(); });
        lock.unlock();
        run();
        lock.lock();
      }
    });
  }
  void stop() {
    if (thread_.joinable()) {
      {
        const std::lock_guard lock(mutex_);
        stops_ = true;
      }
      changed_.notify_all();
      thread_.join();
      stops_ = false;
    }
  }
  /// Executes all submitted commands on this thread.
  void run() {
    std::unique_lock lock(mutex_);
    while (!commands_.empty()) {
      std::function<void()> command = std::move(commands_.front());
      commands_.pop_front();
      lock.unlock();
      command();
      command = nullptr;
      lock.lock();
    }
  }

  bool fails_to_submit = false;
  bool copies_at_once = false;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> commands_;
  std::thread thread_;
  bool stops_ = false;
};

}  // namespace byre::test
