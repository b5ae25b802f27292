// SPDX-License-Identifier: BSL-1.0
#include <byre/config.hpp>

#if BYRE_STATS

#include <byre/error/error.hpp>
#include <byre/observe/detail/record_log.hpp>
#include <byre/sync/detail/no_destructor.hpp>

#include <pthread.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#include <algorithm>

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

bool has_room(const RecordingRoom& room) noexcept {
  return room.count < room.limit;
}

/// One by one, since the stack is short.
template <class Node>
void release(std::unique_ptr<Node> last) noexcept {
  while (last != nullptr) {
    last = std::move(last->before);
  }
}

}  // namespace

RecordLog& record_log() noexcept {
  return sync::no_destructor<RecordLog>();
}

RecordLog::Kept::~Kept() {
  release(std::move(chunks));
  release(std::move(threads));
}

void RecordLog::begin(RecordingRoom& room) noexcept {
  const sync::ProcessLock lock(mutex_);
  period_ += rooms_ == nullptr ? 1 : 0;
  room.first = next_;
  room.next = std::exchange(rooms_, &room);
}

void RecordLog::end(RecordingRoom& room) noexcept {
  Kept dropped;  // ends while nothing is locked
  const sync::ProcessLock lock(mutex_);
  RecordingRoom** place = &rooms_;
  while (*place != &room) {
    place = &(*place)->next;
  }
  *place = room.next;
  if (rooms_ == nullptr) {
    std::swap(dropped, kept_);
    return;
  }
  std::uint64_t first = next_;
  for (const RecordingRoom* each = rooms_; each != nullptr; each = each->next) {
    first = std::min(first, each->first);
  }
  dropped.chunks = chunks_before(first);
}

/// Those of which no record has this number or a later one.
std::unique_ptr<RecordLog::Chunk> RecordLog::chunks_before(std::uint64_t number) noexcept {
  for (Chunk* chunk = kept_.chunks.get(); chunk != nullptr; chunk = chunk->before.get()) {
    if (chunk->first <= number) {
      return std::move(chunk->before);
    }
  }
  return nullptr;
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
    threads = kept_.threads == nullptr ? 0 : kept_.threads->name.number;
    if (records + data <= taken.records.capacity() && threads <= taken.threads.capacity() &&
        data <= overlays.capacity()) {
      copy_to(taken, room);
      std::copy_if(kept_.data.begin(), kept_.data.end(), std::back_inserter(overlays),
                   [](const auto& each) { return each.second.written != nullptr; });
      break;
    }
  }
  for (const auto& [address, known] : overlays) {  // which may end meanwhile: nothing is read there
    Record& record = taken.records.emplace_back();
    record.kind = RecordKind::overlay_end;
    record.is_alive = true;
    record.data = known.number;
    record.begin_ns = record.end_ns = now_ns();
    record.nbytes = known.nbytes;
    record.part_nbytes = known.written(address, known.nbytes);
  }
  return taken;
}

void RecordLog::copy_to(Records& taken, const RecordingRoom& room) const noexcept {
  taken.begin_ns = room.begin_ns;
  taken.lost = room.lost;
  for (const Chunk* chunk = kept_.chunks.get(); chunk != nullptr; chunk = chunk->before.get()) {
    for (std::size_t index = chunk->count; index-- != 0;) {
      const std::uint64_t number = chunk->first + index;
      if (number >= room.first && number - room.first < room.count) {
        Record& record = taken.records.emplace_back(chunk->records[index]);
        record.begin_ns = std::max(record.begin_ns, room.begin_ns);
        record.end_ns = std::max(record.end_ns, room.begin_ns);
      }
    }
  }
  std::reverse(taken.records.begin(), taken.records.end());
  for (const Thread* each = kept_.threads.get(); each != nullptr; each = each->before.get()) {
    taken.threads.push_back(each->name);
  }
}

void RecordLog::add_part(const void* whole, const void* part, bool was_alone) noexcept {
  provide_for(part, [&](Spare& spare) noexcept {
    const sync::ProcessLock lock(mutex_);
    const auto found = kept_.data.find(whole);
    if (found == kept_.data.end()) {
      return Lacks::nothing;
    }
    KnownData* const known = find_or_add(part, spare);
    if (known == nullptr) {
      return Lacks::data;
    }
    if (was_alone) {
      known->cloned_at = {};
    }
    add_lines_of_whole(known->cloned_at, found->second.cloned_at);
    known->last_clone = found->second.last_clone;
    return Lacks::nothing;
  });
}

