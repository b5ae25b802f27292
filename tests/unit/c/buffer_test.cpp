// SPDX-License-Identifier: BSL-1.0
// Buffers of the C interface.
#include <byre/config.hpp>

#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>

#include "support/temporary_folder.hpp"
#include "values.hpp"

namespace byre::test {
namespace {

TEST(CBuffers, zeros_are_an_empty_buffer) {
  CBuffer empty;
  void* data = &data;
  EXPECT_EQ(byre_buffer_data(empty), nullptr);
  EXPECT_EQ(byre_buffer_nbytes(empty), 0U);
  EXPECT_EQ(byre_buffer_capacity(empty), 0U);
  EXPECT_EQ(byre_buffer_use_count(empty), 0U);
  EXPECT_EQ(byre_buffer_is_unique(empty), 1);
  EXPECT_EQ(byre_buffer_is_read_only(empty), 0);
  EXPECT_EQ(byre_buffer_origin(empty), BYRE_ORIGIN_ALLOCATED);
  EXPECT_EQ(byre_buffer_allocator(empty), byre_default_allocator());
  EXPECT_EQ(byre_buffer_memory_id(empty), nullptr);
  byre_buffer_collapse(empty, 0, 1);
  EXPECT_TRUE(ok(byre_buffer_mutable_data(empty, BYRE_WAIT_ALLOWED, &data)));
  EXPECT_EQ(data, nullptr);
  EXPECT_TRUE(ok(byre_buffer_shrink_to_fit(empty)));
  CBuffer clone;
  EXPECT_TRUE(ok(byre_buffer_clone(empty, clone)));
  EXPECT_EQ(byre_buffer_shares_data_with(empty, clone), 0);
  EXPECT_TRUE(ok(byre_buffer_writable_clone(empty, BYRE_WAIT_ALLOWED, BYRE_WRITERS_NONE, clone)));
  EXPECT_EQ(byre_buffer_data(clone), nullptr);
}

TEST(CBuffers, null_reads_as_an_empty_buffer) {
  EXPECT_EQ(byre_buffer_data(nullptr), nullptr);
  EXPECT_EQ(byre_buffer_nbytes(nullptr), 0U);
  EXPECT_EQ(byre_buffer_capacity(nullptr), 0U);
  EXPECT_EQ(byre_buffer_is_unique(nullptr), 1);
  EXPECT_EQ(byre_buffer_memory_id(nullptr), nullptr);
  byre_buffer_collapse(nullptr, 0, 1);
  byre_buffer_release(nullptr);
  CBuffer buffer;
  allocate(buffer, "cow");
  byre_buffer_swap(buffer, nullptr);
  byre_buffer_swap(nullptr, buffer);
  EXPECT_EQ(byre_buffer_shares_data_with(nullptr, buffer), 0);
  EXPECT_EQ(text_of(buffer), "cow");
  EXPECT_TRUE(ok(byre_buffer_clone(nullptr, buffer)));
  EXPECT_EQ(byre_buffer_data(buffer), nullptr);
}

TEST(CBuffers, clone_shares_bytes_until_a_write_copies_them) {
  CBuffer source, clone;
  allocate(source, "cows");
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(byre_buffer_data(source)) % 64, 0U);
  ASSERT_TRUE(ok(byre_buffer_clone(source, clone)));
  EXPECT_EQ(byre_buffer_data(source), byre_buffer_data(clone));
  EXPECT_EQ(byre_buffer_memory_id(source), byre_buffer_memory_id(clone));
  EXPECT_EQ(byre_buffer_shares_data_with(source, clone), 1);
  EXPECT_EQ(byre_buffer_use_count(source), 2U);
  EXPECT_EQ(byre_buffer_is_unique(source), 0);
  ASSERT_TRUE(ok(write(clone, "m")));
  EXPECT_EQ(text_of(source), "cows");
  EXPECT_EQ(text_of(clone), "mows");
  EXPECT_EQ(byre_buffer_shares_data_with(source, clone), 0);
  EXPECT_EQ(byre_buffer_is_unique(source), 1);
}

TEST(CBuffers, released_buffer_is_empty_and_may_be_released_again) {
  CBuffer buffer;
  allocate(buffer, "cows");
  byre_buffer_release(buffer);
  byre_buffer_release(buffer);
  EXPECT_EQ(byre_buffer_data(buffer), nullptr);
  allocate(buffer, "ox");
  EXPECT_EQ(text_of(buffer), "ox");
}

TEST(CBuffers, new_value_replaces_and_releases_the_former_one) {
  CBuffer buffer, clone;
  allocate(buffer, "cows");
  ASSERT_TRUE(ok(byre_buffer_clone(buffer, clone)));
  allocate(buffer, "ox");
  EXPECT_EQ(byre_buffer_use_count(clone), 1U);
  ASSERT_TRUE(ok(byre_buffer_clone(clone, clone)));  // into itself
  EXPECT_EQ(text_of(clone), "cows");
  EXPECT_EQ(byre_buffer_use_count(clone), 1U);
  byre_buffer_swap(buffer, clone);
  EXPECT_EQ(text_of(clone), "ox");
  EXPECT_EQ(text_of(buffer), "cows");
}

TEST(CBuffers, buffer_may_be_moved_to_another_place_by_memcpy) {
  CBuffer source, clone;
  allocate(source, "cows");
  ASSERT_TRUE(ok(byre_buffer_clone(source, clone)));
  byre_buffer moved;
  std::memcpy(static_cast<void*>(&moved), static_cast<byre_buffer*>(source), sizeof moved);
  std::memset(static_cast<void*>(static_cast<byre_buffer*>(source)), 0, sizeof moved);
  ASSERT_TRUE(ok(write(&moved, "m")));
  EXPECT_EQ(text_of(&moved), "mows");
  EXPECT_EQ(text_of(clone), "cows");
  byre_buffer_release(&moved);
}

/// The macro of byre.h must agree with the function in all states of the bytes.
TEST(CBuffers, write_access_without_a_call_agrees_with_the_call) {
  CBuffer buffer, clone;
  void *by_call = nullptr, *inlined = nullptr;
  allocate(buffer, "cows");
  ASSERT_TRUE(ok((byre_buffer_mutable_data)(buffer, BYRE_WAIT_ALLOWED, &by_call)));
  ASSERT_TRUE(ok(byre_buffer_mutable_data(buffer, BYRE_WAIT_ALLOWED, &inlined)));
  EXPECT_EQ(by_call, inlined);
  ASSERT_TRUE(ok(byre_buffer_clone(buffer, clone)));
  ASSERT_TRUE(ok(byre_buffer_mutable_data(clone, BYRE_WAIT_ALLOWED, &inlined)));
  EXPECT_NE(by_call, inlined) << "the bytes are shared, so the write must copy them";
  EXPECT_EQ(inlined, byre_buffer_data(clone));
  const TemporaryFolder folder;
  write_file(folder / "file", "mapped");
  ASSERT_TRUE(ok(byre_buffer_map_file((folder / "file").string().c_str(), nullptr, clone)));
  const void* const mapped = byre_buffer_data(clone);
  ASSERT_TRUE(ok(byre_buffer_mutable_data(clone, BYRE_WAIT_ALLOWED, &inlined)));
  EXPECT_NE(mapped, inlined) << "the bytes are read-only, so the write must copy them";
}

#if defined(byre_buffer_mutable_data) && !BYRE_CHECKS
TEST(CBuffers, write_to_unshared_bytes_calls_no_function) {
  CBuffer buffer;
  allocate(buffer, "cows");
  void* data = nullptr;
  // An invalid `wait` shows a call: only the library looks at it.
  EXPECT_TRUE(ok(byre_buffer_mutable_data(buffer, 77, &data)));
  EXPECT_EQ(data, byre_buffer_data(buffer));
}
#endif

TEST(CBuffers, materialize_tells_how_the_bytes_became_unshared) {
  CBuffer buffer, clone;
  byre_materialized how = -1;
  allocate(buffer, "cows");
  EXPECT_TRUE(ok(byre_buffer_materialize(buffer, BYRE_WAIT_ALLOWED, &how)));
  EXPECT_EQ(how, BYRE_ALREADY_UNIQUE);
  ASSERT_TRUE(ok(byre_buffer_clone(buffer, clone)));
  EXPECT_TRUE(ok(byre_buffer_materialize(buffer, BYRE_WAIT_NEVER, &how)));
  EXPECT_EQ(how, BYRE_COPIED);
  ASSERT_TRUE(ok(byre_buffer_clone(buffer, clone)));
  EXPECT_TRUE(ok(byre_buffer_materialize(clone, BYRE_WAIT_ALLOWED, nullptr)));
  EXPECT_EQ(byre_buffer_shares_data_with(buffer, clone), 0);
}

TEST(CBuffers, write_to_a_clone_in_pages_is_overlaid) {
  const std::size_t nbytes = 1 << 20;
  CBuffer buffer, clone, writable;
  ASSERT_TRUE(ok(byre_buffer_allocate(nbytes, byre_paged_allocator(), buffer)));
  if (byre_buffer_origin(buffer) != BYRE_ORIGIN_PAGED) {
    GTEST_SKIP() << "this system has no pages for byre";
  }
  ASSERT_TRUE(ok(write(buffer, "cows")));
  ASSERT_TRUE(ok(byre_buffer_clone(buffer, clone)));
  byre_materialized how = -1;
  ASSERT_TRUE(ok(byre_buffer_materialize(clone, BYRE_WAIT_ALLOWED, &how)));
  EXPECT_EQ(how, BYRE_OVERLAID);
  EXPECT_EQ(byre_buffer_origin(clone), BYRE_ORIGIN_OVERLAY);
  EXPECT_EQ(byre_buffer_memory_id(buffer), byre_buffer_memory_id(clone));
  byre_buffer_collapse(clone, 0, nbytes);
  EXPECT_TRUE(
      ok(byre_buffer_writable_clone(clone, BYRE_WAIT_ALLOWED, BYRE_WRITERS_ELSEWHERE, writable)));
  EXPECT_EQ(text_of(byre_buffer_data(writable), 4), "cows");
}

TEST(CBuffers, writable_clone_copies_much_that_threads_write_elsewhere) {
  const std::size_t nbytes = 1 << 20;
  CBuffer buffer, first;
  ASSERT_TRUE(ok(byre_buffer_allocate(nbytes, byre_paged_allocator(), buffer)));
  const auto writable_clone = [&](byre_writers writers, CBuffer& clone) {
    void* data = nullptr;
    EXPECT_TRUE(ok(byre_buffer_mutable_data(buffer, BYRE_WAIT_ALLOWED, &data)));
    std::memset(data, 'c', nbytes);
    EXPECT_TRUE(ok(byre_buffer_writable_clone(buffer, BYRE_WAIT_ALLOWED, writers, clone)));
    EXPECT_EQ(text_of(byre_buffer_data(clone), 4), "cccc");
    return byre_buffer_origin(clone);
  };
  if (writable_clone(BYRE_WRITERS_NONE, first) != BYRE_ORIGIN_OVERLAY) {
    GTEST_SKIP() << "this system has no pages for byre";
  }
  CBuffer copy, overlay;
  EXPECT_NE(writable_clone(BYRE_WRITERS_ELSEWHERE, copy), BYRE_ORIGIN_OVERLAY);
  EXPECT_EQ(writable_clone(BYRE_WRITERS_NONE, overlay), BYRE_ORIGIN_OVERLAY);
}

TEST(CBuffers, range_is_for_writing_and_within_the_buffer) {
  CBuffer buffer, clone;
  void* data = nullptr;
  allocate(buffer, "cows");
  ASSERT_TRUE(ok(byre_buffer_clone(buffer, clone)));
  ASSERT_TRUE(ok(byre_buffer_mutable_range(clone, 1, 3, BYRE_WAIT_ALLOWED, &data)));
  EXPECT_EQ(static_cast<const char*>(byre_buffer_data(clone)) + 1, data);
  std::memcpy(data, "ats", 3);
  EXPECT_EQ(text_of(clone), "cats");
  EXPECT_EQ(text_of(buffer), "cows");
  EXPECT_TRUE(fails(byre_buffer_mutable_range(clone, 2, 3, BYRE_WAIT_ALLOWED, &data),
                    BYRE_INVALID_ARGUMENT, "range"));
  EXPECT_EQ(data, nullptr);
}

TEST(CBuffers, resize_keeps_bytes_and_refuses_shared_ones) {
  CBuffer buffer, clone;
  allocate(buffer, "cows");
  ASSERT_TRUE(ok(byre_buffer_resize(buffer, 3)));
  EXPECT_EQ(text_of(buffer), "cow");
  ASSERT_TRUE(ok(byre_buffer_resize(buffer, 100000)));
  EXPECT_EQ(text_of(buffer).substr(0, 3), "cow");
  EXPECT_GE(byre_buffer_capacity(buffer), 100000U);
  ASSERT_TRUE(ok(byre_buffer_resize(buffer, 3)));
  ASSERT_TRUE(ok(byre_buffer_shrink_to_fit(buffer)));
  EXPECT_LT(byre_buffer_capacity(buffer), 100000U);
  EXPECT_EQ(text_of(buffer), "cow");
  ASSERT_TRUE(ok(byre_buffer_clone(buffer, clone)));
  EXPECT_TRUE(fails(byre_buffer_resize(clone, 5), BYRE_NOT_UNIQUE, "resize", "materialize"));
  EXPECT_TRUE(fails(byre_buffer_shrink_to_fit(clone), BYRE_NOT_UNIQUE, "shared"));
  EXPECT_EQ(text_of(clone), "cow");
}

TEST(CBuffers, writable_clone_is_independent_of_pointers) {
  CBuffer buffer, clone;
  allocate(buffer, "cows");
  void* data = nullptr;
  ASSERT_TRUE(ok(byre_buffer_mutable_data(buffer, BYRE_WAIT_ALLOWED, &data)));
  ASSERT_TRUE(ok(byre_buffer_writable_clone(buffer, BYRE_WAIT_NEVER, BYRE_WRITERS_NONE, clone)));
  std::memcpy(data, "m", 1);
  EXPECT_EQ(text_of(buffer), "mows");
  EXPECT_EQ(text_of(clone), "cows");
}

struct Deletion {
  int count = 0;
  void* data = nullptr;
  static void record(void* data, void* user) {
    auto& deletion = *static_cast<Deletion*>(user);
    ++deletion.count;
    deletion.data = data;
  }
};

TEST(CBuffers, adopted_memory_is_written_in_place_and_deleted_once) {
  char memory[] = "cows";
  Deletion deletion;
  CBuffer buffer, clone;
  ASSERT_TRUE(ok(byre_buffer_adopt(memory, 4, 0, &Deletion::record, &deletion, nullptr, buffer)));
  EXPECT_EQ(byre_buffer_origin(buffer), BYRE_ORIGIN_ADOPTED);
  ASSERT_TRUE(ok(write(buffer, "m")));
  EXPECT_STREQ(memory, "mows");
  ASSERT_TRUE(ok(byre_buffer_clone(buffer, clone)));
  byre_buffer_release(buffer);
  EXPECT_EQ(deletion.count, 0);
  byre_buffer_release(clone);
  EXPECT_EQ(deletion.count, 1);
  EXPECT_EQ(deletion.data, memory);
}

TEST(CBuffers, read_only_memory_is_copied_by_a_write) {
  static const char memory[] = "cows";
  Deletion deletion;
  CBuffer buffer;
  ASSERT_TRUE(ok(byre_buffer_adopt(memory, 4, BYRE_FOREIGN_READ_ONLY, &Deletion::record, &deletion,
                                   byre_aligned_allocator(), buffer)));
  EXPECT_EQ(byre_buffer_is_read_only(buffer), 1);
  EXPECT_EQ(byre_buffer_allocator(buffer), byre_aligned_allocator());
  ASSERT_TRUE(ok(write(buffer, "m")));
  EXPECT_STREQ(memory, "cows");
  EXPECT_EQ(deletion.count, 1);
}

TEST(CBuffers, memory_with_other_writers_is_copied_by_a_clone) {
  char memory[] = "cows";
  Deletion deletion;
  CBuffer aliased, borrowed, clone;
  ASSERT_TRUE(ok(byre_buffer_adopt(memory, 4, BYRE_FOREIGN_OTHERS_WRITE, &Deletion::record,
                                   &deletion, nullptr, aliased)));
  EXPECT_EQ(byre_buffer_origin(aliased), BYRE_ORIGIN_ALIASED);
  ASSERT_TRUE(ok(byre_buffer_clone(aliased, clone)));
  EXPECT_NE(byre_buffer_data(clone), memory);
  ASSERT_TRUE(
      ok(byre_buffer_adopt(memory, 4, BYRE_FOREIGN_BORROWED, nullptr, nullptr, nullptr, borrowed)));
  EXPECT_EQ(byre_buffer_origin(borrowed), BYRE_ORIGIN_BORROWED);
  ASSERT_TRUE(ok(byre_buffer_clone(borrowed, clone)));
  EXPECT_NE(byre_buffer_data(clone), memory);
  EXPECT_EQ(text_of(clone), "cows");
}

TEST(CBuffers, refused_adoption_calls_the_deleter_once) {
  char memory[] = "cows";
  Deletion deletion;
  CBuffer buffer;
  const auto adopt = [&](byre_buffer* result, void* data, uint32_t properties) {
    deletion.count = 0;
    return byre_buffer_adopt(data, 4, properties, &Deletion::record, &deletion, nullptr, result);
  };
  EXPECT_TRUE(fails(adopt(buffer, nullptr, 0), BYRE_INVALID_ARGUMENT, "null pointer to 4 bytes"));
  EXPECT_EQ(deletion.count, 1);
  EXPECT_TRUE(fails(adopt(buffer, memory, 8), BYRE_INVALID_ARGUMENT, "0x8", "BYRE_FOREIGN_"));
  EXPECT_EQ(deletion.count, 1);
  EXPECT_TRUE(fails(adopt(nullptr, memory, 0), BYRE_INVALID_ARGUMENT, "`result` is NULL"));
  EXPECT_EQ(deletion.count, 1);
  EXPECT_TRUE(fails(adopt(buffer, memory, BYRE_FOREIGN_BORROWED), BYRE_INVALID_ARGUMENT,
                    "borrowed and has a deleter"));
  EXPECT_EQ(deletion.count, 1);
  EXPECT_TRUE(fails(byre_buffer_adopt(memory, 4, 0, nullptr, nullptr, nullptr, buffer),
                    BYRE_INVALID_ARGUMENT, "deleter is NULL", "BYRE_FOREIGN_BORROWED"));
  EXPECT_EQ(byre_buffer_data(buffer), nullptr);
}

TEST(CBuffers, deleter_finds_the_released_buffer_empty) {
  static byre_buffer buffer = BYRE_BUFFER_EMPTY;
  static const void* found = nullptr;
  char memory[] = "cows";
  ASSERT_TRUE(ok(byre_buffer_adopt(
      memory, 4, 0, [](void*, void*) { found = byre_buffer_data(&buffer); }, nullptr, nullptr,
      &buffer)));
  found = memory;
  byre_buffer_release(&buffer);
  EXPECT_EQ(found, nullptr);
}

TEST(CBuffers, mapped_file_is_read_only_and_never_changes) {
  const TemporaryFolder folder;
  const auto path = folder / "file";
  write_file(path, "mapped");
  CBuffer buffer;
  ASSERT_TRUE(ok(byre_buffer_map_file(path.string().c_str(), byre_aligned_allocator(), buffer)));
  EXPECT_EQ(byre_buffer_origin(buffer), BYRE_ORIGIN_MAPPED);
  EXPECT_EQ(byre_buffer_is_read_only(buffer), 1);
  EXPECT_EQ(text_of(buffer), "mapped");
  ASSERT_TRUE(ok(write(buffer, "M")));
  EXPECT_EQ(text_of(buffer), "Mapped");
  EXPECT_EQ(byre_buffer_allocator(buffer), byre_aligned_allocator());
  EXPECT_TRUE(fails(byre_buffer_map_file((folder / "missing").string().c_str(), nullptr, buffer),
                    BYRE_FILE_ERROR, "missing"));
  EXPECT_TRUE(fails(byre_buffer_map_file(nullptr, nullptr, buffer), BYRE_FILE_ERROR));
  EXPECT_EQ(text_of(buffer), "Mapped");
}

TEST(CBuffers, explanation_tells_what_a_write_would_do) {
  CBuffer buffer, clone;
  CText alone, shared;
  allocate(buffer, "cows");
  ASSERT_TRUE(ok(byre_buffer_explain(buffer, alone.result())));
  EXPECT_TRUE(says(static_cast<char*>(alone), "4 bytes", "in place"));
  ASSERT_TRUE(ok(byre_buffer_clone(buffer, clone)));
  ASSERT_TRUE(ok(byre_buffer_explain(clone, shared.result())));
  EXPECT_TRUE(says(static_cast<char*>(shared), "shared by 2 owners", "copies them"));
}

TEST(CBuffers, null_for_a_result_is_refused) {
  CBuffer buffer;
  allocate(buffer, "cows");
  const auto refused = [](byre_status status, const char* call, const char* name) {
    return fails(status, BYRE_INVALID_ARGUMENT, call, std::string("`") + name + "` is NULL");
  };
  EXPECT_TRUE(refused(byre_buffer_allocate(1, nullptr, nullptr), "byre_buffer_allocate", "result"));
  EXPECT_TRUE(refused(byre_buffer_clone(buffer, nullptr), "byre_buffer_clone", "result"));
  EXPECT_TRUE(refused(byre_buffer_map_file("/etc/passwd", nullptr, nullptr), "byre_buffer_map_file",
                      "result"));
  EXPECT_TRUE(
      refused(byre_buffer_writable_clone(buffer, BYRE_WAIT_ALLOWED, BYRE_WRITERS_NONE, nullptr),
              "byre_buffer_writable_clone", "result"));
  EXPECT_TRUE(
      refused((byre_buffer_mutable_data)(buffer, BYRE_WAIT_ALLOWED, nullptr), "mutable", "data"));
  EXPECT_TRUE(refused(byre_buffer_mutable_range(buffer, 0, 1, BYRE_WAIT_ALLOWED, nullptr),
                      "byre_buffer_mutable_range", "data"));
  EXPECT_TRUE(refused(byre_buffer_explain(buffer, nullptr), "byre_buffer_explain", "text"));
  void* data = nullptr;
  EXPECT_TRUE(refused((byre_buffer_mutable_data)(nullptr, BYRE_WAIT_ALLOWED, &data),
                      "byre_buffer_mutable_data", "buffer"));
  EXPECT_TRUE(refused(byre_buffer_mutable_data(nullptr, BYRE_WAIT_ALLOWED, &data),
                      "byre_buffer_mutable_data", "buffer"));
  EXPECT_TRUE(refused(byre_buffer_mutable_range(nullptr, 0, 0, BYRE_WAIT_ALLOWED, &data),
                      "byre_buffer_mutable_range", "buffer"));
  EXPECT_TRUE(refused(byre_buffer_materialize(nullptr, BYRE_WAIT_ALLOWED, nullptr),
                      "byre_buffer_materialize", "buffer"));
  EXPECT_TRUE(refused(byre_buffer_resize(nullptr, 1), "byre_buffer_resize", "buffer"));
  EXPECT_TRUE(refused(byre_buffer_shrink_to_fit(nullptr), "byre_buffer_shrink_to_fit", "buffer"));
  EXPECT_TRUE(
      refused(byre_buffer_writable_clone(nullptr, BYRE_WAIT_ALLOWED, BYRE_WRITERS_NONE, buffer),
              "byre_buffer_writable_clone", "source"));
  EXPECT_EQ(text_of(buffer), "cows");
}

TEST(CBuffers, null_for_the_address_is_refused_with_and_without_the_macro) {
  CBuffer buffer, clone;
  allocate(buffer, "cows");
  const auto is_refused = [&] {
    for (const byre_status status :
         {byre_buffer_mutable_data(buffer, BYRE_WAIT_ALLOWED, nullptr),
          (byre_buffer_mutable_data)(buffer, BYRE_WAIT_ALLOWED, nullptr)}) {
      EXPECT_TRUE(fails(status, BYRE_INVALID_ARGUMENT, "`data` is NULL"));
    }
  };
  is_refused();
  ASSERT_TRUE(ok(byre_buffer_clone(buffer, clone)));
  is_refused();
  EXPECT_EQ(byre_buffer_shares_data_with(buffer, clone), 1);
}

TEST(CBuffers, number_that_is_no_enumerator_is_refused) {
  CBuffer buffer, clone;
  void* data = nullptr;
  allocate(buffer, "cows");
  for (const byre_wait wait : {-1, 2}) {
    EXPECT_TRUE(fails((byre_buffer_mutable_data)(buffer, wait, &data), BYRE_INVALID_ARGUMENT,
                      "byre_wait is", "allowed are 0 to 1"));
    EXPECT_EQ(data, nullptr);
    for (const byre_status status :
         {byre_buffer_materialize(buffer, wait, nullptr),
          byre_buffer_mutable_range(buffer, 0, 1, wait, &data),
          byre_buffer_writable_clone(buffer, wait, BYRE_WRITERS_NONE, clone)}) {
      EXPECT_TRUE(fails(status, BYRE_INVALID_ARGUMENT, "byre_wait is"));
    }
  }
  EXPECT_TRUE(fails(byre_buffer_writable_clone(buffer, BYRE_WAIT_ALLOWED, 2, clone),
                    BYRE_INVALID_ARGUMENT, "byre_writers is 2"));
}

TEST(CBuffers, size_beyond_the_address_space_is_an_invalid_argument) {
  CBuffer buffer;
  EXPECT_TRUE(fails(byre_buffer_allocate(SIZE_MAX, nullptr, buffer), BYRE_INVALID_ARGUMENT,
                    "size out of range"));
  if (sizeof(void*) > 4) {  // else there may be as much memory
    EXPECT_TRUE(fails(byre_buffer_allocate(SIZE_MAX / 4, nullptr, buffer), BYRE_OUT_OF_MEMORY,
                      "out of memory"));
  }
  EXPECT_EQ(byre_buffer_data(buffer), nullptr);
}

TEST(CBuffers, clones_on_two_threads_are_independent) {
  CBuffer buffer, clone;
  allocate(buffer, std::string(1000, 'a'));
  ASSERT_TRUE(ok(byre_buffer_clone(buffer, clone)));
  std::thread other([&] { EXPECT_TRUE(ok(write(clone, "c"))); });
  EXPECT_TRUE(ok(write(buffer, "b")));
  other.join();
  EXPECT_EQ(text_of(buffer), "b" + std::string(999, 'a'));
  EXPECT_EQ(text_of(clone), "c" + std::string(999, 'a'));
}

TEST(CBuffers, write_without_a_call_happens_after_a_copy_by_a_thread) {
  CBuffer buffer, clone;
  allocate(buffer, std::string(1000, 'a'));
  ASSERT_TRUE(ok(byre_buffer_clone(buffer, clone)));
  std::atomic<bool> is_copied{false};
  std::thread other([&] {
    EXPECT_TRUE(ok(write(clone, "c")));
    is_copied.store(true, std::memory_order::relaxed);  // only the share word orders the writes
  });
  while (!is_copied.load(std::memory_order::relaxed)) {
    std::this_thread::yield();
  }
  EXPECT_TRUE(ok(write(buffer, "b")));
  other.join();
  EXPECT_EQ(text_of(buffer), "b" + std::string(999, 'a'));
}

#if BYRE_CHECKS

TEST(CBuffersDeathTest, stale_write_is_reported_with_the_places_of_the_caller) {
  CBuffer buffer, clone;
  allocate(buffer, "cows");
  void* data = nullptr;
  byre_set_call_site("taken.cow", 1);
  ASSERT_TRUE(ok(byre_buffer_mutable_data(buffer, BYRE_WAIT_ALLOWED, &data)));
  byre_set_call_site("cloned.cow", 2);
  ASSERT_TRUE(ok(byre_buffer_clone(buffer, clone)));
  byre_set_call_site("found.cow", 3);
  EXPECT_DEATH(
      {
        std::memcpy(data, "m", 1);
        (void)byre_buffer_materialize(clone, BYRE_WAIT_ALLOWED, nullptr);
      },
      "detected at found.cow:3.*taken at taken.cow:1, before the lazy clone or version\\(\\) at "
      "cloned.cow:2");
  byre_set_call_site(nullptr, 0);
}

#endif

}  // namespace
}  // namespace byre::test
