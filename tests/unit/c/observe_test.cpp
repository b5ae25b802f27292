// SPDX-License-Identifier: BSL-1.0
// Counters, copy sinks, recordings and call sites of the C interface.
#include <byre/config.hpp>
#include <byre/observe/counters.hpp>

#include <cstdio>
#include <string>
#include <vector>

#include "support/temporary_folder.hpp"
#include "values.hpp"

namespace byre::test {
namespace {

byre_stats counts() {
  byre_stats now{};
  now.struct_nbytes = sizeof now;
  EXPECT_TRUE(ok(byre_stats_snapshot(&now)));
  EXPECT_EQ(now.struct_nbytes, sizeof now);
  return now;
}

/// Copies 4 bytes: a write to a clone.
void copy_once() {
  CBuffer buffer, clone;
  allocate(buffer, "cows");
  ASSERT_TRUE(ok(byre_buffer_clone(buffer, clone)));
  ASSERT_TRUE(ok(write(clone, "m")));
}

TEST(CObservation, snapshots_refuse_structures_that_are_too_small) {
  byre_stats now{};
  now.struct_nbytes = sizeof now - 1;
  EXPECT_TRUE(fails(byre_stats_snapshot(&now), BYRE_INVALID_ARGUMENT,
                    "struct_nbytes is " + std::to_string(sizeof now - 1)));
  EXPECT_TRUE(fails(byre_stats_snapshot(nullptr), BYRE_INVALID_ARGUMENT, "`result` is NULL"));
}

TEST(CObservation, snapshots_leave_members_of_later_versions_alone) {
  struct {
    byre_stats known;
    std::int64_t unknown;
  } later{};
  later.known.struct_nbytes = sizeof later;
  later.unknown = 77;
  ASSERT_TRUE(ok(byre_stats_snapshot(&later.known)));
  EXPECT_EQ(later.unknown, 77);
  EXPECT_EQ(later.known.struct_nbytes, sizeof later);
}

TEST(CObservation, every_copy_cause_has_a_name) {
  EXPECT_STREQ(byre_copy_cause_name(BYRE_CAUSE_SHARED), "shared");
  EXPECT_STREQ(byre_copy_cause_name(BYRE_CAUSE_EXPORTED), "exported");
  EXPECT_STREQ(byre_copy_cause_name(-1), "?");
  EXPECT_STREQ(byre_copy_cause_name(BYRE_CAUSE_EXPORTED + 1), "?");
}

struct Event {
  std::size_t nbytes;
  std::string file;
  std::uint32_t line;
  byre_copy_cause cause;
  bool operator==(const Event&) const = default;
};

void remember(void* user, const byre_copy_event* event) {
  static_cast<std::vector<Event>*>(user)->push_back(
      {event->nbytes, event->file, event->line, event->cause});
}

#if BYRE_STATS
TEST(CObservation, snapshots_count_clones_and_copies) {
  const byre_stats before = counts();
  copy_once();
  const byre_stats after = counts();
  EXPECT_EQ(after.lazy_clones - before.lazy_clones, 1);
  EXPECT_EQ(after.copies - before.copies, 1);
  EXPECT_EQ(after.bytes_copied - before.bytes_copied, 4);
  EXPECT_EQ(after.live_bytes, before.live_bytes);
  CBuffer buffer, clone;
  allocate(buffer, "cows");
  EXPECT_GE(counts().live_bytes - before.live_bytes, 4);
  ASSERT_TRUE(ok(byre_buffer_clone(buffer, clone)));
  EXPECT_EQ(counts().bytes_not_copied - after.bytes_not_copied, 4);
  EXPECT_GE(counts().pooled_bytes, 0);
}

/// The functions of a device with an in-order queue, which has the handle of its latest copy in
/// `pending`. The last owner of some bytes steals them without waiting.
byre_allocator_functions queue_of(byre_pending_copy& pending) {
  byre_allocator_functions table{};
  table.struct_nbytes = sizeof table;
  table.user = &pending;
  table.device_kind = 1;
  table.copies_end = BYRE_COPIES_END_IN_ORDER;
  table.allocate = [](void*, std::size_t nbytes, std::size_t prefix, byre_block* block) {
    return byre_allocator_allocate(byre_aligned_allocator(), nbytes, prefix, block);
  };
  table.deallocate = [](void*, const byre_block* block) {
    byre_allocator_deallocate(byre_aligned_allocator(), block);
  };
  table.submit_copy = [](void* user, std::size_t nbytes, std::size_t prefix, const void*,
                         std::size_t, byre_block* block, byre_pending_copy* copy) {
    const byre_status status =
        byre_allocator_allocate(byre_aligned_allocator(), nbytes, prefix, block);
    if (status == BYRE_OK) {
      byre_pending_copy_take(copy, static_cast<byre_pending_copy*>(user));
    }
    return status;
  };
  return table;
}

TEST(CObservation, snapshots_contain_every_count_of_the_library) {
  copy_once();
  {
    byre_pending_copy pending{};
    const byre_allocator_functions table = queue_of(pending);
    CAllocator queue;
    ASSERT_TRUE(ok(byre_allocator_create(&table, queue.result())));
    CBuffer source, clone;
    byre_materialized how = -1;
    ASSERT_TRUE(ok(byre_buffer_allocate(4, queue, source)));
    ASSERT_TRUE(ok(byre_buffer_clone(source, clone)));
    ASSERT_TRUE(ok(byre_buffer_materialize(clone, BYRE_WAIT_ALLOWED, nullptr)));
    ASSERT_TRUE(ok(byre_buffer_materialize(source, BYRE_WAIT_ALLOWED, &how)));
    EXPECT_EQ(how, BYRE_STOLE);
    byre_pending_copy_end(&pending);
  }
  CBuffer pages, overlay;
  ASSERT_TRUE(ok(byre_buffer_allocate(1 << 20, byre_paged_allocator(), pages)));
  ASSERT_TRUE(ok(byre_buffer_clone(pages, overlay)));
  ASSERT_TRUE(ok(write(overlay, "m")));
  const stats::Counters expected = stats::snapshot();
  const byre_stats now = counts();
  EXPECT_EQ(now.lazy_clones, expected.lazy_clones);
  EXPECT_EQ(now.copies, expected.copies);
  EXPECT_EQ(now.steals, expected.steals);
  EXPECT_EQ(now.waits, expected.waits);
  EXPECT_EQ(now.bytes_copied, expected.bytes_copied);
  EXPECT_EQ(now.bytes_not_copied, expected.bytes_not_copied);
  EXPECT_EQ(now.live_bytes, expected.live_bytes);
  EXPECT_EQ(now.pooled_bytes, expected.pooled_bytes);
  EXPECT_EQ(now.overlays, expected.overlays);
  EXPECT_EQ(now.pinned_bytes, expected.pinned_bytes);
}

TEST(CObservation, every_copying_call_reports_the_place_of_the_caller) {
  std::vector<Event> events;
  CSink sink;
  ASSERT_TRUE(ok(byre_copy_sink_install(&remember, &events, sink.result())));
  struct Shared {
    CBuffer buffer, clone, other;
    CStorage storage, storage_clone, other_storage;
    CTiles tiles, tiles_clone;
    CPin pin;
    void* data = nullptr;
  };
  using Call = byre_status (*)(Shared&);
  constexpr byre_wait wait = BYRE_WAIT_ALLOWED;
  const Call calls[] = {
      [](Shared& s) { return (byre_buffer_mutable_data)(s.clone, wait, &s.data); },
      [](Shared& s) { return byre_buffer_mutable_data(s.clone, wait, &s.data); },
      [](Shared& s) { return byre_buffer_materialize(s.clone, wait, nullptr); },
      [](Shared& s) { return byre_buffer_mutable_range(s.clone, 0, 1, wait, &s.data); },
      [](Shared& s) {
        byre_buffer_release(s.clone);
        return byre_buffer_writable_clone(s.buffer, wait, BYRE_WRITERS_NONE, s.other);
      },
      [](Shared& s) {
        byre_buffer_release(s.clone);
        return byre_buffer_resize(s.buffer, 1 << 12);
      },
      [](Shared& s) { return byre_storage_mutable_data(s.storage, wait, &s.data); },
      [](Shared& s) { return byre_storage_materialize(s.storage, wait, nullptr); },
      [](Shared& s) { return byre_storage_mutable_range(s.storage, 0, 1, wait, &s.data); },
      [](Shared& s) { return byre_storage_mutable_data_in_parallel(s.storage, wait, &s.data); },
      [](Shared& s) {
        return byre_storage_mutable_range_in_parallel(s.storage, 0, 1, wait, &s.data);
      },
      [](Shared& s) { return byre_storage_materialize_in_parallel(s.storage, wait, nullptr); },
      [](Shared& s) { return byre_storage_pin(s.storage, wait, s.pin.result()); },
      [](Shared& s) {
        byre_storage_release(s.storage_clone);
        *s.storage_clone.result() = nullptr;
        return byre_storage_writable_clone(s.storage, wait, s.other_storage.result());
      },
      [](Shared& s) {
        byre_storage_release(s.storage_clone);
        *s.storage_clone.result() = nullptr;
        return byre_storage_resize(s.storage, 1 << 12);
      },
      [](Shared& s) -> byre_status {
        EXPECT_TRUE(ok(byre_buffer_allocate(100000, nullptr, s.other)));
        EXPECT_TRUE(ok(byre_buffer_resize(s.other, 4)));
        return byre_buffer_shrink_to_fit(s.other);
      },
      [](Shared& s) -> byre_status {
        byre_storage** const other = s.other_storage.result();
        EXPECT_TRUE(ok(byre_storage_allocate(100000, nullptr, other)));
        EXPECT_TRUE(ok(byre_storage_resize(*other, 4)));
        return byre_storage_shrink_to_fit(*other);
      },
      [](Shared& s) -> byre_status {  // a clone of pinned bytes
        byre_storage_release(s.storage_clone);
        *s.storage_clone.result() = nullptr;
        EXPECT_TRUE(ok(byre_storage_pin(s.storage, wait, s.pin.result())));
        return byre_storage_clone(s.storage, s.other_storage.result());
      },
      [](Shared& s) -> byre_status {  // a load of borrowed bytes
        static char memory[] = "cows";
        CAtomicBuffer place;
        CBuffer borrowed;
        EXPECT_TRUE(ok(byre_atomic_buffer_create(place.result())));
        EXPECT_TRUE(ok(byre_buffer_adopt(memory, 4, BYRE_FOREIGN_BORROWED, nullptr, nullptr,
                                         nullptr, borrowed)));
        EXPECT_TRUE(ok(byre_atomic_buffer_store(place, borrowed)));
        return byre_atomic_buffer_load(place, s.other);
      },
      [](Shared& s) { return byre_tiles_mutable_tile(s.tiles, 0, wait, &s.data, nullptr); },
      [](Shared& s) { return byre_tiles_write(s.tiles, 0, "x", 1, wait); },
      [](Shared& s) { return byre_tiles_append(s.tiles, "x", 1, wait); },
  };
  std::uint32_t line = 100;
  for (const Call call : calls) {
    Shared shared;
    allocate(shared.buffer, "cows");
    ASSERT_TRUE(ok(byre_buffer_clone(shared.buffer, shared.clone)));
    ASSERT_TRUE(ok(byre_storage_allocate(4, nullptr, shared.storage.result())));
    ASSERT_TRUE(ok(byre_storage_clone(shared.storage, shared.storage_clone.result())));
    ASSERT_TRUE(ok(byre_tiles_allocate(6, 4, nullptr, shared.tiles)));
    ASSERT_TRUE(ok(byre_tiles_clone(shared.tiles, shared.tiles_clone)));
    events.clear();
    byre_set_call_site("script.cow", ++line);
    EXPECT_TRUE(ok(call(shared)));
    byre_set_call_site(nullptr, 0);
    ASSERT_EQ(events.size(), 1U) << "call " << line - 101;
    EXPECT_EQ(events[0].file, "script.cow") << "call " << line - 101;
    EXPECT_EQ(events[0].line, line);
  }
}

TEST(CObservation, sink_gets_each_copy_with_its_place_until_removed) {
  std::vector<Event> events;
  {
    CSink sink;
    ASSERT_TRUE(ok(byre_copy_sink_install(&remember, &events, sink.result())));
    byre_set_call_site("script.cow", 12);
    copy_once();
    byre_set_call_site(nullptr, 13);
    copy_once();
  }
  copy_once();
  EXPECT_EQ(events, (std::vector<Event>{{4, "script.cow", 12, BYRE_CAUSE_SHARED},
                                        {4, "?", 0, BYRE_CAUSE_SHARED}}));
}

TEST(CObservation, copy_by_a_clone_has_the_place_of_the_clone) {
  std::vector<Event> events;
  CSink sink;
  ASSERT_TRUE(ok(byre_copy_sink_install(&remember, &events, sink.result())));
  char memory[] = "cows";
  CBuffer borrowed, clone;
  ASSERT_TRUE(
      ok(byre_buffer_adopt(memory, 4, BYRE_FOREIGN_BORROWED, nullptr, nullptr, nullptr, borrowed)));
  byre_set_call_site("script.cow", 14);
  ASSERT_TRUE(ok(byre_buffer_clone(borrowed, clone)));
  byre_set_call_site(nullptr, 0);
  EXPECT_EQ(events, (std::vector<Event>{{4, "script.cow", 14, BYRE_CAUSE_BORROWED}}));
}

TEST(CObservation, macro_sets_the_line_of_the_caller) {
  std::vector<Event> events;
  CSink sink;
  ASSERT_TRUE(ok(byre_copy_sink_install(&remember, &events, sink.result())));
  BYRE_HERE();
  constexpr unsigned line = __LINE__ - 1;
  copy_once();
  byre_set_call_site(nullptr, 0);
  EXPECT_EQ(events, (std::vector<Event>{{4, __FILE__, line, BYRE_CAUSE_SHARED}}));
}

TEST(CObservation, recording_contains_the_places_of_clones_and_copies) {
  CRecording recording;
  ASSERT_TRUE(ok(byre_recording_create(0, recording.result())));
  CBuffer buffer, clone;
  allocate(buffer, "cows");
  byre_set_call_site("clones.cow", 5);
  ASSERT_TRUE(ok(byre_buffer_clone(buffer, clone)));
  byre_set_call_site("writes.cow", 6);
  CText sentence;
  ASSERT_TRUE(ok(byre_buffer_explain(clone, sentence.result())));
  EXPECT_TRUE(says(static_cast<char*>(sentence), "cloned at clones.cow:5"));
  ASSERT_TRUE(ok(write(clone, "m")));
  byre_set_call_site(nullptr, 0);
  ASSERT_TRUE(ok(byre_recording_stop(recording)));
  copy_once();  // no longer recorded
  EXPECT_EQ(byre_recording_lost(recording), 0U);
  CText summary, json;
  ASSERT_TRUE(ok(byre_recording_summary(recording, summary.result())));
  EXPECT_TRUE(says(static_cast<char*>(summary), "clones.cow:5", "writes.cow:6"));
  EXPECT_EQ(std::string(summary).find("?:0"), std::string::npos);
  ASSERT_TRUE(ok(byre_recording_to_json(recording, json.result())));
  EXPECT_TRUE(says(static_cast<char*>(json), "traceEvents", "writes.cow:6"));
  const TemporaryFolder folder;
  ASSERT_TRUE(ok(byre_recording_write(recording, (folder / "trace.txt").string().c_str())));
  EXPECT_EQ(read_file(folder / "trace.txt"), std::string(summary));
  EXPECT_TRUE(
      fails(byre_recording_write(recording, "/no/such/folder/x.txt"), BYRE_FILE_ERROR, "x.txt"));
}

TEST(CObservation, events_beyond_the_limit_of_a_recording_are_lost) {
  CRecording recording;
  ASSERT_TRUE(ok(byre_recording_create(1, recording.result())));
  for (int i = 0; i < 1000; ++i) {
    copy_once();
  }
  EXPECT_GT(byre_recording_lost(recording), 0U);
}

TEST(CObservation, every_clone_is_recorded_with_the_place_of_the_caller) {
  CBuffer buffer, loaded;
  CStorage storage, storage_clone;
  CTiles tiles, tiles_clone;
  CAtomicBuffer place;
  CPin pin;
  allocate(buffer, "cows");
  ASSERT_TRUE(ok(byre_atomic_buffer_create(place.result())));
  ASSERT_TRUE(ok(byre_atomic_buffer_store(place, buffer)));
  ASSERT_TRUE(ok(byre_storage_allocate(4, nullptr, storage.result())));
  ASSERT_TRUE(ok(byre_tiles_allocate(8, 4, nullptr, tiles)));
  ASSERT_TRUE(ok(byre_tiles_write(tiles, 0, "01234567", 8, BYRE_WAIT_ALLOWED)));
  CRecording recording;
  ASSERT_TRUE(ok(byre_recording_create(0, recording.result())));
  byre_set_call_site("storage.cow", 1);
  ASSERT_TRUE(ok(byre_storage_clone(storage, storage_clone.result())));
  byre_set_call_site("tiles.cow", 2);
  ASSERT_TRUE(ok(byre_tiles_clone(tiles, tiles_clone)));
  byre_set_call_site("loaded.cow", 3);
  ASSERT_TRUE(ok(byre_atomic_buffer_load(place, loaded)));
  byre_set_call_site("pinned.cow", 4);
  ASSERT_TRUE(ok(byre_storage_pin_to_read(storage, pin.result())));
  byre_set_call_site(nullptr, 0);
  CText json;
  ASSERT_TRUE(ok(byre_recording_to_json(recording, json.result())));
  EXPECT_TRUE(says(static_cast<char*>(json), "storage.cow:1", "tiles.cow:2", "loaded.cow:3",
                   "pinned.cow:4"));
}

TEST(CObservation, a_memory_report_is_a_text_or_json) {
  CBuffer buffer;
  allocate(buffer, "cows");
  CText text, json;
  ASSERT_TRUE(ok(byre_memory_report_to_text(text.result())));
  EXPECT_TRUE(says(static_cast<char*>(text), "byre: memory: ", " allocated, "));
  ASSERT_TRUE(ok(byre_memory_report_to_json(json.result())));
  EXPECT_TRUE(says(static_cast<char*>(json), "{\"allocated\": ", "\"tags\": ["));
  EXPECT_TRUE(fails(byre_memory_report_to_text(nullptr), BYRE_INVALID_ARGUMENT,
                    "byre_memory_report_to_text"));
  EXPECT_TRUE(fails(byre_memory_report_to_json(nullptr), BYRE_INVALID_ARGUMENT,
                    "byre_memory_report_to_json"));
}
#else
TEST(CObservation, recordings_are_refused_in_a_build_without_stats) {
  CText text;
  EXPECT_TRUE(fails(byre_memory_report_to_text(text.result()), BYRE_INVALID_ARGUMENT, "stats"));
  CRecording recording;
  EXPECT_TRUE(fails(byre_recording_create(0, recording.result()), BYRE_INVALID_ARGUMENT, "stats"));
  CSink sink;
  std::vector<Event> events;
  ASSERT_TRUE(ok(byre_copy_sink_install(&remember, &events, sink.result())));
  copy_once();
  EXPECT_TRUE(events.empty());
  EXPECT_EQ(counts().copies, 0);
}
#endif

TEST(CObservation, null_arguments_are_refused) {
  const auto refused = [](byre_status status, const char* name) {
    return fails(status, BYRE_INVALID_ARGUMENT, std::string("`") + name + "` is NULL");
  };
  byre_installed_sink* sink = nullptr;
  char* text = nullptr;
  EXPECT_TRUE(refused(byre_copy_sink_install(nullptr, nullptr, &sink), "callback"));
  EXPECT_TRUE(refused(byre_copy_sink_install(&remember, nullptr, nullptr), "result"));
  EXPECT_TRUE(refused(byre_recording_create(0, nullptr), "result"));
  EXPECT_TRUE(refused(byre_recording_stop(nullptr), "recording"));
  EXPECT_TRUE(refused(byre_recording_to_json(nullptr, &text), "recording"));
  EXPECT_TRUE(refused(byre_recording_summary(nullptr, &text), "recording"));
  EXPECT_TRUE(refused(byre_recording_write(nullptr, "x"), "recording"));
  EXPECT_EQ(byre_recording_lost(nullptr), 0U);
  byre_recording_destroy(nullptr);
  byre_copy_sink_remove(nullptr);
  byre_text_free(nullptr);
#if BYRE_STATS
  CRecording recording;
  ASSERT_TRUE(ok(byre_recording_create(0, recording.result())));
  EXPECT_TRUE(refused(byre_recording_summary(recording, nullptr), "text"));
  EXPECT_TRUE(refused(byre_recording_to_json(recording, nullptr), "text"));
#endif
}

}  // namespace
}  // namespace byre::test
