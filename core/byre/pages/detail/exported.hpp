// SPDX-License-Identifier: BSL-1.0
/// The right to end the copier that stands for other processes, and the list of data that such
/// processes map.
///
/// Another process that maps a file privately is a copier which takes its time, like an overlay
/// (overlay.hpp). The share word of the file's data counts all other processes as one copier, so no
/// owner writes the file in place. The system knows when the last process has let go of the file
/// (PageFile::is_open_elsewhere()), however the process ended. byre asks it when an owner is about
/// to write, and in collect(). docs/compositions.md explains why this is correct.
#pragma once

#include <byre/config.hpp>
#include <byre/error/detail/intrusive_list.hpp>
#include <byre/sync/detail/mutex.hpp>
#include <byre/sync/detail/site.hpp>
#include <byre/sync/sync.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace byre::inline BYRE_ABI {

namespace cow {

enum class OutsideCopierSite : std::uint8_t { put, is_here, take };

inline constexpr sync::SiteTable<OutsideCopierSite, 3> outside_copier_sites{{{
    {"outside_copier.put", sync::Operation::exchange, std::memory_order::release},
    {"outside_copier.is_here", sync::Operation::load, std::memory_order::relaxed},
    {"outside_copier.take", sync::Operation::exchange, std::memory_order::acquire},
}}};

/// The right to end the copier that stands for all other processes. The thread that takes the right
/// asks the system, and either puts the right back or ends the copier.
///
/// Thread-safe; wait-free; throws nothing.
template <sync::Sync Sync>
class basic_outside_copier {
 public:
  basic_outside_copier() noexcept : is_here_(0) {}

  /// Stores the right to end a copier. Returns false if such a right is here already: the caller
  /// then ends its copier itself. Called after the file was opened for the other process.
  [[nodiscard]] bool put() noexcept {
    // Release pairs with take: the copier is added before another thread ends it, or
    // collects_race_collects fails. If this were a load and a store, exports_race_exports would
    // fail. No acquire: a caller that finds a right here ends only its own copier, which it added
    // or took by an acquire.
    return is_here_.exchange(1, sites.at(At::put, std::memory_order::release)) == 0;
  }

  /// True iff the right was here. The caller has it now. If no data was exported, this is one load.
  [[nodiscard]] bool take() noexcept {
    // Relaxed, and pairs with nothing: a right that the load misses stays here.
    if (is_here_.load(sites.at(At::is_here, std::memory_order::relaxed)) == 0) {
      return false;
    }
    // Acquire pairs with put, or collects_race_collects fails. If this were a load and a store, two
    // threads would end one copier, and collects_race_collects would fail, too.
    return is_here_.exchange(0, sites.at(At::take, std::memory_order::acquire)) == 1;
  }

 private:
  using At = OutsideCopierSite;
  static constexpr const auto& sites = outside_copier_sites;

  typename Sync::template Atomic<std::uint32_t> is_here_;
};

}  // namespace cow

namespace detail {

enum class ExportsSite : std::uint8_t { lock, unlock };

inline constexpr sync::SiteTable<ExportsSite, 2> exports_sites{{{
    {"exports.lock", sync::Operation::lock, std::memory_order::seq_cst},
    {"exports.unlock", sync::Operation::unlock, std::memory_order::seq_cst},
}}};

template <sync::Sync Sync>
class basic_exports;

/// Data whose file was exported, in the list of all such data of the process.
template <sync::Sync Sync>
class basic_exported_data : public ListNode {
 public:
  /// Takes the right to end the copier. The caller then calls look().
  [[nodiscard]] virtual bool take() noexcept = 0;
  /// Ends the copier if no other process has the file open, or if only the copier keeps the data.
  /// Otherwise puts the right back. Returns whether the copier ended. The object may then be gone.
  virtual bool look() noexcept = 0;
  /// Waits until no other process has the file open. Requires that the caller has the right.
  virtual void wait_for_other_processes() noexcept = 0;

 protected:
  basic_exported_data() noexcept = default;
  ~basic_exported_data() = default;

  /// Whether the data is in the list of the process. Called by its last user, without a lock: each
  /// thread that added the data was its owner or copier.
  bool was_added() const noexcept { return was_added_.get(); }

 private:
  friend basic_exports<Sync>;

  typename Sync::template Plain<bool> was_added_{false};
};

struct Views {
  std::size_t ended = 0;
  std::size_t remaining = 0;
};

/// The list of all data of the process whose files were exported. Thread-safe; throws nothing.
template <sync::Sync Sync>
class basic_exports {
 public:
  using Data = basic_exported_data<Sync>;

  /// Adds data to the list, unless it is there.
  void add(Data& data) noexcept {
    const ListLock lock(mutex_);
    if (!data.was_added_.get()) {
      data.was_added_.set(true);
      all_.push_back(data);
      count_.set(count_.get() + 1);
    }
  }

  /// Removes data from the list before it is destroyed. The caller is its last user.
  void remove(Data& data) noexcept {
    const ListLock lock(mutex_);
    all_.remove(data);
    count_.set(count_.get() - 1);
  }

  /// Takes and looks at the first `most` entries of the list, one after another, and moves them to
  /// its end.
  Views look(std::size_t most, bool waits) noexcept {
    Views views;
    for (Turns left{most}; left.count != 0;) {
      if (Data* const data = take_next(left)) {
        if (waits) {
          data->wait_for_other_processes();
        }
        ++(data->look() ? views.ended : views.remaining);
      }
    }
    return views;
  }

 private:
  using At = ExportsSite;
  static constexpr const auto& sites = exports_sites;

  class ListLock {
   public:
    explicit ListLock(typename Sync::ProcessMutex& mutex) : mutex_(mutex) {
      // Pairs with unlock. Without this lock, collects_race_releases fails: a thread takes the
      // right of data that another thread frees.
      mutex_.lock(sites.at(At::lock));
    }
    ~ListLock() {
      // Pairs with lock. Without this unlock, exports_race_exports hangs.
      mutex_.unlock(sites.at(At::unlock));
    }
    ListLock(const ListLock&) = delete;
    ListLock& operator=(const ListLock&) = delete;

   private:
    typename Sync::ProcessMutex& mutex_;
  };

  /// How many entries are left to look at.
  struct Turns {
    std::size_t count;
    bool is_limited = false;  ///< by the length of the list at the first turn
  };

  /// Moves the first entry to the end, and takes its right. Returns null for an entry without it.
  /// The data is alive until it looks, because the copier is counted. One at a time: a chain of
  /// taken data would break if another thread exported, and took, data of the chain.
  Data* take_next(Turns& left) noexcept {
    const ListLock lock(mutex_);
    if (!std::exchange(left.is_limited, true)) {
      left.count = (std::min)(left.count, count_.get());
    }
    if (all_.is_empty() || left.count == 0) {
      left.count = 0;
      return nullptr;
    }
    --left.count;
    Data& data = all_.front();
    all_.remove(data);
    all_.push_back(data);
    return data.take() ? &data : nullptr;
  }

  typename Sync::ProcessMutex mutex_;
  IntrusiveList<Data> all_;
  typename Sync::template Plain<std::size_t> count_{0};
};

/// The list of this process.
template <sync::Sync Sync>
basic_exports<Sync>& exports() noexcept {
  return Sync::template no_destructor<basic_exports<Sync>>();
}
template <>
BYRE_API basic_exports<sync::Default>& exports<sync::Default>() noexcept;

}  // namespace detail
}  // namespace byre::inline BYRE_ABI
