// SPDX-License-Identifier: BSL-1.0
/// The list of data whose files other processes map.
///
/// Another process that maps a file privately is a copier which takes its time, like an overlay
/// (overlay.hpp). The share word of the file's data counts all other processes as one copier, so no
/// owner writes the file in place. The system knows when the last process has let go of the file
/// (PageFile::is_open_elsewhere()), however the process ended. byre asks it when an owner is about
/// to write, and in collect(). docs/compositions.md explains why this is correct.
#pragma once

#include <byre/cow/detail/header.hpp>
#include <byre/error/detail/intrusive_list.hpp>
#include <byre/pages/detail/page_file.hpp>
#include <byre/sync/detail/mutex.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace byre::inline BYRE_ABI::detail {

enum class ExportsSite : std::uint8_t {
  lock,
  unlock,
  is_counted,
  set_counted,
  begin_release,
  end_release,
  is_releasing,
  park,
  wake,
};

inline constexpr sync::SiteTable<ExportsSite, 9> exports_sites{{{
    {"exports.lock", sync::Operation::lock, std::memory_order::seq_cst},
    {"exports.unlock", sync::Operation::unlock, std::memory_order::seq_cst},
    {"exports.is_counted", sync::Operation::load, std::memory_order::relaxed},
    {"exports.set_counted", sync::Operation::store, std::memory_order::relaxed},
    {"exports.begin_release", sync::Operation::fetch_add, std::memory_order::relaxed},
    {"exports.end_release", sync::Operation::fetch_sub, std::memory_order::release},
    {"exports.is_releasing", sync::Operation::load, std::memory_order::acquire},
    {"exports.park", sync::Operation::park, std::memory_order::seq_cst},
    {"exports.wake", sync::Operation::unpark, std::memory_order::seq_cst},
}}};

template <sync::Sync Sync>
class basic_exports;

/// The export of one file: whether other processes are counted as a copier of its data. A part of
/// the data's header.
template <sync::Sync Sync>
class basic_export : public ListNode {
 public:
  basic_export(cow::basic_header<Sync>& header, PageFile& file) noexcept
      : header_(header), file_(file), is_counted_(0) {}

  /// Thread-safe; wait-free.
  bool is_counted() const noexcept {
    // Relaxed, and pairs with nothing: a thread that reads 0 acts as if the export came later.
    return is_counted_.load(
               exports_sites.at(ExportsSite::is_counted, std::memory_order::relaxed)) != 0;
  }

 private:
  friend basic_exports<Sync>;

  void set_counted(bool is) noexcept {
    // Relaxed, and pairs with nothing: the lock of the list orders all changes. Without it,
    // exports_race_exports counts two copiers.
    is_counted_.store(is ? 1 : 0,
                      exports_sites.at(ExportsSite::set_counted, std::memory_order::relaxed));
  }

  cow::basic_header<Sync>& header_;
  PageFile& file_;
  typename Sync::template Atomic<std::uint32_t> is_counted_;
  typename Sync::template Plain<std::uint64_t> number_{0};  // ascending with the time of the export
};

struct Views {
  std::size_t ended = 0;
  std::size_t remaining = 0;
  std::size_t released = 0;  ///< how many of those that ended had kept data without owners
};

/// The list of this process. While an entry is in the list, other processes are counted as a
/// copier, so its data is alive. Thread-safe; throws nothing.
template <sync::Sync Sync>
class basic_exports {
 public:
  using Export = basic_export<Sync>;

  /// Opens the file for other processes, and counts these as one copier if the file may change. The
  /// caller is a copier of the data, or an owner if `by_copier` is false.
  FileForOthers open(Export& data, bool by_copier) noexcept {
    const ListLock lock(mutex_);
    FileForOthers opened = data.file_.open_for_others();
    if (opened.file && opened.may_change && !data.is_counted()) {
      add_copier(data.header_.share(), by_copier);
      data.set_counted(true);
      exported_.set(exported_.get() + 1);
      data.number_.set(exported_.get());
      all_.push_back(data);
      count_.set(count_.get() + 1);
    }
    return opened;
  }

  /// Ends the copier if no other process has the file open. The caller is an owner or a copier of
  /// the data.
  void look_at(Export& data) noexcept {
    const ListLock lock(mutex_);
    if (data.is_counted() && !data.file_.is_open_elsewhere()) {
      [[maybe_unused]] const bool is_last = end(data);
      BYRE_ASSERT(!is_last, "exported data was looked at without an owner or a copier");
    }
  }

