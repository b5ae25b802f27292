// SPDX-License-Identifier: BSL-1.0
// Storages and pins of the C interface.
#include <thread>

#include "support/temporary_folder.hpp"
#include "values.hpp"

namespace byre::test {
namespace {

/// Sets `*storage` to a storage with the characters of `text`.
void make(CStorage& storage, std::string_view text) {
  CBuffer buffer;
  allocate(buffer, text);
  ASSERT_TRUE(ok(byre_storage_from_buffer(buffer, storage.result())));
  EXPECT_EQ(byre_buffer_data(buffer), nullptr);
}

byre_status write(byre_storage* storage, std::string_view text) {
  void* data = nullptr;
  const byre_status status = byre_storage_mutable_data(storage, BYRE_WAIT_ALLOWED, &data);
  if (status == BYRE_OK) {
    std::memcpy(data, text.data(), text.size());
  }
  return status;
}

TEST(CStorages, null_is_the_empty_storage) {
  void* data = &data;
  byre_materialized how = -1;
  EXPECT_EQ(byre_storage_retain(nullptr), nullptr);
  byre_storage_release(nullptr);
  EXPECT_EQ(byre_storage_data(nullptr), nullptr);
  EXPECT_EQ(byre_storage_nbytes(nullptr), 0U);
  EXPECT_EQ(byre_storage_is_unique(nullptr), 1);
  EXPECT_EQ(byre_storage_use_count(nullptr), 0U);
  EXPECT_EQ(byre_storage_handle_count(nullptr), 0U);
  EXPECT_EQ(byre_storage_version(nullptr), 0U);
  EXPECT_EQ(byre_storage_is_read_only(nullptr), 0);
  EXPECT_EQ(byre_storage_is_pinned(nullptr), 0);
  EXPECT_EQ(byre_storage_origin(nullptr), BYRE_ORIGIN_ALLOCATED);
  EXPECT_EQ(byre_storage_allocator(nullptr), byre_default_allocator());
  EXPECT_EQ(byre_storage_shares_data_with(nullptr, nullptr), 0);
  EXPECT_TRUE(ok(byre_storage_mutable_data(nullptr, BYRE_WAIT_ALLOWED, &data)));
  EXPECT_EQ(data, nullptr);
  EXPECT_TRUE(ok(byre_storage_materialize(nullptr, BYRE_WAIT_ALLOWED, &how)));
  EXPECT_EQ(how, BYRE_ALREADY_UNIQUE);
  EXPECT_TRUE(ok(byre_storage_shrink_to_fit(nullptr)));
  CStorage clone;
  EXPECT_TRUE(ok(byre_storage_clone(nullptr, clone.result())));
  EXPECT_EQ(static_cast<byre_storage*>(clone), nullptr);
  EXPECT_TRUE(ok(byre_storage_writable_clone(nullptr, BYRE_WAIT_ALLOWED, clone.result())));
  EXPECT_EQ(static_cast<byre_storage*>(clone), nullptr);
  EXPECT_TRUE(fails(byre_storage_resize(nullptr, 4), BYRE_INVALID_ARGUMENT, "`storage` is NULL"));
  CText text;
  EXPECT_TRUE(ok(byre_storage_explain(nullptr, text.result())));
  EXPECT_TRUE(says(static_cast<char*>(text), "no bytes"));
  CPin pin;
  EXPECT_TRUE(ok(byre_storage_pin(nullptr, BYRE_WAIT_ALLOWED, pin.result())));
  EXPECT_EQ(static_cast<byre_pin*>(pin), nullptr);
  EXPECT_TRUE(ok(byre_storage_pin_to_read(nullptr, pin.result())));
  EXPECT_EQ(byre_pin_data(pin), nullptr);
  EXPECT_EQ(byre_pin_mutable_data(pin), nullptr);
  EXPECT_EQ(byre_pin_nbytes(pin), 0U);
  EXPECT_EQ(byre_pin_is_writable(pin), 0);
}

TEST(CStorages, handles_of_one_storage_alias) {
  CStorage storage;
  make(storage, "cows");
  byre_storage* const other = byre_storage_retain(storage);
  EXPECT_EQ(other, storage);
  EXPECT_EQ(byre_storage_handle_count(storage), 2U);
  EXPECT_EQ(byre_storage_is_unique(storage), 1);
  EXPECT_TRUE(ok(write(other, "m")));
  EXPECT_EQ(text_of(storage), "mows");
  EXPECT_TRUE(fails(byre_storage_resize(storage, 2), BYRE_NOT_UNIQUE, "2 handles"));
  EXPECT_TRUE(ok(byre_storage_resize(storage, 200)));
  EXPECT_EQ(byre_storage_nbytes(other), 200U);
  byre_storage_release(other);
  EXPECT_EQ(byre_storage_handle_count(storage), 1U);
  EXPECT_TRUE(ok(byre_storage_resize(storage, 2)));
  EXPECT_TRUE(ok(byre_storage_shrink_to_fit(storage)));
  EXPECT_EQ(text_of(storage), "mo");
}

TEST(CStorages, version_changes_with_each_write_access) {
  CStorage storage;
  make(storage, "cows");
  std::uint64_t version = byre_storage_version(storage);
  EXPECT_NE(version, 0U);
  EXPECT_EQ(byre_storage_version(storage), version);
  EXPECT_EQ(byre_storage_is_unique(storage), 1);
  EXPECT_EQ(byre_storage_use_count(storage), 1U);
  const auto expect_change = [&](byre_status status) {
    EXPECT_TRUE(ok(status));
    EXPECT_NE(byre_storage_version(storage), version);
    version = byre_storage_version(storage);
  };
  void* data = nullptr;
  byre_materialized how = -1;
  expect_change(byre_storage_mutable_data(storage, BYRE_WAIT_ALLOWED, &data));
  expect_change(byre_storage_mutable_data(storage, BYRE_WAIT_NEVER, &data));
  EXPECT_EQ(data, byre_storage_data(storage));
  expect_change(byre_storage_materialize(storage, BYRE_WAIT_ALLOWED, &how));
  EXPECT_EQ(how, BYRE_ALREADY_UNIQUE);
  expect_change(byre_storage_mutable_range(storage, 1, 2, BYRE_WAIT_ALLOWED, &data));
  expect_change(byre_storage_resize(storage, 2));
  CStorage clone;
  ASSERT_TRUE(ok(byre_storage_clone(storage, clone.result())));
  EXPECT_NE(byre_storage_version(clone), version);
  EXPECT_EQ(byre_storage_version(storage), version);
}

TEST(CStorages, clone_shares_bytes_until_a_write_copies_them) {
  CStorage storage, clone;
  make(storage, "cows");
  ASSERT_TRUE(ok(byre_storage_clone(storage, clone.result())));
  EXPECT_NE(static_cast<byre_storage*>(clone), static_cast<byre_storage*>(storage));
  EXPECT_EQ(byre_storage_shares_data_with(storage, clone), 1);
  EXPECT_EQ(byre_storage_use_count(storage), 2U);
  EXPECT_EQ(byre_storage_is_unique(clone), 0);
  EXPECT_TRUE(fails(byre_storage_resize(clone, 8), BYRE_NOT_UNIQUE, "shared"));
  CText text;
  ASSERT_TRUE(ok(byre_storage_explain(clone, text.result())));
  EXPECT_TRUE(says(static_cast<char*>(text), "shared by 2 owners"));
  byre_materialized how = -1;
  ASSERT_TRUE(ok(byre_storage_materialize(clone, BYRE_WAIT_ALLOWED, &how)));
  EXPECT_EQ(how, BYRE_COPIED);
  ASSERT_TRUE(ok(byre_storage_materialize(clone, BYRE_WAIT_ALLOWED, nullptr)));
  ASSERT_TRUE(ok(write(clone, "m")));
  EXPECT_EQ(text_of(storage), "cows");
  EXPECT_EQ(text_of(clone), "mows");
}

TEST(CStorages, write_copies_shared_bytes_and_sets_the_address) {
  CStorage storage, clone;
  make(storage, "cows");
  ASSERT_TRUE(ok(byre_storage_clone(storage, clone.result())));
  void* data = nullptr;
  ASSERT_TRUE(ok(byre_storage_mutable_data(clone, BYRE_WAIT_NEVER, &data)));
  EXPECT_EQ(data, byre_storage_data(clone));
  EXPECT_NE(data, byre_storage_data(storage));
  ASSERT_TRUE(ok(byre_storage_mutable_range(clone, 1, 2, BYRE_WAIT_ALLOWED, &data)));
  EXPECT_EQ(data, static_cast<const char*>(byre_storage_data(clone)) + 1);
  EXPECT_TRUE(fails(byre_storage_mutable_range(clone, 3, 2, BYRE_WAIT_ALLOWED, &data),
                    BYRE_INVALID_ARGUMENT, "range"));
  EXPECT_EQ(data, nullptr);
}

TEST(CStorages, allocated_and_mapped_storages_use_the_allocator) {
  CStorage storage, mapped;
  ASSERT_TRUE(ok(byre_storage_allocate(100, byre_aligned_allocator(), storage.result())));
  EXPECT_EQ(byre_storage_nbytes(storage), 100U);
  EXPECT_EQ(byre_storage_allocator(storage), byre_aligned_allocator());
  const TemporaryFolder folder;
  write_file(folder / "file", "mapped");
  ASSERT_TRUE(ok(byre_storage_map_file((folder / "file").string().c_str(), byre_aligned_allocator(),
                                       mapped.result())));
  EXPECT_EQ(byre_storage_origin(mapped), BYRE_ORIGIN_MAPPED);
  EXPECT_EQ(byre_storage_is_read_only(mapped), 1);
  EXPECT_EQ(byre_storage_allocator(mapped), byre_aligned_allocator());
  EXPECT_EQ(text_of(mapped), "mapped");
  CStorage missing;
  EXPECT_TRUE(
      fails(byre_storage_map_file("/no/such/file", nullptr, missing.result()), BYRE_FILE_ERROR));
  EXPECT_EQ(static_cast<byre_storage*>(missing), nullptr);
}

TEST(CStorages, writable_clone_is_independent_of_pointers) {
  CStorage storage, clone;
  make(storage, "cows");
  void* data = nullptr;
  ASSERT_TRUE(ok(byre_storage_mutable_data(storage, BYRE_WAIT_ALLOWED, &data)));
  ASSERT_TRUE(ok(byre_storage_writable_clone(storage, BYRE_WAIT_ALLOWED, clone.result())));
  std::memcpy(data, "m", 1);
  EXPECT_EQ(text_of(clone), "cows");
}

TEST(CStorages, threads_of_a_loop_write_one_shared_storage) {
  CStorage storage, clone;
  make(storage, std::string(8, 'a'));
  ASSERT_TRUE(ok(byre_storage_clone(storage, clone.result())));
  const auto fill = [&](std::size_t offset, char letter) {
    void* data = nullptr;
    EXPECT_TRUE(
        ok(byre_storage_mutable_range_in_parallel(storage, offset, 4, BYRE_WAIT_ALLOWED, &data)));
    std::memset(data, letter, 4);
  };
  std::thread other([&] { fill(0, 'b'); });
  fill(4, 'c');
  other.join();
  EXPECT_EQ(text_of(storage), "bbbbcccc");
  EXPECT_EQ(text_of(clone), "aaaaaaaa");
  void* data = nullptr;
  EXPECT_TRUE(ok(byre_storage_mutable_data_in_parallel(storage, BYRE_WAIT_ALLOWED, &data)));
  EXPECT_EQ(data, byre_storage_data(storage));
  byre_materialized how = -1;
  EXPECT_TRUE(ok(byre_storage_materialize_in_parallel(storage, BYRE_WAIT_ALLOWED, &how)));
  EXPECT_EQ(how, BYRE_ALREADY_UNIQUE);
  EXPECT_TRUE(fails(byre_storage_mutable_range_in_parallel(storage, 7, 2, BYRE_WAIT_ALLOWED, &data),
                    BYRE_INVALID_ARGUMENT, "range"));
  EXPECT_EQ(data, nullptr);
}

TEST(CStorages, first_call_in_a_loop_copies) {
  CStorage storage, clone, second_clone;
  make(storage, "cows");
  ASSERT_TRUE(ok(byre_storage_clone(storage, clone.result())));
  byre_materialized how = -1;
  EXPECT_TRUE(ok(byre_storage_materialize_in_parallel(storage, BYRE_WAIT_ALLOWED, &how)));
  EXPECT_EQ(how, BYRE_COPIED);
  void* data = nullptr;
  ASSERT_TRUE(ok(byre_storage_clone(storage, second_clone.result())));
  EXPECT_TRUE(ok(byre_storage_mutable_data_in_parallel(second_clone, BYRE_WAIT_ALLOWED, &data)));
  EXPECT_NE(data, byre_storage_data(storage));
}

TEST(CPins, pin_to_write_makes_clones_copy) {
  CStorage storage, clone;
  make(storage, "cows");
  CPin pin;
  ASSERT_TRUE(ok(byre_storage_pin(storage, BYRE_WAIT_ALLOWED, pin.result())));
  EXPECT_EQ(byre_storage_is_pinned(storage), 1);
  EXPECT_EQ(byre_pin_is_writable(pin), 1);
  EXPECT_EQ(byre_pin_nbytes(pin), 4U);
  EXPECT_EQ(byre_pin_data(pin), byre_storage_data(storage));
  EXPECT_EQ(byre_pin_mutable_data(pin), byre_storage_data(storage));
  ASSERT_TRUE(ok(byre_storage_clone(storage, clone.result())));
  EXPECT_EQ(byre_storage_shares_data_with(storage, clone), 0);
  EXPECT_TRUE(fails(byre_storage_resize(storage, 8), BYRE_NOT_UNIQUE, "pinned"));
  EXPECT_TRUE(fails(byre_storage_shrink_to_fit(storage), BYRE_NOT_UNIQUE, "pinned"));
  std::memcpy(byre_pin_mutable_data(pin), "m", 1);
  EXPECT_EQ(text_of(storage), "mows");
  EXPECT_EQ(text_of(clone), "cows");
  byre_pin_release(pin);
  *pin.result() = nullptr;
  EXPECT_EQ(byre_storage_is_pinned(storage), 0);
}

TEST(CPins, pin_to_read_keeps_the_bytes) {
  CStorage storage;
  make(storage, "cows");
  CPin pin;
  ASSERT_TRUE(ok(byre_storage_pin_to_read(storage, pin.result())));
  EXPECT_EQ(byre_pin_is_writable(pin), 0);
  EXPECT_EQ(byre_pin_mutable_data(pin), nullptr);
  EXPECT_EQ(byre_storage_is_pinned(storage), 0);
  ASSERT_TRUE(ok(write(storage, "m")));
  EXPECT_EQ(text_of(byre_pin_data(pin), byre_pin_nbytes(pin)), "cows");
}

TEST(CStorages, null_for_a_result_is_refused) {
  CStorage storage;
  CBuffer buffer;
  make(storage, "cows");
  allocate(buffer, "ox");
  const auto refused = [](byre_status status, const char* call, const char* name = "result") {
    return fails(status, BYRE_INVALID_ARGUMENT, std::string(call) + ":",
                 std::string("`") + name + "` is NULL");
  };
  EXPECT_TRUE(refused(byre_storage_from_buffer(buffer, nullptr), "byre_storage_from_buffer"));
  EXPECT_TRUE(refused(byre_storage_from_buffer(nullptr, storage.result()),
                      "byre_storage_from_buffer", "buffer"));
  EXPECT_EQ(text_of(buffer), "ox");
  EXPECT_TRUE(refused(byre_storage_allocate(1, nullptr, nullptr), "byre_storage_allocate"));
  EXPECT_TRUE(refused(byre_storage_map_file("x", nullptr, nullptr), "byre_storage_map_file"));
  EXPECT_TRUE(refused(byre_storage_clone(storage, nullptr), "byre_storage_clone"));
  EXPECT_TRUE(refused(byre_storage_writable_clone(storage, BYRE_WAIT_ALLOWED, nullptr),
                      "byre_storage_writable_clone"));
  EXPECT_TRUE(refused(byre_storage_mutable_data(storage, BYRE_WAIT_ALLOWED, nullptr),
                      "byre_storage_mutable_data", "data"));
  EXPECT_TRUE(refused(byre_storage_mutable_range(storage, 0, 1, BYRE_WAIT_ALLOWED, nullptr),
                      "byre_storage_mutable_range", "data"));
  EXPECT_TRUE(refused(byre_storage_mutable_data_in_parallel(storage, BYRE_WAIT_ALLOWED, nullptr),
                      "byre_storage_mutable_data_in_parallel", "data"));
  EXPECT_TRUE(
      refused(byre_storage_mutable_range_in_parallel(storage, 0, 1, BYRE_WAIT_ALLOWED, nullptr),
              "byre_storage_mutable_range_in_parallel", "data"));
  EXPECT_TRUE(refused(byre_storage_pin(storage, BYRE_WAIT_ALLOWED, nullptr), "byre_storage_pin"));
  EXPECT_TRUE(refused(byre_storage_pin_to_read(storage, nullptr), "byre_storage_pin_to_read"));
  EXPECT_TRUE(refused(byre_storage_explain(storage, nullptr), "byre_storage_explain", "text"));
  EXPECT_EQ(byre_storage_is_pinned(storage), 0);
}

TEST(CStorages, wait_that_is_no_enumerator_is_refused) {
  CStorage storage, clone;
  make(storage, "cows");
  void* data = nullptr;
  CPin pin;
  for (const byre_status status : {byre_storage_mutable_data(storage, 2, &data),
                                   byre_storage_mutable_range(storage, 0, 1, 2, &data),
                                   byre_storage_materialize(storage, 2, nullptr),
                                   byre_storage_writable_clone(storage, 2, clone.result()),
                                   byre_storage_mutable_data_in_parallel(storage, 2, &data),
                                   byre_storage_mutable_range_in_parallel(storage, 0, 1, 2, &data),
                                   byre_storage_materialize_in_parallel(storage, 2, nullptr),
                                   byre_storage_pin(storage, 2, pin.result())}) {
    EXPECT_TRUE(fails(status, BYRE_INVALID_ARGUMENT, "byre_wait is 2"));
  }
  for (const byre_status status : {byre_storage_mutable_data(nullptr, -1, &data),
                                   byre_storage_writable_clone(nullptr, -1, clone.result()),
                                   byre_storage_pin(nullptr, -1, pin.result())}) {
    EXPECT_TRUE(fails(status, BYRE_INVALID_ARGUMENT, "byre_wait is -1"));
  }
}

TEST(CStorages, read_only_bytes_are_copied_by_a_write) {
  static const char memory[] = "cows";
  const auto make_read_only = [](CStorage& storage) {
    CBuffer buffer;
    ASSERT_TRUE(ok(byre_buffer_adopt(
        memory, 4, BYRE_FOREIGN_READ_ONLY, [](void*, void*) {}, nullptr, nullptr, buffer)));
    ASSERT_TRUE(ok(byre_storage_from_buffer(buffer, storage.result())));
  };
  CStorage written, materialized;
  make_read_only(written);
  make_read_only(materialized);
  void* data = nullptr;
  ASSERT_TRUE(ok(byre_storage_mutable_data(written, BYRE_WAIT_ALLOWED, &data)));
  EXPECT_NE(data, memory);
  EXPECT_EQ(text_of(written), "cows");
  byre_materialized how = -1;
  ASSERT_TRUE(ok(byre_storage_materialize(materialized, BYRE_WAIT_ALLOWED, &how)));
  EXPECT_EQ(how, BYRE_COPIED);
}

TEST(CStorages, last_owner_writes_in_place_and_is_cloned_again) {
  CStorage storage, clone;
  make(storage, "cows");
  const void* const place = byre_storage_data(storage);
  {
    CStorage released;
    ASSERT_TRUE(ok(byre_storage_clone(storage, released.result())));
  }
  ASSERT_TRUE(ok(write(storage, "m")));
  EXPECT_EQ(byre_storage_data(storage), place);
  ASSERT_TRUE(ok(byre_storage_clone(storage, clone.result())));
  ASSERT_TRUE(ok(write(clone, "r")));
  EXPECT_EQ(text_of(storage), "mows");
  EXPECT_EQ(text_of(clone), "rows");
}

}  // namespace
}  // namespace byre::test
