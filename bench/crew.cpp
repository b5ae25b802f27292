// SPDX-License-Identifier: BSL-1.0
#include "crew.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <algorithm>
#include <chrono>

namespace byre_bench {
namespace {

std::vector<std::size_t> cores_of_this_process() {
  std::vector<std::size_t> cores;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) {
    for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(core, &set)) {
        cores.push_back(core);
      }
    }
  }
  return cores;
}

void pin_this_thread_to(std::size_t core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  ::sched_setaffinity(0, sizeof set, &set);
}

long times_put_off() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

std::int64_t cpu_now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Crew::Crew(std::size_t size) : members_(size) {
  const auto cores = cores_of_this_process();
  has_cores_ = cores.size() >= size;
  for (std::size_t i = 0; i < size; ++i) {
    threads_.emplace_back([=, this] {
      if (!cores.empty()) {
        pin_this_thread_to(cores[i % cores.size()]);
      }
      live(i);
    });
  }
}

Crew::~Crew() {
  stopping_ = true;
  burst_.fetch_add(1);
  burst_.notify_all();
  for (auto& thread : threads_) {
    thread.join();
  }
}

Crew::Burst Crew::run(const std::function<void(std::size_t)>& work) {
  work_ = &work;
  at_the_gate_.store(0);
  done_.store(0);
  burst_.fetch_add(1);
  burst_.notify_all();
  // Asleep meanwhile, so as to leave the cores to the members.
  for (auto done = done_.load(); done != members_.size(); done = done_.load()) {
    done_.wait(done);
  }
  Burst burst;
  std::int64_t start = members_.front().start_ns;
  std::int64_t end = members_.front().end_ns;
  for (const Member& member : members_) {
    start = std::min(start, member.start_ns);
    end = std::max(end, member.end_ns);
    burst.cpu_ns += static_cast<double>(member.cpu_ns);
    burst.undisturbed = burst.undisturbed && member.undisturbed;
  }
  burst.wall_ns = static_cast<double>(end - start);
  return burst;
}

void Crew::wait_at_the_gate() {
  at_the_gate_.fetch_add(1);
  while (at_the_gate_.load(std::memory_order::acquire) != members_.size()) {
    if (!has_cores_) {
      std::this_thread::yield();
    }
  }
}

void Crew::live(std::size_t index) {
  Member& self = members_[index];
  for (std::uint32_t seen = 0;;) {
    burst_.wait(seen);
    seen = burst_.load();
    if (stopping_) {
      return;
    }
    wait_at_the_gate();
    const long put_off_before = times_put_off();
    const std::int64_t cpu_before = cpu_now_ns();
    self.start_ns = now_ns();
    (*work_)(index);
    self.end_ns = now_ns();
    self.cpu_ns = cpu_now_ns() - cpu_before;
    self.undisturbed = times_put_off() == put_off_before;
    done_.fetch_add(1);
    done_.notify_all();
  }
}

}  // namespace byre_bench
