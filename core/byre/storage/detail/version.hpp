// SPDX-License-Identifier: BSL-1.0
/// The version of a storage: see Storage::version(). A storage whose version was asked has a
/// *watch*: one more owner in the share word of its data, on behalf of the storage. So the word
/// differs from 1, and the load by which every write tests whether it may be in place sends the
/// next write of this storage to its slow path, which ends the watch. Storages without a watch need
/// no further test for it.
#pragma once

#include <byre/cow/share_word.hpp>
#include <byre/sync/detail/site.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>

namespace byre::inline BYRE_ABI {

namespace detail {

enum class VersionSite : std::uint8_t { draw, number, peek, publish, end };

inline constexpr sync::SiteTable<VersionSite, 5> version_sites{{{
    {"version.draw", sync::Operation::fetch_add, std::memory_order::relaxed},
    {"version.number", sync::Operation::load, std::memory_order::acquire},
    {"version.peek", sync::Operation::load, std::memory_order::relaxed},
    {"version.publish", sync::Operation::compare_exchange, std::memory_order::release},
    {"version.end", sync::Operation::store, std::memory_order::relaxed},
}}};

/// The source of all version numbers of the process: 1, 2, and so on. Thread-safe; wait-free;
/// throws nothing.
template <sync::Sync Sync>
class basic_version_numbers {
 public:
  constexpr basic_version_numbers() noexcept : last_(0) {}

  static std::uint64_t draw() noexcept {
    // Relaxed, and pairs with nothing: a number refers to no other memory. If this step were split
    // in two, numbers_are_drawn_once would fail.
    return Sync::template no_destructor<basic_version_numbers>().last_.fetch_add(
               1, version_sites.at(VersionSite::draw, std::memory_order::relaxed)) +
           1;
  }

 private:
  typename Sync::template Atomic<std::uint64_t> last_;
};

/// The watch of one storage, and its number: 0 if there is no watch.
///
/// V1  If the number is not 0, the share word counts the storage twice. Only a write to the storage
///     ends this, and a write excludes every other access to the storage.
/// V2  A storage that claims its data has no watch, or known_wrong.claims_with_a_watch fails. So a
///     claim finds another owner if and only if another storage or buffer shares the data, and N
///     writers make N-1 copies (I6).
///
/// The caller is the storage, as an owner of the data. Thread-safety: const members and begin() may
/// be called concurrently; end() requires exclusive access to the storage. Progress: wait-free,
/// except begin(), which is lock-free. Nothing throws.
template <sync::Sync Sync>
class basic_watch {
  using ShareWord = basic_share_word<Sync>;

 public:
  basic_watch() noexcept : number_(0) {}
  basic_watch(const basic_watch&) = delete;
  basic_watch& operator=(const basic_watch&) = delete;

  /// The number; 0 if there is no watch.
  std::uint64_t number() const noexcept {
    // Acquire pairs with publish: if there is a watch, a later load of the share word counts it, or
    // asks_race_uniqueness fails.
    return number_.load(sites.at(At::number, std::memory_order::acquire));
  }

  /// How many owners the share word counts for the storage.
  std::uint32_t owners() const noexcept { return number() == 0 ? 1 : 2; }

  /// Begins a watch, unless the storage has one. Returns the number.
  std::uint64_t begin(ShareWord& share) noexcept {
    share.add_owner();  // before the number is published, or known_wrong.publishes_first fails
    const std::uint64_t drawn = basic_version_numbers<Sync>::draw();
    std::uint64_t present = 0;
    do {
      // Release pairs with number: the owner is added before another thread relies on the watch, or
      // asks_race_uniqueness fails. If this step were split in two, asks_race_asks would fail.
      if (number_.compare_exchange_weak(present, drawn,
                                        sites.at(At::publish, std::memory_order::release))) {
        return drawn;
      }
    } while (present == 0);
    share.drop_owners(1);  // another thread has begun the watch
    return present;
  }

  /// Ends the watch. Returns false if the storage has no watch.
  bool end(ShareWord& share) noexcept {
    // Relaxed, and pairs with nothing: no other thread accesses the storage.
    if (number_.load(sites.at(At::peek, std::memory_order::relaxed)) == 0) {
      return false;
    }
    // Relaxed, and pairs with nothing, for the reason above. Without this store, asks_race_asks
    // fails.
    number_.store(0, sites.at(At::end, std::memory_order::relaxed));
    share.drop_owners(1);
    return true;
  }

 private:
  using At = VersionSite;
  static constexpr const auto& sites = version_sites;

  typename Sync::template Atomic<std::uint64_t> number_;
};

}  // namespace detail

/// Defined in buffer.cpp.
template <>
BYRE_API detail::basic_version_numbers<sync::Default>
    sync::detail::Singleton<detail::basic_version_numbers<sync::Default>>::object;

}  // namespace byre::inline BYRE_ABI
