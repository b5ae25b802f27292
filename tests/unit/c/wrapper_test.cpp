// SPDX-License-Identifier: BSL-1.0
// The classes of byre_c.hpp. Two programs contain this file: one in C++20 that also uses byre.hpp,
// and one in C++17 without exceptions and run-time type information.
#include <byre/byre_c.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/temporary_folder.hpp"

#if defined(__cpp_exceptions)
#include <byre/byre.hpp>
#elif __cplusplus >= 202002L || defined(__cpp_rtti)
#error "Compile this test with -std=c++17 -fno-exceptions -fno-rtti."
#endif

namespace byre::test {
namespace {

static_assert(!std::is_copy_constructible_v<c::Buffer> && !std::is_copy_assignable_v<c::Buffer>);
static_assert(!std::is_copy_constructible_v<c::Pool> && !std::is_copy_assignable_v<c::Pin>);
static_assert(std::is_nothrow_move_constructible_v<c::Buffer> &&
              std::is_nothrow_move_assignable_v<c::Tiles>);
static_assert(sizeof(c::Buffer) == sizeof(byre_buffer) && sizeof(c::Storage) == sizeof(void*));
static_assert(std::is_constructible_v<bool, c::Result<c::Buffer>> &&
                  !std::is_constructible_v<bool, c::Result<bool>>,
              "a test of compare_exchange() would be true if nothing was stored");

c::Buffer buffer_of(std::string_view text) {
  c::Buffer buffer = c::Buffer::allocate(text.size()).value();
  std::memcpy(buffer.mutable_data().value(), text.data(), text.size());
  return buffer;
}
c::Storage storage_of(std::string_view text) {
  return c::Storage::from(buffer_of(text)).value();
}
std::string text_of(const void* data, std::size_t nbytes) {
  return data == nullptr ? "" : std::string(static_cast<const char*>(data), nbytes);
}
template <class Bytes>
std::string text_in(const Bytes& bytes) {
  return text_of(bytes.data(), bytes.nbytes());
}
bool says(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

TEST(Results, failed_call_has_an_error_and_no_value) {
  const auto made = c::Buffer::allocate(SIZE_MAX);
  EXPECT_FALSE(made);
  EXPECT_FALSE(made.has_value());
  EXPECT_EQ(made.error().status(), BYRE_INVALID_ARGUMENT);
  EXPECT_STREQ(made.error().name(), "invalid argument");
  EXPECT_TRUE(says(made.error().text(), "size out of range"));
  EXPECT_EQ(c::Buffer::allocate(SIZE_MAX).value_or(buffer_of("cow")).nbytes(), 3U);
  EXPECT_EQ(c::Buffer::allocate(4).value_or(c::Buffer()).nbytes(), 4U);
}

TEST(Results, successful_call_has_a_value_that_is_moved_out) {
  auto made = c::Buffer::allocate(4);
  ASSERT_TRUE(made && made.has_value());
  EXPECT_EQ(made->nbytes(), 4U);
  EXPECT_EQ((*made).nbytes(), 4U);
  auto moved = std::move(made);
  EXPECT_EQ(moved.value().nbytes(), 4U);
  const auto& read_only = moved;
  EXPECT_EQ(read_only.value().nbytes() + read_only->nbytes() + (*read_only).nbytes(), 12U);
  const c::Buffer buffer = *std::move(moved);
  EXPECT_EQ(buffer.nbytes(), 4U);
  EXPECT_EQ(buffer.use_count(), 1U);
}

TEST(ResultsDeathTest, misuse_of_a_result_ends_the_program) {
  EXPECT_DEATH((void)c::Buffer::allocate(SIZE_MAX).value(), "failed Result.*size out of range");
  EXPECT_DEATH((void)*c::Buffer::allocate(SIZE_MAX), "failed Result");
  EXPECT_DEATH((void)c::Buffer::allocate(SIZE_MAX)->nbytes(), "failed Result");
  EXPECT_DEATH((void)c::Buffer::allocate(4).error(), "has a value");
  EXPECT_DEATH(c::Storage().resize(4).value(), "failed Result.*NULL");
  EXPECT_DEATH((void)c::Buffer().resize(4).error(), "has a value");
  EXPECT_DEATH(c::Result<void>(c::Error(BYRE_OK)).value(), "Error was made of BYRE_OK");
  const auto failed = c::Buffer::allocate(SIZE_MAX);
  EXPECT_DEATH((void)failed.value(), "failed Result");
  EXPECT_DEATH((void)*failed, "failed Result");
  EXPECT_DEATH((void)failed->nbytes(), "failed Result");
}

TEST(WrappedBuffers, clone_and_write_are_those_of_a_buffer) {
  c::Buffer buffer = buffer_of("cows");
  c::Buffer clone = buffer.lazy_clone().value();
  EXPECT_TRUE(buffer.shares_data_with(clone));
  EXPECT_FALSE(buffer.is_unique());
  EXPECT_EQ(buffer.use_count(), 2U);
  EXPECT_EQ(clone.memory_id(), buffer.memory_id());
  EXPECT_EQ(clone.materialize(BYRE_WAIT_NEVER).value(), BYRE_COPIED);
  static_cast<char*>(clone.mutable_range(0, 1).value())[0] = 'm';
  EXPECT_EQ(text_in(buffer), "cows");
  EXPECT_EQ(text_in(clone), "mows");
  EXPECT_TRUE(buffer.resize(3));
  EXPECT_TRUE(buffer.shrink_to_fit());
  EXPECT_GE(buffer.capacity(), 3U);
  EXPECT_EQ(text_in(buffer), "cow");
  buffer.collapse(0, 3);
  EXPECT_EQ(text_in(buffer.writable_clone().value()), "cow");
  EXPECT_TRUE(says(buffer.explain()->c_str(), "3 bytes"));
  clone = std::move(buffer);
  EXPECT_EQ(text_in(clone), "cow");
  EXPECT_EQ(buffer.data(), nullptr);
  clone.swap(buffer);
  EXPECT_EQ(text_in(buffer), "cow");
  EXPECT_EQ(byre_buffer_use_count(buffer.get()), 1U);
}

TEST(WrappedBuffers, foreign_memory_and_files_are_adopted) {
  int deleted = 0;
  char memory[] = "cows";
  byre_allocator* const aligned = byre_aligned_allocator();
  {
    const c::Buffer adopted =
        c::Buffer::adopt(
            memory, 4, BYRE_FOREIGN_READ_ONLY,
            [](void*, void* count) { ++*static_cast<int*>(count); }, &deleted, aligned)
            .value();
    EXPECT_EQ(adopted.origin(), BYRE_ORIGIN_ADOPTED);
    EXPECT_TRUE(adopted.is_read_only());
    EXPECT_EQ(adopted.allocator(), aligned);
  }
  EXPECT_EQ(deleted, 1);
  const TemporaryFolder folder;
  write_file(folder / "file", "mapped");
  const std::string name = (folder / "file").string();
  EXPECT_EQ(text_in(c::Buffer::map_file(name.c_str()).value()), "mapped");
  EXPECT_EQ(text_in(c::Storage::map_file(name.c_str()).value()), "mapped");
  EXPECT_EQ(c::Storage::map_file("/no/such/file").error().status(), BYRE_FILE_ERROR);
  EXPECT_EQ(c::Buffer::map_file(name.c_str(), aligned)->allocator(), aligned);
  EXPECT_EQ(c::Storage::map_file(name.c_str(), aligned)->allocator(), aligned);
  EXPECT_EQ(c::Buffer::allocate(4, aligned)->allocator(), aligned);
  EXPECT_EQ(c::Storage::allocate(4, aligned)->allocator(), aligned);
  EXPECT_EQ(c::Tiles::allocate(4, 4, aligned)->allocator(), aligned);
}

TEST(WrappedValues, arguments_reach_the_parameters_of_their_names) {
  constexpr byre_wait bad = 2;
  c::Buffer buffer = buffer_of("cows");
  c::Storage storage = storage_of("cows");
  c::Tiles tiles = c::Tiles::allocate(8, 4).value();
  const auto refuses = [](const auto& result, const char* said) {
    return !result.has_value() && says(result.error().text(), said);
  };
  EXPECT_TRUE(refuses(buffer.writable_clone(bad), "byre_wait is 2"));
  EXPECT_TRUE(refuses(buffer.writable_clone(BYRE_WAIT_NEVER, 3), "byre_writers is 3"));
  EXPECT_TRUE(refuses(buffer.materialize(bad), "byre_wait is 2"));
  EXPECT_TRUE(refuses(buffer.mutable_range(0, 1, bad), "byre_wait is 2"));
  const c::Buffer clone = buffer.lazy_clone().value();  // the macro ignores `wait` without it
  EXPECT_TRUE(refuses(buffer.mutable_data(bad), "byre_wait is 2"));
  EXPECT_TRUE(refuses(storage.writable_clone(bad), "byre_wait is 2"));
  EXPECT_TRUE(refuses(storage.mutable_data(bad), "byre_wait is 2"));
  EXPECT_TRUE(refuses(storage.materialize(bad), "byre_wait is 2"));
  EXPECT_TRUE(refuses(storage.mutable_range(0, 1, bad), "byre_wait is 2"));
  EXPECT_TRUE(refuses(storage.mutable_data_in_parallel(bad), "byre_wait is 2"));
  EXPECT_TRUE(refuses(storage.mutable_range_in_parallel(0, 1, bad), "byre_wait is 2"));
  EXPECT_TRUE(refuses(storage.materialize_in_parallel(bad), "byre_wait is 2"));
  EXPECT_TRUE(refuses(storage.pin(bad), "byre_wait is 2"));
  EXPECT_TRUE(refuses(tiles.mutable_tile(0, bad), "byre_wait is 2"));
  EXPECT_TRUE(refuses(tiles.write(0, "x", 1, bad), "byre_wait is 2"));
  EXPECT_TRUE(refuses(tiles.append("x", 1, bad), "byre_wait is 2"));
  EXPECT_TRUE(refuses(tiles.resize(9, bad), "byre_wait is 2"));
  EXPECT_TRUE(refuses(tiles.truncate(7, bad), "byre_wait is 2"));
  EXPECT_TRUE(refuses(buffer.mutable_range(3, 2), "out of range"));
  EXPECT_TRUE(refuses(storage.mutable_range_in_parallel(3, 2), "out of range"));
}

TEST(WrappedValues, moved_owner_releases_what_the_other_one_had) {
  c::Buffer buffer = buffer_of("cows");
  c::Buffer clone = buffer.lazy_clone().value();
  clone = buffer_of("oxen");
  EXPECT_EQ(buffer.use_count(), 1U);
  c::Storage storage = storage_of("cows");
  c::Pin pin = storage.pin().value();
  pin = c::Pin();
  EXPECT_FALSE(storage.is_pinned());
  c::Tiles tiles = c::Tiles::allocate(8, 4).value();
  c::Tiles shared = tiles.lazy_clone().value();
  shared = c::Tiles();
  EXPECT_EQ(shared.nbytes(), 0U);
  c::AtomicBuffer place = c::AtomicBuffer::create().value();
  EXPECT_TRUE(place.store(buffer.lazy_clone().value()));
  place = c::AtomicBuffer();
  EXPECT_EQ(buffer.use_count(), 1U) << "the place holds a clone";
  c::Text text = buffer.explain().value();
  text = c::Text();
  EXPECT_STREQ(text.c_str(), "");
  EXPECT_STREQ(c::Text().c_str(), "");
}

TEST(WrappedPools, released_block_is_idle_until_it_is_trimmed) {
  constexpr std::size_t nbytes = 1 << 20;
  c::Pool pool = c::Pool::create(3 * nbytes).value();
  EXPECT_EQ(pool.limit_nbytes(), 3 * nbytes);
  (void)c::Buffer::allocate(nbytes, pool.allocator());
  EXPECT_GE(pool.idle_nbytes(), nbytes);
  pool.trim(0);
  EXPECT_EQ(pool.idle_nbytes(), 0U);
  pool.set_limit_nbytes(7);
  EXPECT_EQ(pool.limit_nbytes(), 7U);
}

/// Copies 4 bytes.
void write_a_clone() {
  const c::Buffer buffer = buffer_of("cows");
  EXPECT_TRUE(buffer.lazy_clone()->mutable_data());
}

TEST(WrappedObservation, memory_reports_are_texts) {
  const c::Result<c::Text> text = c::memory_report_to_text();
  if (!text) {
    GTEST_SKIP() << "byre was built without stats";
  }
  EXPECT_TRUE(says(text->c_str(), "byre: memory: "));
  EXPECT_TRUE(says(c::memory_report_to_json()->c_str(), "\"tags\": ["));
}

TEST(WrappedObservation, sink_and_recording_see_copies_until_they_end) {
  byre_stats counts{};
  counts.struct_nbytes = sizeof counts;
  write_a_clone();
  ASSERT_EQ(byre_stats_snapshot(&counts), BYRE_OK);
  if (counts.copies == 0) {
    GTEST_SKIP() << "byre was built without stats";
  }
  std::size_t copied = 0;
  c::Recording recording = c::Recording::create().value();
  {
    const c::InstalledSink sink = c::InstalledSink::install(
                                      [](void* user, const byre_copy_event* event) {
                                        *static_cast<std::size_t*>(user) += event->nbytes;
                                      },
                                      &copied)
                                      .value();
    write_a_clone();
  }
  EXPECT_TRUE(recording.stop());
  write_a_clone();
  EXPECT_EQ(copied, 4U);
  EXPECT_EQ(recording.lost(), 0U);
  EXPECT_TRUE(says(recording.to_json()->c_str(), "traceEvents"));
  EXPECT_FALSE(says(recording.summary()->c_str(), "traceEvents"));
  const TemporaryFolder folder;
  EXPECT_TRUE(recording.write((folder / "trace.txt").string().c_str()));
  EXPECT_EQ(read_file(folder / "trace.txt"), recording.summary()->c_str());
  EXPECT_EQ(c::Recording().stop().error().status(), BYRE_INVALID_ARGUMENT);
}

TEST(WrappedStorages, copies_alias_and_clones_are_independent) {
  c::Storage storage = storage_of("cows");
  c::Storage alias = storage;
  c::Storage clone = storage.lazy_clone().value();
  EXPECT_TRUE(alias == storage);
  EXPECT_TRUE(clone != storage);
  EXPECT_EQ(storage.handle_count(), 2U);
  EXPECT_EQ(storage.use_count(), 2U);
  EXPECT_TRUE(clone.shares_data_with(storage));
  static_cast<char*>(alias.mutable_data().value())[0] = 'm';
  EXPECT_EQ(text_in(storage), "mows");
  EXPECT_EQ(text_in(clone), "cows");
  alias = clone;
  EXPECT_EQ(storage.handle_count(), 1U);
  EXPECT_EQ(alias.handle_count(), 2U);
  EXPECT_TRUE(storage.is_unique());
  EXPECT_EQ(storage.version(), byre_storage_version(storage.get()));
  EXPECT_FALSE(storage.is_read_only());
  EXPECT_EQ(storage.origin(), BYRE_ORIGIN_ALLOCATED);
  EXPECT_EQ(storage.allocator(), byre_default_allocator());
  EXPECT_EQ(storage.materialize().value(), BYRE_ALREADY_UNIQUE);
  EXPECT_EQ(storage.mutable_range(1, 1).value(),
            static_cast<char*>(storage.mutable_data().value()) + 1);
  EXPECT_TRUE(storage.resize(2));
  EXPECT_TRUE(storage.shrink_to_fit());
  EXPECT_EQ(text_in(storage.writable_clone().value()), "mo");
  EXPECT_TRUE(says(storage.explain()->c_str(), "2 bytes"));
  byre_storage* const handle = storage.release_handle();
  EXPECT_FALSE(storage);
  EXPECT_EQ(text_in(c::Storage(handle)), "mo");
  EXPECT_EQ(c::Storage::allocate(5)->nbytes(), 5U);
}

TEST(WrappedStorages, parallel_writes_and_pins_are_those_of_a_storage) {
  c::Storage storage = storage_of("cows");
  const c::Storage clone = storage.lazy_clone().value();
  EXPECT_EQ(storage.materialize_in_parallel().value(), BYRE_COPIED);
  EXPECT_EQ(storage.mutable_data_in_parallel().value(), storage.data());
  EXPECT_EQ(storage.mutable_range_in_parallel(1, 2).value(),
            static_cast<const char*>(storage.data()) + 1);
  {
    const c::Pin pin = storage.pin().value();
    EXPECT_TRUE(storage.is_pinned());
    EXPECT_TRUE(pin.is_writable());
    EXPECT_EQ(pin.mutable_data(), storage.data());
    EXPECT_EQ(pin.data(), storage.data());
    EXPECT_EQ(pin.nbytes(), 4U);
  }
  EXPECT_FALSE(storage.is_pinned());
  EXPECT_FALSE(clone.pin_to_read()->is_writable());
}

TEST(WrappedTiles, write_copies_only_the_tiles_that_it_touches) {
  c::Tiles tiles = c::Tiles::allocate(0, 4).value();
  ASSERT_TRUE(tiles.append("0123456789", 10));
  EXPECT_EQ(tiles.nbytes(), 10U);
  EXPECT_EQ(tiles.tile_count(), 3U);
  EXPECT_EQ(tiles.tile_nbytes(), 4U);
  EXPECT_EQ(tiles.allocator(), byre_default_allocator());
  c::Tiles clone = tiles.lazy_clone().value();
  EXPECT_TRUE(clone.shares_data_with(tiles));
  ASSERT_TRUE(clone.write(5, "x", 1));
  static_cast<char*>(clone.mutable_tile(2)->data)[0] = 'y';
  EXPECT_TRUE(clone.shares_tile_with(tiles, 0));
  EXPECT_FALSE(clone.shares_tile_with(tiles, 1));
  EXPECT_EQ(clone.tile(2)->nbytes, 2U);
  std::string parts;
  ASSERT_TRUE(clone.for_each_part(
      2, 7, [&](const void* data, std::size_t nbytes) { parts += text_of(data, nbytes) + "|"; }));
  EXPECT_EQ(parts, "23|4x67|y|");
  std::vector<std::size_t> different;
  ASSERT_TRUE(
      clone.for_each_difference(tiles, [&](std::size_t index) { different.push_back(index); }));
  EXPECT_EQ(different, (std::vector<std::size_t>{1, 2}));
  different.clear();
  ASSERT_TRUE(clone.for_each_difference(tiles, [&](std::size_t index) -> byre_status {
    different.push_back(index);
    return BYRE_STOP;
  }));
  EXPECT_EQ(different, std::vector<std::size_t>{1});
  EXPECT_EQ(clone.for_each_part(0, 8, [](const void*, std::size_t) { return BYRE_USER_STATUS + 4; })
                .error()
                .status(),
            BYRE_USER_STATUS + 4);
  ASSERT_TRUE(clone.truncate(6));
  ASSERT_TRUE(clone.resize(7));
  char bytes[6];
  ASSERT_TRUE(clone.read(0, bytes, 6));
  EXPECT_EQ(std::string(bytes, 6), "01234x");
  EXPECT_EQ(clone.tile(9).error().status(), BYRE_INVALID_ARGUMENT);
}

TEST(WrappedAtomicBuffers, stores_exchanges_and_comparisons_replace_the_content) {
  c::AtomicBuffer place = c::AtomicBuffer::create().value();
  ASSERT_TRUE(place.store(buffer_of("cows")));
  c::Buffer seen = place.load().value();
  EXPECT_TRUE(place.holds(seen));
  EXPECT_TRUE(place.compare_exchange(seen, buffer_of("oxen")).value());
  place.notify();
  place.wait(seen);
  EXPECT_FALSE(place.compare_exchange(seen, buffer_of("none")).value());
  EXPECT_EQ(text_in(seen), "oxen");
  EXPECT_EQ(text_in(place.exchange(buffer_of("last")).value()), "oxen");
  EXPECT_EQ(place.version(), 3U);
}

TEST(WrappedAllocators, table_is_checked_and_used) {
  byre_allocator_functions table{};
  EXPECT_EQ(c::Allocator::create(table).error().status(), BYRE_INVALID_ARGUMENT);
  table.struct_nbytes = sizeof table;
  table.allocate = [](void*, std::size_t nbytes, std::size_t prefix, byre_block* block) {
    return byre_allocator_allocate(byre_aligned_allocator(), nbytes, prefix, block);
  };
  table.deallocate = [](void*, const byre_block* block) {
    byre_allocator_deallocate(byre_aligned_allocator(), block);
  };
  const c::Allocator allocator = c::Allocator::create(table).value();
  EXPECT_EQ(c::Buffer::allocate(4, allocator.get())->allocator(), allocator.get());
  table.allocate = [](void*, std::size_t, std::size_t, byre_block*) -> byre_status {
    return BYRE_USER_STATUS + 5;
  };
  const c::Allocator failing = c::Allocator::create(table).value();
  EXPECT_EQ(c::Storage::allocate(1, failing.get()).error().status(), BYRE_USER_STATUS + 5);
}

#if defined(__cpp_exceptions)
TEST(WrappedValues, cpp_and_c_share_one_pool) {
  const Buffer buffer = Buffer::allocate(4);
  EXPECT_EQ(static_cast<void*>(&buffer.allocator()),
            static_cast<void*>(c::Buffer::allocate(4)->allocator()));
}
#endif

TEST(WrappedTiles, tiles_have_the_default_size_unless_it_is_given) {
  EXPECT_EQ(c::Tiles::allocate(1)->tile_nbytes(), BYRE_DEFAULT_TILE_NBYTES);
  EXPECT_EQ(c::Tiles::allocate(1, 7)->tile_nbytes(), 7U);
}

}  // namespace
}  // namespace byre::test
