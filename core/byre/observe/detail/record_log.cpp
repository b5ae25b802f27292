// SPDX-License-Identifier: BSL-1.0
#include <byre/observe/detail/record_log.hpp>
#include <byre/sync/detail/no_destructor.hpp>

#include <pthread.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#include <algorithm>
#include <chrono>

namespace byre::inline v0::stats::detail {

constinit thread_local ThreadOfLog thread_of_log;

namespace {

std::uint64_t system_id_of_this_thread() noexcept {
#if defined(__linux__)
  return static_cast<std::uint64_t>(::syscall(SYS_gettid));
#else
  return 0;
#endif
}

}  // namespace

std::int64_t now_ns() noexcept {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

void add_line(ClonedLines& lines, SiteId site, std::uint32_t count) noexcept {
  auto place = std::find_if(lines.begin(), lines.end(),
                            [site](const ClonedAt& line) { return line.site == site; });
  if (place == lines.end()) {
    --place;
    *place = ClonedAt{};
  }
  place->site = site;
  place->count += count;
  std::rotate(lines.begin(), place, place + 1);
}

void add_lines_of_whole(ClonedLines& lines, const ClonedLines& whole) noexcept {
  for (auto line = whole.rbegin(); line != whole.rend(); ++line) {
    if (line->count != 0) {
      add_line(lines, line->site, 0);
      lines.front().count = std::max(lines.front().count, line->count);
    }
  }
}

RecordLog& record_log() noexcept {
  return sync::no_destructor<RecordLog>();
}

void RecordLog::begin(RecordingRoom& room) noexcept {
  const sync::ProcessLock lock(mutex_);
  period_ += rooms_ == nullptr ? 1 : 0;
  room.begin_ns = now_ns();
  room.next = std::exchange(rooms_, &room);
}

void RecordLog::end(RecordingRoom& room) noexcept {
  Parts dropped;
  const sync::ProcessLock lock(mutex_);
  RecordingRoom** place = &rooms_;
  while (*place != &room) {
    place = &(*place)->next;
  }
  *place = room.next;
  if (rooms_ == nullptr) {
    std::swap(dropped, kept_);
  }
}

std::uint64_t RecordLog::lost_of(const RecordingRoom& room) noexcept {
  const sync::ProcessLock lock(mutex_);
  return room.lost;
}

Records RecordLog::take(const RecordingRoom& room) {
  Records taken;
  std::vector<std::pair<const void*, KnownData>> overlays;
  for (std::size_t records = 0, threads = 0, data = 0;;) {
    taken.records.reserve(records + data);
    taken.threads.reserve(threads);
    overlays.reserve(data);
    const sync::ProcessLock lock(mutex_);
    data = kept_.data.size();
    records = room.records.size();
    threads = kept_.threads.size();
    if (records + data <= taken.records.capacity() && threads <= taken.threads.capacity() &&
        data <= overlays.capacity()) {
      taken.begin_ns = room.begin_ns;
      taken.lost = room.lost;
      taken.records.assign(room.records.begin(), room.records.end());
      taken.threads.assign(kept_.threads.begin(), kept_.threads.end());
      std::copy_if(kept_.data.begin(), kept_.data.end(), std::back_inserter(overlays),
                   [](const auto& each) { return each.second.written != nullptr; });
      break;
    }
  }
  for (const auto& [address, known] : overlays) {  // which may end meanwhile: nothing is read there
    const std::int64_t now = now_ns();
    taken.records.push_back({.kind = RecordKind::overlay_end,
                             .is_alive = true,
                             .data = known.number,
                             .begin_ns = now,
                             .end_ns = now,
                             .nbytes = known.nbytes,
                             .part_nbytes = known.written(address, known.nbytes)});
  }
  return taken;
}

void RecordLog::add_part(const void* whole, const void* part, bool was_alone) noexcept {
  with_memory_for(part, [&](Parts& spare) noexcept {
    const sync::ProcessLock lock(mutex_);
    const KnownData* const of_whole = find(whole);
    KnownData* const known = of_whole == nullptr ? nullptr : find_or_add(part, spare);
    if (known != nullptr) {
      if (was_alone) {
        known->cloned_at = {};
      }
      add_lines_of_whole(known->cloned_at, of_whole->cloned_at);
      known->last_clone = of_whole->last_clone;
    }
    return of_whole == nullptr || known != nullptr;
  });
}

void RecordLog::move(const void* from, const void* to) noexcept {
  decltype(Parts::data)::insert_return_type inserted;  // ends while nothing is locked
  const sync::ProcessLock lock(mutex_);
  auto known = kept_.data.extract(from);
  if (!known.empty()) {
    known.key() = to;
    inserted = kept_.data.insert(std::move(known));
  }
}

void RecordLog::forget(const void* data) noexcept {
  decltype(Parts::data)::node_type forgotten;  // ends while nothing is locked
  const sync::ProcessLock lock(mutex_);
  forgotten = kept_.data.extract(data);
}

ClonedLines RecordLog::lines_of(const void* data) noexcept {
  const sync::ProcessLock lock(mutex_);
  const KnownData* const known = find(data);
  return known == nullptr ? ClonedLines{} : known->cloned_at;
}

void RecordLog::provide(const void* data, Parts& spare) {
  spare.data.try_emplace(data);
  if (thread_of_log.number == 0 && spare.threads.empty()) {
    ThreadName& thread = spare.threads.emplace_back();
    thread.system_id = system_id_of_this_thread();
    ::pthread_getname_np(::pthread_self(), thread.name.data(), thread.name.size());
  }
}

bool RecordLog::any_has_room() const noexcept {
  for (const RecordingRoom* each = rooms_; each != nullptr; each = each->next) {
    if (each->records.size() < each->records.capacity()) {
      return true;
    }
  }
  return false;
}

bool RecordLog::enlist_this_thread(Parts& spare) noexcept {
  if (std::exchange(thread_of_log.period, period_) != period_) {
    thread_of_log.number = 0;
  }
  if (thread_of_log.number == 0 && !spare.threads.empty()) {
    thread_of_log.number = static_cast<std::uint32_t>(kept_.threads.size() + 1);
    spare.threads.front().number = thread_of_log.number;
    kept_.threads.splice(kept_.threads.end(), spare.threads);
  }
  return thread_of_log.number != 0;
}

void RecordLog::keep(const Record& record) noexcept {
  for (RecordingRoom* each = rooms_; each != nullptr; each = each->next) {
    if (each->records.size() == each->records.capacity()) {
      ++each->lost;
      continue;
    }
    Record& kept = each->records.emplace_back(record);
    kept.begin_ns = std::max(kept.begin_ns, each->begin_ns);
    kept.end_ns = std::max(kept.end_ns, each->begin_ns);
  }
}

void RecordLog::lose() noexcept {
  const sync::ProcessLock lock(mutex_);
  for (RecordingRoom* each = rooms_; each != nullptr; each = each->next) {
    ++each->lost;
  }
}

KnownData* RecordLog::find_or_add(const void* data, Parts& spare) noexcept {
  KnownData* known = find(data);
  if (known == nullptr && !spare.data.empty()) {
    known = &kept_.data.insert(spare.data.extract(spare.data.begin())).position->second;
    known->number = ++last_data_;
  }
  return known;
}

/// What was recorded is the parent's to show, and its threads are gone.
void RecordLog::in_child() noexcept {
  Parts dropped;
  std::swap(dropped, kept_);
  ++period_;
  for (RecordingRoom* each = rooms_; each != nullptr; each = each->next) {
    each->records.clear();
    each->lost = 0;
    each->begin_ns = now_ns();
  }
}

}  // namespace byre::inline v0::stats::detail
