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

constexpr std::size_t most_of_chunk = 256;

std::uint64_t system_id_of_this_thread() noexcept {
#if defined(__linux__)
  return static_cast<std::uint64_t>(::syscall(SYS_gettid));
#else
  return 0;
#endif
}

bool has_room(const RecordingRoom& room) noexcept {
  return room.count < room.limit;
}
bool lacks_chunk(const RecordingRoom& room) noexcept {
  return has_room(room) && room.count == room.chunks.size() * most_of_chunk;
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
    records = room.count;
    threads = kept_.threads.size();
    if (records + data <= taken.records.capacity() && threads <= taken.threads.capacity() &&
        data <= overlays.capacity()) {
      taken.begin_ns = room.begin_ns;
      taken.lost = room.lost;
      for (const Chunk& chunk : room.chunks) {
        taken.records.insert(taken.records.end(), chunk.begin(), chunk.end());
      }
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
  provide_for(part, [&](Parts& spare) noexcept {
    const sync::ProcessLock lock(mutex_);
    const KnownData* const of_whole = find(whole);
    if (of_whole == nullptr) {
      return Lacks::nothing;
    }
    KnownData* const known = find_or_add(part, spare);
    if (known == nullptr) {
      return Lacks::data;
    }
    if (was_alone) {
      known->cloned_at = {};
    }
    add_lines_of_whole(known->cloned_at, of_whole->cloned_at);
    known->last_clone = of_whole->last_clone;
    return Lacks::nothing;
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

void RecordLog::provide(Lacks lacks, const void* data, Parts& spare) {
  if (lacks == Lacks::data) {
    spare.data.try_emplace(data);
  } else if (lacks == Lacks::chunk) {
    spare.chunks.emplace_back().reserve(most_of_chunk);
  } else {
    ThreadName& thread = spare.threads.emplace_back();
    thread.system_id = system_id_of_this_thread();
    ::pthread_getname_np(::pthread_self(), thread.name.data(), thread.name.size());
  }
}

RecordLog::Lacks RecordLog::prepare(const void* data, Parts& spare, KnownData*& known,
                                    Record& record) noexcept {
  bool is_wanted = false;
  for (RecordingRoom* each = rooms_; each != nullptr; each = each->next) {
    is_wanted = is_wanted || has_room(*each);
    if (lacks_chunk(*each)) {
      if (spare.chunks.empty()) {
        return Lacks::chunk;
      }
      each->chunks.splice(each->chunks.end(), spare.chunks);
    }
  }
  record.thread = thread_of_log.number;
  if (!is_wanted) {
    known = nullptr;
    return Lacks::nothing;
  }
  if (thread_of_log.period != period_) {
    if (spare.threads.empty()) {
      return Lacks::thread;
    }
    thread_of_log.period = period_;
    thread_of_log.number = static_cast<std::uint32_t>(kept_.threads.size() + 1);
    spare.threads.front().number = record.thread = thread_of_log.number;
    kept_.threads.splice(kept_.threads.end(), spare.threads);
  }
  if (known == nullptr && (known = find_or_add(data, spare)) == nullptr) {
    return Lacks::data;
  }
  record.data = known->number;
  return Lacks::nothing;
}

void RecordLog::keep(const Record& record) noexcept {
  for (RecordingRoom* each = rooms_; each != nullptr; each = each->next) {
    if (!has_room(*each)) {
      ++each->lost;
      continue;
    }
    Record& kept = each->chunks.back().emplace_back(record);
    kept.begin_ns = std::max(kept.begin_ns, each->begin_ns);
    kept.end_ns = std::max(kept.end_ns, each->begin_ns);
    ++each->count;
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
    dropped.chunks.splice(dropped.chunks.end(), each->chunks);
    each->count = 0;
    each->lost = 0;
    each->begin_ns = now_ns();
  }
}

}  // namespace byre::inline v0::stats::detail
