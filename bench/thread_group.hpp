// SPDX-License-Identifier: BSL-1.0
/// A crew: threads that do something at the same moment, and know whether they did.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace byre_bench {

/// Threads are pinned, each to a core of its own while there are enough. On a busy machine two
/// threads may take turns on one core, and what they contend for then looks uncontended: a burst
/// says whether any of them had to wait for its core meanwhile.
class ThreadGroup {
 public:
  struct Burst {
    double wall_ns = 0;       ///< from the first start to the last end
    double cpu_ns = 0;        ///< of all members
    bool undisturbed = true;  ///< nobody waited for its core, but for a moment at being woken
  };

  explicit ThreadGroup(std::size_t size);
  ~ThreadGroup();
  ThreadGroup(const ThreadGroup&) = delete;
  ThreadGroup& operator=(const ThreadGroup&) = delete;

  /// True iff every member has a core of its own.
  bool has_cores() const { return has_cores_; }

  /// Runs `work(member)` on all members at once; returns when all are done.
  Burst run(const std::function<void(std::size_t)>& work);

 private:
  struct Member {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::int64_t cpu_ns = 0;
    std::int64_t delay_ns = 0;
  };

  void live(std::size_t index);
  void wait_at_the_gate();

  const std::function<void(std::size_t)>* work_ = nullptr;
  std::atomic<std::uint32_t> burst_{0};
  std::atomic<std::uint32_t> at_the_gate_{0};
  std::atomic<std::uint32_t> at_work_{0};
  bool stopping_ = false;
  bool has_cores_ = false;
  std::vector<Member> members_;
  std::vector<std::thread> threads_;
};

}  // namespace byre_bench