  /// Looks at `most` entries. Another call continues with the next ones. Releases data without an
  /// owner or another copier: other processes keep the file themselves.
  Views look(std::size_t most) noexcept {
    Views views;
    IntrusiveList<Export> unused;
    {
      const ListLock lock(mutex_);
      for (std::size_t left = (std::min)(most, count_.get()); left != 0; --left) {
        Export& data = all_.front();
        if (data.file_.is_open_elsewhere() && !data.header_.share().is_sole_copier()) {
          ++views.remaining;
          all_.remove(data);
          all_.push_back(data);
        } else {
          ++views.ended;
          if (end(data)) {
            ++views.released;
            unused.push_back(data);
          }
        }
      }
      if (!unused.is_empty()) {
        // Relaxed: the lock orders it. Without it, budgets_await_releases fails.
        releasing_.fetch_add(1, sites.at(At::begin_release, std::memory_order::relaxed));
      }
    }
    if (!unused.is_empty()) {
      release(unused);
    }
    return views;
  }

  /// Looks at all entries, and waits until the data that was exported before the call has no view.
  /// Returns earlier if the process has no descriptor left, which the wait needs.
  Views await_all() noexcept {
    const std::uint64_t newest = [this] {
      const ListLock lock(mutex_);
      return exported_.get();
    }();
    constexpr auto all = (std::numeric_limits<std::size_t>::max)();
    Views views = look(all);
    while (views.remaining != 0 && wait_for_one(newest)) {
      const Views more = look(all);
      views = {views.ended + more.ended, more.remaining, views.released + more.released};
    }
    return views;
  }

  /// Waits until no thread is in the course of releasing data that look() found.
  void await_releases() noexcept {
    const auto is_releasing = [this]() noexcept {
      // Acquire pairs with end_release, or budgets_await_releases fails.
      return releasing_.load(sites.at(At::is_releasing, std::memory_order::acquire)) != 0;
    };
    while (is_releasing()) {
      // Pairs with wake. Without parking, budgets_await_releases spins.
      Sync::park(this, is_releasing, sites.at(At::park));
    }
  }

 private:
  using At = ExportsSite;
  static constexpr const auto& sites = exports_sites;

  class ListLock {
   public:
    explicit ListLock(typename Sync::ProcessMutex& mutex) : mutex_(mutex) {
      // Pairs with unlock. Without this lock, collects_race_releases fails: a thread looks at data
      // that another thread frees.
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

  static void add_copier(basic_share_word<Sync>& share, bool by_copier) noexcept {
    if (by_copier) {
      share.add_copy();
    } else {
      share.add_owner();
      [[maybe_unused]] const Claim claim = share.claim(Wait::never);
      BYRE_ASSERT(claim == Claim::copy, "data was exported without an owner");
    }
  }

  /// Ends the copier of an entry. Returns whether the caller has to release the data.
  bool end(Export& data) noexcept {
    all_.remove(data);
    count_.set(count_.get() - 1);
    data.set_counted(false);
    return data.header_.share().finish_copy();
  }

  void release(IntrusiveList<Export>& unused) noexcept {
    while (!unused.is_empty()) {
      Export& data = unused.front();
      unused.remove(data);
      data.header_.release();
    }
    // Release pairs with is_releasing, or budgets_await_releases fails.
    if (releasing_.fetch_sub(1, sites.at(At::end_release, std::memory_order::release)) == 1) {
      // Pairs with park. Without it, budgets_await_releases hangs.
      Sync::unpark_all(this, sites.at(At::wake));
    }
  }

  /// Waits for one entry that is at most as new as `newest`. Returns false if all are newer, or if
  /// the system refuses.
  bool wait_for_one(std::uint64_t newest) noexcept {
    std::optional<ListLock> lock(mutex_);
    for (Export& data : all_) {
      if (data.number_.get() <= newest) {
        return data.file_.wait_until_closed_elsewhere(
            [](void* held) noexcept { static_cast<std::optional<ListLock>*>(held)->reset(); },
            &lock);
      }
    }
    return false;
  }

  typename Sync::ProcessMutex mutex_;
  IntrusiveList<Export> all_;
  typename Sync::template Plain<std::size_t> count_{0};
  typename Sync::template Plain<std::uint64_t> exported_{0};
  typename Sync::template Atomic<std::uint32_t> releasing_{0};
};

/// The list of this process.
template <sync::Sync Sync>
basic_exports<Sync>& exports() noexcept {
  return Sync::template no_destructor<basic_exports<Sync>>();
}
template <>
BYRE_API basic_exports<sync::Default>& exports<sync::Default>() noexcept;

}  // namespace byre::inline BYRE_ABI::detail