void RecordLog::move(const void* from, const void* to) noexcept {
  DataTable::insert_return_type inserted;  // ends while nothing is locked
  const sync::ProcessLock lock(mutex_);
  DataTable::node_type known = kept_.data.extract(from);
  if (!known.empty()) {
    known.key() = to;
    inserted = kept_.data.insert(std::move(known));
  }
}

void RecordLog::forget(const void* data) noexcept {
  DataTable::node_type forgotten;  // ends while nothing is locked
  const sync::ProcessLock lock(mutex_);
  forgotten = kept_.data.extract(data);
}

ClonedLines RecordLog::lines_of(const void* data) noexcept {
  const sync::ProcessLock lock(mutex_);
  const KnownData* const known = find(data);
  return known == nullptr ? ClonedLines{} : known->cloned_at;
}

void RecordLog::provide(Lacks lacks, const void* data, Spare& spare) {
  switch (lacks) {
    case Lacks::data:
      spare.data.try_emplace(data);
      break;
    case Lacks::chunk:
      spare.chunk = std::make_unique<Chunk>();
      break;
    case Lacks::thread:
      spare.thread = std::make_unique<Thread>();
      spare.thread->name.system_id = system_id_of_this_thread();
      ::pthread_getname_np(::pthread_self(), spare.thread->name.name.data(),
                           spare.thread->name.name.size());
      break;
    case Lacks::nothing:
      break;
  }
}

RecordLog::Lacks RecordLog::prepare(const void* data, Spare& spare, KnownData& nobody,
                                    KnownData*& known, Record*& record) noexcept {
  bool is_wanted = false;
  for (RecordingRoom* each = rooms_; each != nullptr; each = each->next) {
    is_wanted = is_wanted || has_room(*each);
  }
  if (!is_wanted) {
    for (RecordingRoom* each = rooms_; each != nullptr; each = each->next) {
      ++each->lost;
    }
    return Lacks::nothing;
  }
  if (thread_of_log.period != period_) {
    if (spare.thread == nullptr) {
      return Lacks::thread;
    }
    add_thread(std::move(spare.thread));
  }
  if (kept_.chunks == nullptr || kept_.chunks->count == Chunk::most) {
    if (spare.chunk == nullptr) {
      return Lacks::chunk;
    }
    spare.chunk->before = std::move(kept_.chunks);
    spare.chunk->first = next_;
    kept_.chunks = std::move(spare.chunk);
  }
  known = data == nullptr ? &nobody : find_or_add(data, spare);
  if (known == nullptr) {
    return Lacks::data;
  }
  record = &kept_.chunks->records[kept_.chunks->count];
  *record = Record{};  // fill may have declined the last one
  record->thread = thread_of_log.number;
  record->data = known->number;
  return Lacks::nothing;
}

void RecordLog::keep() noexcept {
  ++kept_.chunks->count;
  ++next_;
  for (RecordingRoom* each = rooms_; each != nullptr; each = each->next) {
    ++(has_room(*each) ? each->count : each->lost);
  }
}

void RecordLog::lose() noexcept {
  const sync::ProcessLock lock(mutex_);
  for (RecordingRoom* each = rooms_; each != nullptr; each = each->next) {
    ++each->lost;
  }
}

KnownData* RecordLog::find_or_add(const void* data, Spare& spare) noexcept {
  auto found = kept_.data.find(data);
  if (found == kept_.data.end()) {
    if (spare.data.empty()) {
      return nullptr;
    }
    found = kept_.data.insert(spare.data.extract(spare.data.begin())).position;
    found->second.number = ++last_data_;
  }
  return &found->second;
}

void RecordLog::add_thread(std::unique_ptr<Thread> thread) noexcept {
  thread->name.number = kept_.threads == nullptr ? 1 : kept_.threads->name.number + 1;
  thread_of_log.period = period_;
  thread_of_log.number = thread->name.number;
  thread->before = std::move(kept_.threads);
  kept_.threads = std::move(thread);
}

/// What was recorded is the parent's to show, and its threads are gone.
void RecordLog::in_child() noexcept {
  Kept dropped;
  std::swap(dropped, kept_);
  ++period_;
  for (RecordingRoom* each = rooms_; each != nullptr; each = each->next) {
    each->first = next_;
    each->count = 0;
    each->lost = 0;
    each->begin_ns = now_ns();
  }
}

}  // namespace byre::inline v0::stats::detail

#endif
