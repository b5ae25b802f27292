// SPDX-License-Identifier: BSL-1.0
#include <byre/checks/detail/access_monitor.hpp>

#if BYRE_CHECKS

#include <byre/error/detail/assert.hpp>
#include <byre/error/error.hpp>
#include <byre/sync/detail/mutex.hpp>
#include <byre/sync/detail/no_destructor.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace byre::inline BYRE_ABI::detail {
namespace {

using Kind = AccessMonitor::Access::Kind;

/// The locks are in a table, not in the monitors: a program that breaks the rule may destroy a
/// buffer while another thread accesses it.
struct Mutexes final : sync::detail::ProcessState {
  Mutexes() { enter(); }

  std::array<sync::Mutex, 61> all;

 private:
  /// Replaces the locks by unlocked ones: threads that do not exist in the child may have locked
  /// them, and the lists that they guard are on the stacks of those threads.
  void in_child() noexcept override { ::new (&all) std::array<sync::Mutex, 61>; }
};

sync::Mutex& mutex_of(const AccessMonitor& monitor) noexcept {
  auto& mutexes = sync::no_destructor<Mutexes>().all;
  return mutexes[reinterpret_cast<std::uintptr_t>(&monitor) / alignof(AccessMonitor) %
                 mutexes.size()];
}

const char* name_of(Kind kind) noexcept {
  constexpr const char* names[] = {"read", "lazy clone", "write in parallel", "write"};
  return names[static_cast<std::size_t>(kind)];
}

/// Threads that write in parallel may also read. They must not make a lazy clone, because the clone
/// would share data that other threads still write.
bool exclude_each_other(Kind one, Kind other) noexcept {
  const auto [less, more] = std::minmax(one, other);
  return more == Kind::write || (less == Kind::lazy_clone && more == Kind::write_in_parallel);
}

}  // namespace

AccessMonitor::Access::Access(AccessMonitor& monitor, Kind kind, CallSite site) noexcept
    : monitor_(monitor), kind_(kind), site_(site) {
  const sync::Lock lock(mutex_of(monitor_));
  if (std::exchange(monitor_.process_, sync::detail::process_number) !=
      sync::detail::process_number) {
    monitor_.under_way_ = nullptr;  // accesses of threads that do not exist in this child
  }
  for (const Access* other = monitor_.under_way_; other != nullptr; other = other->next_) {
    if (exclude_each_other(kind_, other->kind_)) {
      const Text text = format_text(
          "this %s overlaps a %s of the same storage at %s:%u. A write requires exclusive access "
          "to the storage: give each thread a lazy clone, use a lock, or call "
          "mutable_data_in_parallel() in all threads.",
          name_of(kind_), name_of(other->kind_), other->site_.file, other->site_.line);
      fail_assertion(text.chars.data(), site_);
    }
  }
  next_ = monitor_.under_way_;
  monitor_.under_way_ = this;
}

AccessMonitor::Access::~Access() {
  const sync::Lock lock(mutex_of(monitor_));
  Access** place = &monitor_.under_way_;
  while (*place != this && *place != nullptr) {
    place = &(*place)->next_;
  }
  if (*place == this) {  // false in a child, if the access began before the fork
    *place = next_;
  }
}

}  // namespace byre::inline BYRE_ABI::detail

#endif
