// SPDX-License-Identifier: BSL-1.0
/// A device whose copies end later: it does what it is given in order, on a thread of its own or when told.
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

/// Its memory is the host's, which no test touches but by commands. What is released is kept from reuse until
/// the commands in front of that are done, as a driver does. Thread-safe.
class QueuedDevice final : public Allocator {
 public:
  explicit QueuedDevice(CopiesEnd copies_end) : Allocator(Device(7, 0), copies_end) {}
  /// Does what is left.
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
    // A last owner that steals meanwhile would submit its write in front of the copy.
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
  /// What the first byte is when the device comes to it; valid once that is done.
  std::shared_ptr<int> submit_read(const void* data) {
    auto value = std::make_shared<int>(-1);
    submit([=] { *value = *static_cast<const unsigned char*>(data); });
    return value;
  }

  /// Does what was submitted until it is told to stop, on a thread of its own.
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
  /// On this thread, all that was submitted.
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
