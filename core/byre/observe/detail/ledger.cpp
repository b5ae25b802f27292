// SPDX-License-Identifier: BSL-1.0
#include <byre/observe/counters.hpp>
#include <byre/observe/detail/ledger.hpp>
#include <byre/observe/detail/record_log.hpp>
#include <byre/sync/detail/mutex.hpp>
#include <byre/sync/detail/no_destructor.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <new>
#include <utility>

namespace byre::inline BYRE_ABI::stats::detail::ledger {
namespace {

/// The tag of a thread, and the number of its scopes.
struct ThreadScope {
  TagId tag = untagged;
  std::uint32_t depth = 0;
  const void* lost_header = nullptr;  ///< of the last data whose tag was lost
};
constinit thread_local ThreadScope scope_of_thread;

struct Entry {
  DataFacts facts;
  TagId tag = untagged;
  ClonedLines cloned_in{};
  /// The tags in which the data had been cloned when a writer left it. Empty if no other data is in
  /// the ring.
  ClonedLines cloned_before_left{};
  // A ring: data that writers have left, and the data to which they have moved. Only such data that
  // still exists explains why memory is held twice. If `previous` is null, this entry is in no
  // ring; `next`, if not null, is then the entry in whose ring try_update() inserts this entry.
  Entry* next = nullptr;
  Entry* previous = nullptr;
};

/// Whether a clone was made in a scope, or any clone if `all` is true.
bool has_clones(const ClonedLines& tags, bool all) noexcept {
  return std::any_of(tags.begin(), tags.end(), [all](const ClonedAt& tag) {
    return tag.count != 0 && (all || tag.site != untagged);
  });
}

/// Inserts `entry` in the ring of `entry.next`, the data that a writer has left.
void insert_in_ring(Entry& entry) noexcept {
  Entry& left = *entry.next;
  add_lines_of_whole(left.cloned_before_left, left.cloned_in);
  if (left.next == nullptr) {
    left.next = left.previous = &left;
  }
  entry.next = left.next;
  entry.previous = &left;
  entry.next->previous = left.next = &entry;
}

/// Takes `entry` out of its ring. Returns the other entry if only one remains: it leaves the ring.
Entry* take_from_ring(Entry& entry) noexcept {
  Entry* const next = std::exchange(entry.next, nullptr);
  Entry* const previous = std::exchange(entry.previous, nullptr);
  if (next == nullptr) {
    return nullptr;
  }
  next->previous = previous;
  previous->next = next;
  if (next != previous) {
    return nullptr;
  }
  next->next = next->previous = nullptr;
  next->cloned_before_left = {};
  return next;
}

using Entries = std::map<const void*, Entry>;  // by header
using Tags = std::map<std::string, TagId, std::less<>>;

/// The mutex protects the other members. Memory is allocated and freed without it.
struct Ledger final : sync::detail::ProcessState {
  Ledger() { enter(); }

  /// Whether some data needs an entry.
  bool needs(const Entry& entry) const noexcept {
    return entry.facts.header != nullptr && (entry.tag != untagged || entry.next != nullptr ||
                                             has_clones(entry.cloned_in, recordings != 0));
  }

  Entry* find(const void* header) noexcept {
    const auto found = entries.find(header);
    return found == entries.end() ? nullptr : &found->second;
  }

  /// Moves `entry` to `dropped`, with the last entry of its ring if the last one is not needed.
  void drop(Entries::iterator entry, Entries& dropped) noexcept {
    Entry* const last = take_from_ring(entry->second);
    dropped.insert(entries.extract(entry));
    if (last != nullptr && !needs(*last)) {
      dropped.insert(entries.extract(last->facts.header));
    }
  }

  /// Ends the use of the ledger if nothing needs it. If it returns true, the caller must remove the
  /// listener after it has released the lock.
  [[nodiscard]] bool stops() noexcept {
    return scopes == 0 && recordings == 0 && entries.empty() && std::exchange(is_in_use, false);
  }

  /// The scopes of other threads never end in the child.
  void in_child() noexcept override { scopes = scope_of_thread.depth; }

