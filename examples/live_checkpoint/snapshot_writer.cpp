// SPDX-License-Identifier: BSL-1.0
#include "snapshot_writer.hpp"

#include <boost/thread/lock_guard.hpp>
#include <boost/thread/lock_types.hpp>

#include <pthread.h>
#include <utility>

namespace examples::live_checkpoint {
namespace {

using Lock = boost::unique_lock<boost::mutex>;

}  // namespace

SnapshotWriter::SnapshotWriter(SnapshotFiles files, std::size_t capacity)
    : files_(std::move(files)), capacity_(capacity), thread_([this] {
        ::pthread_setname_np(::pthread_self(), "snapshot writer");  // in a trace
        run();
      }) {}

SnapshotWriter::~SnapshotWriter() {
  {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    closed_ = true;
    abandoned_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void SnapshotWriter::wait_for_room() {
  Lock lock(mutex_);
  while (error_ == nullptr && waiting_.size() >= capacity_) {
    changed_.wait(lock);
  }
  rethrow_error();
}

void SnapshotWriter::submit(Snapshot snapshot) {
  {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    waiting_.push_back(std::move(snapshot));
  }
  changed_.notify_all();
}

std::vector<WrittenSnapshot> SnapshotWriter::finish() {
  {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  thread_.join();
  rethrow_error();
  return std::move(written_);
}

void SnapshotWriter::rethrow_error() const {
  if (error_ != nullptr) {
    std::rethrow_exception(error_);
  }
}

void SnapshotWriter::run() noexcept {
  try {
    write_all();
  } catch (...) {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    error_ = std::current_exception();
    waiting_.clear();
  }
  changed_.notify_all();
}

void SnapshotWriter::write_all() {
  Lock lock(mutex_);
  while (true) {
    while (waiting_.empty() && !closed_) {
      changed_.wait(lock);
    }
    if (waiting_.empty() || abandoned_) {
      return;
    }
    Snapshot next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    changed_.notify_all();
    WrittenSnapshot written = files_.write(std::move(next));
    lock.lock();
    written_.push_back(std::move(written));
  }
}

}  // namespace examples::live_checkpoint
