// SPDX-License-Identifier: BSL-1.0
/// The shared-exclusive lock of sync::Boost, which makes it a LockingSync.
#pragma once

#include <byre/sync/boost.hpp>

#include <boost/thread/shared_mutex.hpp>

namespace byre::inline v0::sync {

class Boost::SharedMutex {
 public:
  void lock(Step) { mutex_.lock(); }
  void unlock(Step) { mutex_.unlock(); }
  void lock_shared(Step) { mutex_.lock_shared(); }
  void unlock_shared(Step) { mutex_.unlock_shared(); }

 private:
  boost::shared_mutex mutex_;
};

static_assert(LockingSync<Boost>);

}  // namespace byre::inline v0::sync