  sync::ProcessMutex mutex;
  bool is_in_use = false;
  std::uint64_t scopes = 0;
  std::uint64_t recordings = 0;
  std::uint64_t lost_nbytes = 0;
  Entries entries;
  Tags tags;
  std::vector<WrittenOverlay> (*overlays)() = nullptr;
};

Ledger& the_ledger() noexcept {
  return sync::no_destructor<Ledger>();
}

/// Increments `users`, which is `scopes` or `recordings`.
void begin_use(std::uint64_t Ledger::*users) noexcept {
  Ledger& all = the_ledger();
  {
    const sync::ProcessLock lock(all.mutex);
    if (all.is_in_use) {
      ++(all.*users);
      return;
    }
  }
  change_listeners(1);  // before is_in_use is set (L1)
  const bool was_in_use = [&] {
    const sync::ProcessLock lock(all.mutex);
    ++(all.*users);
    return std::exchange(all.is_in_use, true);
  }();
  if (was_in_use) {
    change_listeners(-1);  // another thread has put the ledger in use meanwhile
  }
}

void end_use(std::uint64_t Ledger::*users) noexcept {
  Ledger& all = the_ledger();
  Entries dropped;  // destroyed without the lock
  const bool stops = [&] {
    const sync::ProcessLock lock(all.mutex);
    --(all.*users);
    if (all.recordings == 0 && users == &Ledger::recordings) {
      for (auto each = all.entries.begin(); each != all.entries.end();) {
        const auto entry = each++;
        if (!all.needs(entry->second)) {
          dropped.insert(all.entries.extract(entry));
        }
      }
    }
    return all.stops();
  }();
  if (stops) {
    change_listeners(-1);
  }
}

/// Adds a spare entry. Returns false if the heap lacks memory for it, or if the heap itself, a
/// user's operator new, asks for it: the entry would need memory again.
bool add_spare(Entries& spare) noexcept {
  if (std::exchange(thread_of_log.is_recording, true)) {
    return false;
  }
  try {
    spare.try_emplace(nullptr);
  } catch (const std::bad_alloc&) {
    // The result is false.
  }
  thread_of_log.is_recording = false;
  return !spare.empty();
}

/// Calls change(ledger, entry) under the lock, for the entry of `data` or for a new one. Retains
/// the entry only if the data needs one. Returns false if it needs a new entry, and `spare` is
/// empty: then nothing has changed. `stops` is set if the ledger is not in use any more.
template <class Change>
bool try_update(const DataFacts& data, Change change, Entries& spare, bool& stops) noexcept {
  Ledger& all = the_ledger();
  const sync::ProcessLock lock(all.mutex);
  if (!all.is_in_use) {
    return true;
  }
  Entry fresh{.facts = data, .tag = data.tag == unknown_tag ? untagged : data.tag};
  auto known = all.entries.find(data.header);
  const bool is_new = known == all.entries.end();
  Entry& changed = is_new ? fresh : known->second;
  change(all, changed);
  if (!all.needs(changed)) {
    if (!is_new) {
      all.drop(known, spare);
      stops = all.stops();
    }
    return true;
  }
  if (is_new) {
    if (spare.empty()) {
      return false;
    }
    auto node = spare.extract(spare.begin());
    node.key() = data.header;
    node.mapped() = fresh;
    known = all.entries.insert(std::move(node)).position;
  }
  if (Entry& entry = known->second; entry.next != nullptr && entry.previous == nullptr) {
    insert_in_ring(entry);
  }
  return true;
}

/// Returns false if the heap lacks memory for a new entry.
template <class Change>
bool update(const DataFacts& data, Change change) noexcept {
  if (data.header == nullptr) {
    return true;
  }
  Entries spare;  // destroyed without the lock
  bool stops = false;
  while (!try_update(data, change, spare, stops)) {
    if (!add_spare(spare)) {
      return false;
    }
  }
  if (stops) {
    change_listeners(-1);
  }
  return true;
}

/// Counts the bytes of data whose tag is lost, once for each data.
void count_as_lost(const DataFacts& data) noexcept {
  if (data.held != Held::nowhere && data.held != Held::overlay &&
      std::exchange(scope_of_thread.lost_header, data.header) != data.header) {
    Ledger& all = the_ledger();
    const sync::ProcessLock lock(all.mutex);
    all.lost_nbytes += data.nbytes;
  }
}

/// The sizes of the vectors in Contents.
struct Sizes {
  std::size_t tags = 0;
  std::size_t shared = 0;
  std::size_t overlays = 0;

