// SPDX-License-Identifier: BSL-1.0
/// The second thread: it writes snapshots to files while the first trains on.
#pragma once

#include "snapshot_files.hpp"

#include <boost/thread/condition_variable.hpp>
#include <boost/thread/mutex.hpp>
#include <boost/thread/thread.hpp>
#include <cstddef>
#include <deque>
#include <exception>
#include <vector>

namespace examples::live_checkpoint {

/// At most `capacity` snapshots wait; a trainer that is further ahead has to wait in
/// wait_for_room(). Snapshots that waited without bound would each keep what training overwrites,
/// and a slow disk would become a lack of memory.
///
/// What the thread throws ends its writing and comes out of the next call of wait_for_room() or
/// finish(). Called by one thread.
class SnapshotWriter {
 public:
  SnapshotWriter(SnapshotFiles files, std::size_t capacity);

  /// Gives up what is not written yet.
  ~SnapshotWriter();
  SnapshotWriter(const SnapshotWriter&) = delete;
  SnapshotWriter& operator=(const SnapshotWriter&) = delete;

  /// Waits until submit() has room. Throws what the thread threw.
  void wait_for_room();

  /// Hands over a snapshot; there is room.
  void submit(Snapshot snapshot);

  /// Waits until all are written and returns them in order. Throws what the thread threw.
  std::vector<WrittenSnapshot> finish();

 private:
  void run() noexcept;
  void write_all();
  void rethrow_error() const;

  SnapshotFiles files_;  ///< the thread's
  const std::size_t capacity_;

  boost::mutex mutex_;  ///< guards what follows
  boost::condition_variable changed_;
  std::deque<Snapshot> waiting_;
  std::vector<WrittenSnapshot> written_;
  std::exception_ptr error_;
  bool closed_ = false;     ///< no more will be submitted
  bool abandoned_ = false;  ///< what waits is not to be written

  boost::thread thread_;  ///< last: it uses all of the above
};

}  // namespace examples::live_checkpoint
