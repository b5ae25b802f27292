// SPDX-License-Identifier: BSL-1.0
/// The second thread: it writes snapshots to files while the first trains on.
#pragma once

#include "snapshot_files.hpp"

#include <boost/thread/condition_variable.hpp>
#include <boost/thread/lock_types.hpp>
#include <boost/thread/mutex.hpp>
#include <boost/thread/thread.hpp>
#include <deque>
#include <exception>
#include <vector>

namespace examples::live_checkpoint {

/// At most two snapshots wait; a trainer that is further ahead waits in wait_for_room(). Snapshots that waited without
/// bound would each keep what training overwrites, and a slow disk would become a lack of memory.
///
/// An exception of the thread ends its writing and comes out of the next call of wait_for_room() or finish(). Called by
/// one thread.
class SnapshotWriter {
 public:
  explicit SnapshotWriter(SnapshotFiles files)
      : files_(std::move(files)), thread_([this] { run(); }) {}
  /// Gives up what is not written yet.
  ~SnapshotWriter() { close(false); }
  SnapshotWriter(const SnapshotWriter&) = delete;
  SnapshotWriter& operator=(const SnapshotWriter&) = delete;

  void wait_for_room() {
    Lock lock(mutex_);
    changed_.wait(lock, [&] { return error_ != nullptr || waiting_.size() < 2; });
    rethrow_error();
  }

  void submit(Snapshot snapshot) {
    const Lock lock(mutex_);
    waiting_.push_back(std::move(snapshot));
    changed_.notify_all();
  }

  /// Waits until all are written, and returns them in order.
  std::vector<WrittenSnapshot> finish() {
    close(true);
    rethrow_error();
    return std::move(written_);
  }

 private:
  using Lock = boost::unique_lock<boost::mutex>;

  void close(bool write_the_rest) {
    if (thread_.joinable()) {
      Lock lock(mutex_);
      is_closed_ = true;
      if (!write_the_rest) {
        waiting_.clear();
      }
      changed_.notify_all();
      lock.unlock();
      thread_.join();
    }
  }

  void run() noexcept {
    Lock lock(mutex_);
    while (error_ == nullptr) {
      changed_.wait(lock, [&] { return is_closed_ || !waiting_.empty(); });
      if (waiting_.empty()) {
        return;
      }
      Snapshot next = std::move(waiting_.front());
      waiting_.pop_front();
      changed_.notify_all();
      lock.unlock();
      try {
        written_.push_back(files_.write(std::move(next)));
        lock.lock();
      } catch (...) {
        lock.lock();
        error_ = std::current_exception();
        changed_.notify_all();
      }
    }
  }

  void rethrow_error() const {
    if (error_ != nullptr) {
      std::rethrow_exception(error_);
    }
  }

  SnapshotFiles files_;                   // the thread's, as the next
  std::vector<WrittenSnapshot> written_;  // until the thread has ended
  boost::mutex mutex_;                    // guards the rest
  boost::condition_variable changed_;
  std::deque<Snapshot> waiting_;
  std::exception_ptr error_;
  bool is_closed_ = false;
  boost::thread thread_;  // last: it uses all of the above
};

}  // namespace examples::live_checkpoint