  bool suffice_for(const Sizes& other) const noexcept {
    return other.tags <= tags && other.shared <= shared && other.overlays <= overlays;
  }
};

struct Copied {
  std::vector<const std::string*> names;  // names are never destroyed
  std::vector<std::pair<const void*, TagId>> overlays;
  Contents contents;

  void reserve(const Sizes& sizes) {
    names.resize(sizes.tags);
    overlays.reserve(sizes.overlays);
    contents.nbytes.resize(sizes.tags);
    contents.shared.reserve(sizes.shared);
  }

  /// Does nothing if there is no room.
  void list(const Entry& entry, const ClonedLines& tags, bool is_left) noexcept {
    if (contents.shared.size() < contents.shared.capacity()) {
      contents.shared.push_back({entry.facts.data, entry.facts.nbytes, entry.tag, tags, is_left});
    }
  }
};

/// The other owners of data that was never cloned are pins and atomic variables.
bool is_shared(const Entry& entry) noexcept {
  return entry.cloned_in.front().count != 0 && entry.facts.use_count(entry.facts.header) > 1;
}

/// Overlays may use data without an owner.
bool is_left(const Entry& entry) noexcept {
  return entry.cloned_before_left.front().count != 0 &&
         entry.facts.use_count(entry.facts.header) != 0;
}

/// Copies the ledger if there is room for it, else sets `room` to the room that is needed.
bool copy_to(Copied& copied, Sizes& room) noexcept {
  Ledger& all = the_ledger();
  const sync::ProcessLock lock(all.mutex);
  Sizes needed{.tags = all.tags.size() + 1};
  for (const auto& [header, entry] : all.entries) {
    needed.shared += (is_shared(entry) ? std::size_t{1} : 0) + (is_left(entry) ? 1 : 0);
    needed.overlays += entry.facts.held == Held::overlay ? std::size_t{1} : 0;
  }
  // Owners may come and go meanwhile.
  if (!room.suffice_for(needed)) {
    room = {needed.tags, 2 * needed.shared + 1, needed.overlays};
    return false;
  }
  for (const auto& [name, tag] : all.tags) {
    copied.names[tag] = &name;
  }
  for (const auto& [header, entry] : all.entries) {
    const DataFacts& facts = entry.facts;
    if (facts.held == Held::overlay) {
      copied.overlays.emplace_back(facts.data, entry.tag);
    } else if (facts.held != Held::nowhere && entry.tag != untagged) {
      copied.contents.nbytes[entry.tag][static_cast<std::size_t>(facts.held)] += facts.nbytes;
    }
    if (is_shared(entry)) {
      copied.list(entry, entry.cloned_in, false);
    }
    if (is_left(entry)) {
      copied.list(entry, entry.cloned_before_left, true);
    }
  }
  copied.contents.lost_nbytes = all.lost_nbytes;
  return true;
}

std::vector<WrittenOverlay> written_overlays() {
  const auto source = [] {
    Ledger& all = the_ledger();
    const sync::ProcessLock lock(all.mutex);
    return all.overlays;
  }();
  return source == nullptr ? std::vector<WrittenOverlay>() : source();
}

}  // namespace

TagId tag_named(std::string_view name) {
  Ledger& all = the_ledger();
  for (Tags spare;; spare.try_emplace(std::string(name), untagged)) {
    const sync::ProcessLock lock(all.mutex);
    if (const auto known = all.tags.find(name); known != all.tags.end()) {
      return known->second;
    }
    if (!spare.empty()) {
      spare.begin()->second = static_cast<TagId>(all.tags.size() + 1);
      return all.tags.insert(spare.extract(spare.begin())).position->second;
    }
  }
}

TagId begin_scope(TagId tag) noexcept {
  begin_use(&Ledger::scopes);
  ++scope_of_thread.depth;
  return std::exchange(scope_of_thread.tag, tag);
}

void end_scope(TagId former) noexcept {
  scope_of_thread.tag = former;
  --scope_of_thread.depth;
  end_use(&Ledger::scopes);
}

void begin_recording() noexcept {
  begin_use(&Ledger::recordings);
}
void end_recording() noexcept {
  end_use(&Ledger::recordings);
}

void add(const DataFacts& data) noexcept {
  scope_of_thread.lost_header = nullptr;
  const bool is_added =
      update(data, [&](const Ledger&, Entry& entry) { entry.tag = scope_of_thread.tag; });
  if (!is_added) {
    count_as_lost(data);
  }
}

void remove(const void* header) noexcept {
  update({.header = header}, [](const Ledger&, Entry& entry) { entry.facts.header = nullptr; });
}

void inherit(const DataFacts& source, const DataFacts& copy, AfterCopy after) noexcept {
  bool needs_tag = false;
  const bool has_entry = update(copy, [&](Ledger& all, Entry& entry) {
    Entry* const known = all.find(source.header);
    entry.tag = source.tag != unknown_tag ? source.tag : known != nullptr ? known->tag : untagged;
    needs_tag = entry.tag != untagged;
    // If the source is released already, its header may be that of other data by now.
    if (known == nullptr || known->facts.data != source.data) {
      return;
    }
    if (after == AfterCopy::left && has_clones(known->cloned_in, known->tag != untagged)) {
      entry.next = known;
    } else if (after == AfterCopy::released && known->next != nullptr) {
      entry.next = known;
      entry.cloned_before_left = known->cloned_before_left;
    }
  });
  if (needs_tag && !has_entry) {
    count_as_lost(copy);
  }
}

void add_clone(const DataFacts& data, bool was_unique) noexcept {
  update(data, [&](const Ledger&, Entry& entry) {
    if (was_unique) {
      entry.cloned_in = {};
    }
    add_line(entry.cloned_in, scope_of_thread.tag);
  });
}

void add_part(const void* whole, const DataFacts& part, bool was_unique) noexcept {
  update(part, [&](Ledger& all, Entry& entry) {
    if (was_unique) {
      entry.cloned_in = {};
    }
    if (const Entry* const of_whole = all.find(whole)) {
      add_lines_of_whole(entry.cloned_in, of_whole->cloned_in);
    }
  });
}

TagId tag_of(const void* header) noexcept {
  Ledger& all = the_ledger();
  const sync::ProcessLock lock(all.mutex);
  const Entry* const known = all.find(header);
  return known == nullptr ? untagged : known->tag;
}

void set_source_of_overlays(std::vector<WrittenOverlay> (*overlays)()) noexcept {
  Ledger& all = the_ledger();
  const sync::ProcessLock lock(all.mutex);
  all.overlays = overlays;
}

Contents contents() {
  Copied copied;
  Sizes room;
  do {
    copied.reserve(room);
  } while (!copy_to(copied, room));
  Contents result = std::move(copied.contents);
  result.names.emplace_back("untagged");
  for (std::size_t tag = 1; tag < copied.names.size(); ++tag) {
    result.names.push_back(*copied.names[tag]);
  }
  std::sort(copied.overlays.begin(), copied.overlays.end());
  for (const WrittenOverlay& overlay : written_overlays()) {
    const auto tagged = std::lower_bound(copied.overlays.begin(), copied.overlays.end(),
                                         std::pair(overlay.data, TagId{untagged}));
    const bool is_known = tagged != copied.overlays.end() && tagged->first == overlay.data;
    result.nbytes[is_known ? tagged->second : untagged][static_cast<std::size_t>(Held::overlay)] +=
        overlay.nbytes;
  }
  return result;
}

}  // namespace byre::inline BYRE_ABI::stats::detail::ledger
