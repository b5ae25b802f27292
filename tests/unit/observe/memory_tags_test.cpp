// SPDX-License-Identifier: BSL-1.0
/// Which data has which tag, and which sum of a memory report contains its bytes.
#include <byre/byre.hpp>
#include <byre/memory/host_allocators.hpp>
#include <byre/memory/pool.hpp>
#include <byre/storage/array.hpp>
#include <byre/storage/storage.hpp>
#include <byre/storage/tiles/tiled_buffer.hpp>
#include <byre/system/page_nbytes.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/at_once.hpp"
#include "support/complaint.hpp"
#include "support/queued_device.hpp"
#include "support/temporary_folder.hpp"
#include "tagged.hpp"

namespace byre::test {
namespace {

TEST_F(MemoryReports, the_innermost_scope_of_the_thread_tags_its_data) {
  std::vector<Buffer> kept;
  const ScopedTag outer("outer");
  kept.push_back(plain(1));
  {
    const ScopedTag inner("inner");
    kept.push_back(plain(2));
    on_another_thread([&] { kept.push_back(plain(4)); });
    const ScopedTag none("untagged");
    kept.push_back(plain(8));
  }
  kept.push_back(plain(16));
  EXPECT_EQ(bytes_tagged("outer"), "17 allocated");
  EXPECT_EQ(bytes_tagged("inner"), "2 allocated");
  kept.clear();
  EXPECT_EQ(bytes_tagged("outer") + bytes_tagged("inner"), "");
}

TEST_F(MemoryReports, untagged_data_is_what_the_tags_leave) {
  const auto untagged_bytes = [] {
    for (const auto& [name, nbytes] : memory_report().tags) {
      if (name == "untagged") {
        return nbytes.allocated;
      }
    }
    return std::uint64_t{0};
  };
  const std::uint64_t before = untagged_bytes();
  std::optional<Buffer> early = plain(100);  // before the ledger is in use
  std::optional<Buffer> named = tagged("named", 1000);
  std::optional<Buffer> late = plain(10);
  EXPECT_EQ(untagged_bytes(), before + 110);
  early.reset();
  EXPECT_EQ(untagged_bytes(), before + 10);
  named.reset();
  EXPECT_EQ(untagged_bytes(), before + 10);
  late.reset();
  EXPECT_EQ(untagged_bytes(), before);
}

TEST_F(MemoryReports, sum_up_each_origin_once) {
  const TemporaryFolder folder;
  write_file(folder / "file", std::string(5000, 'x'));
  std::byte memory[3];
  const BytesByOrigin before = memory_report().nbytes;
  std::vector<Buffer> kept = in("origins", [&] {
    std::vector<Buffer> made;
    made.push_back(plain(64));
    made.push_back(Buffer::adopt(memory, 3, [](void*) {}));
    made.push_back(Buffer::adopt_read_only(static_cast<const void*>(memory), 2, [](void*) {}));
    made.push_back(Buffer::adopt_aliased(memory, 3, [](void*) {}));
    made.push_back(Buffer::borrow(memory, 3));
    made.push_back(Buffer::map_file(folder / "file"));
    return made;
  });
  kept.push_back(kept[0]);
  kept.push_back(kept[5]);
  EXPECT_EQ(bytes_tagged("origins"), "64 allocated, 5 adopted, 5000 mapped");
  const MemoryReport report = memory_report();
  EXPECT_EQ(report.nbytes.allocated, before.allocated + 64);
  EXPECT_EQ(report.nbytes.adopted, before.adopted + 5);
  EXPECT_EQ(report.nbytes.mapped, before.mapped + 5000);
  kept.clear();
  EXPECT_EQ(by_origin(memory_report().nbytes), by_origin(before));
}

TEST_F(MemoryReports, tags_sum_up_to_all_bytes_in_descending_order) {
  const Buffer kept[] = {tagged("b", 5000), tagged("a", 5000), tagged("c", 60000)};
  const MemoryReport report = memory_report();
  BytesByOrigin sums;
  std::string names;
  std::uint64_t least = report.nbytes.total();
  for (const auto& [name, nbytes] : report.tags) {
    names += name == "untagged" ? "" : name;
    EXPECT_LE(nbytes.total(), least);
    least = nbytes.total();
    sums.allocated += nbytes.allocated;
    sums.paged += nbytes.paged;
    sums.overlay += nbytes.overlay;
    sums.adopted += nbytes.adopted;
    sums.mapped += nbytes.mapped;
  }
  EXPECT_EQ(names, "cab");
  EXPECT_EQ(by_origin(sums), by_origin(report.nbytes));
}

TEST_F(MemoryReports, a_write_to_shared_data_keeps_its_tag) {
  Buffer source = tagged("source", 100);
  Buffer clone = source;
  const ScopedTag scope("elsewhere");
  source.mutable_data();
  EXPECT_EQ(bytes_tagged("source"), "200 allocated");
  clone = Buffer();
  EXPECT_EQ(bytes_tagged("source"), "100 allocated");
  EXPECT_EQ(bytes_tagged("elsewhere"), "");
}

TEST_F(MemoryReports, resized_data_keeps_its_tag) {
  Buffer source = tagged("source", 100);
  const ScopedTag scope("elsewhere");
  source.resize(1000);
  EXPECT_EQ(bytes_tagged("source"), "1000 allocated");
  source.resize(64);
  source.shrink_to_fit();
  EXPECT_EQ(bytes_tagged("source"), "64 allocated");
  EXPECT_EQ(bytes_tagged("elsewhere"), "");
}

TEST_F(MemoryReports, a_writable_clone_has_the_tag_of_its_source) {
  Buffer source = tagged("source", 100);
  const ScopedTag scope("elsewhere");
  const Buffer clone = source.writable_clone();
  EXPECT_EQ(bytes_tagged("source"), "200 allocated");
  EXPECT_EQ(bytes_tagged("elsewhere"), "");
}

TEST_F(MemoryReports, copies_of_memory_of_others_have_its_tag) {
  std::byte memory[1000];
  const void* const constant = memory;
  const Buffer borrowed =
      in("source", [&] { return Buffer::borrow(memory, 100, aligned_allocator()); });
  const Buffer aliased = in("source", [&] {
    return Buffer::adopt_aliased(
        memory, 100, [](void*) {}, aligned_allocator());
  });
  Buffer read_only = in("source", [&] {
    return Buffer::adopt_read_only(
        constant, 1000, [](void*) {}, aligned_allocator());
  });
  Storage pinned(tagged("source", 10000));
  const Pin pin = pinned.pin();
  const ScopedTag scope("elsewhere");
  EXPECT_EQ(bytes_tagged("source"), "10000 allocated, 1000 adopted");
  const Buffer copies[] = {borrowed, aliased};
  EXPECT_EQ(bytes_tagged("source"), "10200 allocated, 1000 adopted");
  read_only.resize(900);  // in place
  read_only.mutable_data();
  EXPECT_EQ(bytes_tagged("source"), "11100 allocated");
  const Storage copy = pinned.lazy_clone();
  EXPECT_EQ(bytes_tagged("source"), "21100 allocated");
  EXPECT_EQ(bytes_tagged("elsewhere"), "");
}

TEST_F(MemoryReports, copies_of_untagged_data_are_untagged) {
  Buffer source = plain(100);
  const Buffer clone = source;
  const ScopedTag scope("elsewhere");
  source.mutable_data();
  EXPECT_EQ(bytes_tagged("elsewhere"), "");
}

TEST_F(MemoryReports, a_grown_array_keeps_its_tag) {
  Array<int> numbers = in("numbers", [] { return Array<int>::filled(100, 1); });
  Array<int> clone = numbers;
  const ScopedTag scope("elsewhere");
  clone.resize(200);
  EXPECT_EQ(bytes_tagged("elsewhere"), "");
  EXPECT_GE(std::stoul(bytes_tagged("numbers")), 1200U);
}

/// A device that ends a copy, and so may release its source, before submit_copy() returns.
class QuickDevice final : public Allocator {
 public:
  QuickDevice() : Allocator(Device(7, 0), CopiesEnd::later) {}
  Block allocate(const Request& request) override { return aligned_allocator().allocate(request); }
  void deallocate(const Block& block) noexcept override { aligned_allocator().deallocate(block); }
  Block submit_copy(const Request& request, const void* source, std::size_t nbytes,
                    PendingCopy& pending) override {
    const Block block = allocate_copy(request, source, nbytes);
    PendingCopy(std::move(pending)).end();
    return block;
  }
  const char* name() const noexcept override { return "quick device"; }
};

TEST_F(MemoryReports, a_submitted_copy_keeps_the_tag_of_a_released_source) {
  QuickDevice device;
  bool is_released = false;
  std::byte memory[64] = {};
  Buffer data = in("source", [&] {
    return Buffer::adopt_read_only(
        static_cast<const void*>(memory), 64, [&](void*) { is_released = true; }, device);
  });
  const ScopedTag scope("elsewhere");
  data.mutable_data();
  EXPECT_TRUE(is_released);
  EXPECT_EQ(bytes_tagged("source"), "64 allocated");
  EXPECT_EQ(bytes_tagged("elsewhere"), "");
}

TEST_F(MemoryReports, submitted_copies_are_pending_until_they_end) {
  for (const bool at_once : {false, true}) {
    QueuedDevice device(CopiesEnd::later);
    device.copies_at_once = at_once;
    Buffer source = in("source", [&] { return Buffer::allocate(64, device); });
    std::vector<std::byte> bytes(64);
    Buffer read_only = in("read only", [&] {
      return Buffer::adopt_read_only(
          bytes.data(), 64, [](void*) {}, device);
    });
    Buffer clone = source;
    const ScopedTag scope("elsewhere");
    source.mutable_data();
    clone = Buffer();
    const std::uint64_t pending = memory_report().pending;
    EXPECT_EQ(pending, at_once ? 0U : 64U);
    read_only.mutable_data();
    EXPECT_EQ(memory_report().pending, 2 * pending);
    device.run();
    EXPECT_EQ(memory_report().pending, 0U);
    EXPECT_EQ(bytes_tagged("source"), "64 allocated");
    EXPECT_EQ(bytes_tagged("read only"), "64 allocated");
    EXPECT_EQ(bytes_tagged("elsewhere"), "");
  }
}

TEST_F(MemoryReports, a_failed_submission_is_not_pending) {
  QueuedDevice device(CopiesEnd::later);
  Buffer source = Buffer::allocate(64, device);
  const Buffer clone = source;
  device.fails_to_submit = true;
  EXPECT_THROW(source.mutable_data(), std::runtime_error);
  EXPECT_EQ(memory_report().pending, 0U);
}

TEST_F(MemoryReports, tiles_and_their_copies_have_the_tag_of_the_table) {
  constexpr std::size_t tile = 4096;
  TiledBuffer table = in("table", [] {
    TiledBuffer made(8 * tile, aligned_allocator(), tile);
    const std::vector<std::byte> bytes(8 * tile, std::byte{1});
    made.write(0, bytes);
    return made;
  });
  EXPECT_EQ(bytes_tagged("table"), "32768 allocated");
  const TiledBuffer snapshot = table;
  const ScopedTag scope("elsewhere");
  table.mutable_tile(3);
  EXPECT_EQ(bytes_tagged("table"), "36864 allocated");
  EXPECT_EQ(bytes_tagged("elsewhere"), "");
}

TEST_F(MemoryReports, data_may_be_released_on_other_threads) {
  std::vector<Buffer> kept;
  {
    const ScopedTag scope("moved");
    for (int number = 0; number < 100; ++number) {
      kept.push_back(plain(1));
    }
  }
  EXPECT_EQ(bytes_tagged("moved"), "100 allocated");
  at_once(4, [&](std::size_t thread) {
    for (std::size_t number = thread; number < kept.size(); number += 4) {
      kept[number] = Buffer();
    }
  });
  EXPECT_EQ(bytes_tagged("moved"), "");
  EXPECT_FALSE(is_listening());
}

TEST_F(MemoryReports, threads_tag_copy_and_release_while_another_reports) {
  at_once(4, [](std::size_t thread) {
    const std::string name = "thread " + std::to_string(thread);
    for (int round = 0; round < 200; ++round) {
      const ScopedTag scope(name);
      Buffer buffer = plain(64);
      const Buffer clone = buffer;
      buffer.mutable_data();
      if (round % 50 == 0) {
        const MemoryReport report = memory_report();
        EXPECT_EQ(bytes_tagged(name, report), "128 allocated");
      }
    }
  });
  EXPECT_FALSE(is_listening());
}

TEST_F(MemoryReports, threads_listen_until_no_scope_and_no_tagged_data_exists) {
  EXPECT_FALSE(is_listening());
  std::optional<Buffer> kept;
  {
    const ScopedTag scope("kept");
    EXPECT_TRUE(is_listening());
    const ScopedTag inner("inner");
    kept = plain(1);
  }
  EXPECT_TRUE(is_listening());
  on_another_thread([] { EXPECT_TRUE(is_listening()); });
  kept.reset();
  EXPECT_FALSE(is_listening());
  on_another_thread([] { EXPECT_FALSE(is_listening()); });
  {
    const ScopedTag scope("kept");
    EXPECT_TRUE(is_listening());
  }
  EXPECT_FALSE(is_listening());
}

TEST_F(MemoryReports, an_empty_name_is_refused) {
  EXPECT_TRUE(says(complaint_of<InvalidArgument>([] { const ScopedTag scope(""); }),
                   "the name has 0 bytes", "Pass a name"));
  EXPECT_FALSE(is_listening());
}

TEST_F(MemoryReports, idle_blocks_and_their_pages_of_headers_are_counted) {
  RecyclingPool pool(std::size_t{64} << 20);
  const MemoryReport before = memory_report();
  std::optional<Buffer> large = Buffer::allocate(std::size_t{1} << 20, pool);
  const MemoryReport with = memory_report();
  EXPECT_EQ(with.nbytes.allocated, before.nbytes.allocated + (1 << 20));
  EXPECT_EQ(with.overhead, before.overhead + page_nbytes);
  EXPECT_EQ(with.total(), before.total() + (1 << 20) + page_nbytes);
  large.reset();
  const MemoryReport idle = memory_report();
  EXPECT_EQ(idle.idle, before.idle + (1 << 20));
  EXPECT_EQ(idle.total(), with.total());
  pool.trim();
  EXPECT_EQ(memory_report().total(), before.total());
}

TEST_F(MemoryReports, untagged_data_that_a_scope_cloned_is_counted_once) {
  const std::uint64_t before = memory_report().nbytes.allocated;
  const Buffer data = plain(1000);
  const Buffer clone = in("checkpoint", [&] { return data; });
  EXPECT_EQ(memory_report().nbytes.allocated, before + 1000);
}

TEST_F(MemoryReports, a_tag_has_the_capacity_of_its_data) {
  const Buffer data = in("pool", [] { return Buffer::allocate((std::size_t{1} << 20) + 1); });
  ASSERT_GT(data.capacity(), data.nbytes());
  EXPECT_EQ(bytes_tagged("pool"), std::to_string(data.capacity()) + " allocated");
}

}  // namespace
}  // namespace byre::test
