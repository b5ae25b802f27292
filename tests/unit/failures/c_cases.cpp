// SPDX-License-Identifier: BSL-1.0
// Cases of the C interface. A failed call becomes the exception of its status, so that the test
// checks the text that byre_last_error() returns, and that nothing changed.
#include <byre/byre.h>
#include <byre/byre.hpp>
#include <byre/pages/paged_allocator.hpp>

#include <cstring>
#include <utility>

#include "../c/values.hpp"
#include "cases.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace c_table {

void expect_ok(byre_status status) {
  if (status == BYRE_OUT_OF_MEMORY) {
    throw OutOfMemory(format_text("%s", byre_last_error()));
  }
  if (status != BYRE_OK) {
    throw Error(format_text("%s", byre_last_error()));
  }
}

struct Values {
  Values() {
    expect_ok(byre_buffer_allocate(4, nullptr, buffer));
    expect_ok(byre_buffer_clone(buffer, shared));
    expect_ok(byre_buffer_allocate(4, nullptr, lone));
    expect_ok(byre_buffer_allocate(100'000, nullptr, roomy));
    expect_ok(byre_buffer_resize(roomy, 4));
    expect_ok(byre_storage_allocate(100'000, nullptr, roomy_storage.result()));
    expect_ok(byre_storage_resize(roomy_storage, 4));
    expect_ok(byre_storage_allocate(4, nullptr, storage.result()));
    expect_ok(byre_storage_clone(storage, shared_storage.result()));
    expect_ok(byre_storage_allocate(4, nullptr, lone_storage.result()));
    expect_ok(byre_tiles_allocate(8, 4, nullptr, tiles));
    expect_ok(byre_tiles_clone(tiles, shared_tiles));
    expect_ok(byre_atomic_buffer_create(place.result()));
  }
  CBuffer buffer, shared, lone, roomy, other;
  CStorage storage, shared_storage, lone_storage, roomy_storage, other_storage;
  CTiles tiles, shared_tiles, other_tiles;
  CAtomicBuffer place, other_place;
  CAllocator allocator;
  CPool pool;
  CPin pin;
  CSink sink;
  CRecording recording;
  CText text;
  char memory[4] = {};
  void* data = nullptr;
};

std::string described(const Values& v) {
  auto& values = const_cast<Values&>(v);
  std::string text;
  for (byre_buffer* buffer :
       {static_cast<byre_buffer*>(values.buffer), static_cast<byre_buffer*>(values.shared),
        static_cast<byre_buffer*>(values.lone), static_cast<byre_buffer*>(values.roomy),
        static_cast<byre_buffer*>(values.other)}) {
    text += std::to_string(byre_buffer_nbytes(buffer)) + "," +
            std::to_string(byre_buffer_capacity(buffer)) + "," +
            std::to_string(byre_buffer_use_count(buffer)) + " ";
  }
  for (byre_storage* storage : {static_cast<byre_storage*>(values.storage),
                                static_cast<byre_storage*>(values.shared_storage),
                                static_cast<byre_storage*>(values.lone_storage),
                                static_cast<byre_storage*>(values.roomy_storage),
                                static_cast<byre_storage*>(values.other_storage)}) {
    text += std::to_string(byre_storage_nbytes(storage)) + "," +
            std::to_string(byre_storage_use_count(storage)) + " ";
  }
  for (byre_tiles* tiles :
       {static_cast<byre_tiles*>(values.tiles), static_cast<byre_tiles*>(values.shared_tiles),
        static_cast<byre_tiles*>(values.other_tiles)}) {
    text += std::to_string(byre_tiles_nbytes(tiles)) + " ";
  }
  return text + std::to_string(byre_tiles_shares_data_with(values.tiles, values.shared_tiles)) +
         std::to_string(byre_atomic_buffer_version(values.place)) + (values.pin ? " pin" : "") +
         (values.sink ? " sink" : "") + (values.recording ? " recording" : "") +
         (values.allocator ? " allocator" : "") + (values.pool ? " pool" : "") +
         (values.other_place ? " place" : "") + (values.text ? " text" : "");
}

/// A case: `Step`, a lambda without captures, calls a function with values and returns its status.
template <class Step>
Case c_case(const char* name, Step) {
  static_assert(std::is_empty_v<Step>);
  return {name, [](Attempt& attempt) {
            Values values;
            attempt([&] { expect_ok(Step()(values)); }, [&] { return described(values); });
          }};
}

/// A case: `Step` calls a function with values, a recording that has an event, and the name of a
/// file.
template <class Step>
Case file_case(const char* name, Step) {
  static_assert(std::is_empty_v<Step>);
  return {name, [](Attempt& attempt) {
            Values values;
            const TemporaryFolder folder;
            const std::string file = folder / "a name that exceeds the capacity of strings.txt";
            write_file(file, "bytes");
#if BYRE_STATS
            expect_ok(byre_recording_create(1 << 16, values.recording.result()));
#endif
            expect_ok(byre_buffer_clone(values.buffer, values.other));
            attempt([&] { expect_ok(Step()(values, file.c_str())); },
                    [&] { return described(values); });
          }};
}

byre_allocator_functions table() {
  byre_allocator_functions functions{};
  functions.struct_nbytes = sizeof functions;
  functions.name = "a name that exceeds the inline capacity of strings";
  functions.allocate = [](void*, std::size_t, std::size_t, byre_block*) -> byre_status {
    return BYRE_OUT_OF_MEMORY;
  };
  functions.deallocate = [](void*, const byre_block*) {};
  return functions;
}

constexpr byre_wait wait = BYRE_WAIT_ALLOWED;

void free_memory(void*, void*) {}

const Case cases[] = {
    c_case("byre_buffer_allocate",
           [](Values& v) { return byre_buffer_allocate(100, nullptr, v.other); }),
    c_case("byre_buffer_adopt",
           [](Values& v) {
             return byre_buffer_adopt(v.memory, 4, 0, &free_memory, nullptr, nullptr, v.other);
           }),
    c_case("byre_buffer_clone", [](Values& v) { return byre_buffer_clone(v.buffer, v.other); }),
    c_case("byre_buffer_writable_clone",
           [](Values& v) {
             return byre_buffer_writable_clone(v.lone, wait, BYRE_WRITERS_NONE, v.other);
           }),
    c_case("byre_buffer_mutable_data",
           [](Values& v) { return byre_buffer_mutable_data(v.shared, wait, &v.data); }),
    c_case("byre_buffer_materialize",
           [](Values& v) { return byre_buffer_materialize(v.shared, wait, nullptr); }),
    c_case("byre_buffer_mutable_range",
           [](Values& v) { return byre_buffer_mutable_range(v.shared, 1, 1, wait, &v.data); }),
    c_case("byre_buffer_resize", [](Values& v) { return byre_buffer_resize(v.lone, 200); }),
    c_case("byre_buffer_shrink_to_fit",
           [](Values& v) { return byre_buffer_shrink_to_fit(v.roomy); }),
    c_case("byre_buffer_explain",
           [](Values& v) { return byre_buffer_explain(v.buffer, v.text.result()); }),
    c_case("byre_storage_from_buffer",
           [](Values& v) { return byre_storage_from_buffer(v.buffer, v.other_storage.result()); }),
    c_case("byre_storage_allocate",
           [](Values& v) { return byre_storage_allocate(4, nullptr, v.other_storage.result()); }),
    c_case("byre_storage_clone",
           [](Values& v) { return byre_storage_clone(v.storage, v.other_storage.result()); }),
    c_case("byre_storage_writable_clone",
           [](Values& v) {
             return byre_storage_writable_clone(v.lone_storage, wait, v.other_storage.result());
           }),
    c_case("byre_storage_mutable_data",
           [](Values& v) { return byre_storage_mutable_data(v.storage, wait, &v.data); }),
    c_case("byre_storage_materialize",
           [](Values& v) { return byre_storage_materialize(v.storage, wait, nullptr); }),
    c_case("byre_storage_mutable_range",
           [](Values& v) { return byre_storage_mutable_range(v.storage, 1, 1, wait, &v.data); }),
    c_case(
        "byre_storage_mutable_data_in_parallel",
        [](Values& v) { return byre_storage_mutable_data_in_parallel(v.storage, wait, &v.data); }),
    c_case("byre_storage_mutable_range_in_parallel",
           [](Values& v) {
             return byre_storage_mutable_range_in_parallel(v.storage, 1, 1, wait, &v.data);
           }),
    c_case(
        "byre_storage_materialize_in_parallel",
        [](Values& v) { return byre_storage_materialize_in_parallel(v.storage, wait, nullptr); }),
    c_case("byre_storage_resize",
           [](Values& v) { return byre_storage_resize(v.lone_storage, 200); }),
    c_case("byre_storage_shrink_to_fit",
           [](Values& v) { return byre_storage_shrink_to_fit(v.roomy_storage); }),
    c_case("byre_storage_explain",
           [](Values& v) { return byre_storage_explain(v.storage, v.text.result()); }),
    c_case("byre_storage_pin",
           [](Values& v) { return byre_storage_pin(v.storage, wait, v.pin.result()); }),
    c_case("byre_storage_pin_to_read",
           [](Values& v) { return byre_storage_pin_to_read(v.storage, v.pin.result()); }),
    c_case("byre_tiles_allocate",
           [](Values& v) { return byre_tiles_allocate(9, 4, nullptr, v.other_tiles); }),
    c_case("byre_tiles_clone", [](Values& v) { return byre_tiles_clone(v.tiles, v.other_tiles); }),
    c_case("byre_tiles_mutable_tile",
           [](Values& v) { return byre_tiles_mutable_tile(v.tiles, 1, wait, &v.data, nullptr); }),
    c_case("byre_tiles_write",
           [](Values& v) { return byre_tiles_write(v.tiles, 2, "0123", 4, wait); }),
    c_case("byre_tiles_append",
           [](Values& v) { return byre_tiles_append(v.tiles, "0123", 4, wait); }),
    c_case("byre_tiles_resize", [](Values& v) { return byre_tiles_resize(v.tiles, 17, wait); }),
    c_case("byre_tiles_truncate", [](Values& v) { return byre_tiles_truncate(v.tiles, 3, wait); }),
    c_case("byre_atomic_buffer_create",
           [](Values& v) { return byre_atomic_buffer_create(v.other_place.result()); }),
    c_case("byre_allocator_create",
           [](Values& v) {
             const byre_allocator_functions functions = table();
             return byre_allocator_create(&functions, v.allocator.result());
           }),
    c_case("byre_pool_create", [](Values& v) { return byre_pool_create(0, v.pool.result()); }),
#if BYRE_STATS
    c_case("byre_copy_sink_install",
           [](Values& v) {
             return byre_copy_sink_install([](void*, const byre_copy_event*) {}, nullptr,
                                           v.sink.result());
           }),
    c_case("byre_memory_report_to_text",
           [](Values& v) { return byre_memory_report_to_text(v.text.result()); }),
    c_case("byre_memory_report_to_json",
           [](Values& v) { return byre_memory_report_to_json(v.text.result()); }),
    c_case("byre_recording_create",
           [](Values& v) { return byre_recording_create(4096, v.recording.result()); }),
    file_case("byre_recording_stop",
              [](Values& v, const char*) { return byre_recording_stop(v.recording); }),
    file_case("byre_recording_to_json",
              [](Values& v, const char*) {
                return byre_recording_to_json(v.recording, v.text.result());
              }),
    file_case("byre_recording_summary",
              [](Values& v, const char*) {
                return byre_recording_summary(v.recording, v.text.result());
              }),
    file_case("byre_recording_write",
              [](Values& v, const char* file) { return byre_recording_write(v.recording, file); }),
#endif
    file_case(
        "byre_buffer_map_file",
        [](Values& v, const char* file) { return byre_buffer_map_file(file, nullptr, v.other); }),
    file_case("byre_storage_map_file",
              [](Values& v, const char* file) {
                return byre_storage_map_file(file, nullptr, v.other_storage.result());
              }),
};

}  // namespace c_table

std::span<const Case> c_cases() {
  return c_table::cases;
}

}  // namespace byre::test
