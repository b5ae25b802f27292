// SPDX-License-Identifier: BSL-1.0
/// Destroyed data in pages leaves no mapping, file or memory behind. Measured in a child process.
#include <byre/memory/pages.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include "children.hpp"
#include "paged_buffers.hpp"
#include "support/emulated.hpp"
#include "support/failing_new.hpp"
#include "support/features.hpp"
#include "support/temporary_folder.hpp"
#include "support/watched_system.hpp"

namespace byre::test {
namespace {

constexpr const char* file_name = "mapped.weights";

/// The process's mappings and memory of memory files and of the mapped test file, and all its
/// open files.
struct Usage {
  std::size_t mappings = 0;
  std::size_t open_files = 0;
  std::size_t memory_nbytes = 0;

  friend bool operator==(const Usage&, const Usage&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Usage& usage) {
    return out << usage.mappings << " mappings, " << usage.open_files << " files, "
               << usage.memory_nbytes << " bytes";
  }
};

bool is_ours(const std::string& name) {
  return is_memory_file(name) || name.find(file_name) != std::string::npos;
}

Usage measure_usage() {
  Usage usage{.mappings = count_mappings(is_ours)};
  for (const auto& [number, name] : open_files()) {
    ++usage.open_files;
    usage.memory_nbytes += is_ours(name) ? memory_nbytes(number) : 0;
  }
  return usage;
}

class PageLeaks : public testing::Test {
 protected:
  PageLeaks() { write_file(folder_ / file_name, std::string(least_paged_nbytes, 'f')); }

  /// Runs `work` twice in a child. Expects no mappings after the first run, and no more files and
  /// memory after the second run than after the first run.
  static void expect_nothing_is_left(const std::function<void()>& work) {
    if (is_emulated()) {
      GTEST_SKIP() << "an emulator shows its own mappings";
    }
    in_a_child([&] {
      work();
      const Usage before = measure_usage();
      EXPECT_EQ(before.mappings, 0U);
      work();
      EXPECT_EQ(measure_usage(), before);
    });
  }

  static Buffer in_memory_file() { return filled(std::byte{1}, least_paged_nbytes); }
  Buffer in_mapped_file() const { return Buffer::map_file(folder_ / file_name); }

  const TemporaryFolder folder_;
};

TEST_F(PageLeaks, files_and_overlays_destroyed_in_any_order_leak_nothing) {
  expect_nothing_is_left([this] {
    for (const bool is_mapped : {false, true}) {
      for (const bool is_file_first : {false, true}) {
        std::optional<Buffer> file = is_mapped ? in_mapped_file() : in_memory_file();
        std::optional<Buffer> overlay = *file;
        overlay->mutable_data()[0] = std::byte{2};
        std::optional<Buffer> second = *overlay;
        second->mutable_data()[page_nbytes] = std::byte{3};
        (is_file_first ? file : overlay).reset();
        Buffer third = *second;
        third.mutable_data()[1] = std::byte{4};
        EXPECT_EQ(third.origin(), Origin::overlay);
        second.reset();
        Buffer fourth = third;  // the write below may write pages back to a memory file
        fourth.mutable_data()[2] = std::byte{5};
        (is_file_first ? overlay : file).reset();
      }
    }
  });
}

TEST_F(PageLeaks, writable_clones_destroyed_in_any_order_leak_nothing) {
  expect_nothing_is_left([this] {
    for (const bool is_mapped : {false, true}) {
      for (const bool is_source_first : {false, true}) {
        std::optional<Buffer> source = is_mapped ? in_mapped_file() : in_memory_file();
        std::optional<Buffer> clone = source->writable_clone();
        source->mutable_data()[0] = std::byte{2};
        const Buffer second = source->writable_clone();
        std::memset(source->mutable_data(), 3, least_paged_nbytes);
        Buffer third = source->writable_clone();  // moves to a new file
        (is_source_first ? source : clone).reset();
        third.mutable_data()[1] = std::byte{4};
        const Buffer fourth = third.writable_clone();
        EXPECT_EQ(fourth.origin(), Origin::overlay);
        in_a_child([] {});
        (is_source_first ? clone : source).reset();
        third.mutable_data()[2] = std::byte{5};
        const Buffer fifth = third.writable_clone();
      }
    }
    (void)in_memory_file();  // closes the memory file that was used before the forks
  });
}

TEST_F(PageLeaks, failed_writable_clones_leak_nothing) {
  enum class Refused : std::uint8_t { move, map, heap };
  const auto clone_without = [](Refused refused, int nth, bool is_written) {
    Buffer source = in_memory_file();
    const Buffer first = is_written ? source.writable_clone() : Buffer();
    std::memset(source.mutable_data(), 2, least_paged_nbytes);
    const std::ptrdiff_t alive = live_new_count;
    const std::byte* const place = source.data();
    const Origin origin = source.origin();
    const void* const file = source.memory_id();
    try {
      std::optional<FailingNew> failing;
      std::optional<WatchedSystem> system;
      if (refused == Refused::heap) {
        failing.emplace(nth);
      } else {
        system.emplace();
        system->moves = refused != Refused::move;
        system->refuse_maps(refused == Refused::map ? 1 : 0, static_cast<std::size_t>(nth));
      }
      source.writable_clone();
    } catch (const OutOfMemory&) {
    }
    EXPECT_EQ(source.data(), place);
    if (source.origin() == origin && source.memory_id() == file) {
      EXPECT_EQ(live_new_count, alive) << nth;
    }
  };
  expect_nothing_is_left([&] {
    for (const bool is_written : {false, true}) {
      for (int nth = 0; nth < 10; ++nth) {
        for (const Refused refused : {Refused::move, Refused::map, Refused::heap}) {
          clone_without(refused, nth, is_written);
        }
      }
    }
  });
}

TEST_F(PageLeaks, overlays_that_fail_for_lack_of_memory_leak_nothing) {
  if (!uses("populate")) {
    GTEST_SKIP() << "the library does not populate pages";
  }
  expect_nothing_is_left([this] {
    for (const bool is_mapped : {false, true}) {
      const Buffer file = is_mapped ? in_mapped_file() : in_memory_file();
      Buffer overlay = file;
      overlay.mutable_data()[0] = std::byte{2};
      const std::size_t mappings = measure_usage().mappings;
      Buffer clone = overlay;
      {
        WatchedSystem system;
        system.fail_after(0);
        EXPECT_EQ(clone.materialize(), Materialized::copied);
      }
      EXPECT_EQ(
          std::memcmp(std::as_const(clone).data(), std::as_const(overlay).data(), clone.nbytes()),
          0);
      EXPECT_EQ(measure_usage().mappings, mappings + (clone.origin() == Origin::paged ? 1 : 0));
      Buffer other = overlay;
      {
        const FailingNew failing(0, Failures::all_that_follow);
        EXPECT_THROW(other.materialize(), OutOfMemory);
      }
      EXPECT_EQ(measure_usage().mappings, mappings + (clone.origin() == Origin::paged ? 1 : 0));
    }
  });
}

TEST_F(PageLeaks, locked_data_leaks_nothing) {
  expect_nothing_is_left([] {
    const Buffer buffer = in_memory_file();
    if (::mlock(buffer.data(), page_nbytes) != 0) {
      GTEST_SKIP() << "this process may not lock memory";
    }
  });
}

TEST_F(PageLeaks, data_inherited_by_forks_leaks_nothing) {
  expect_nothing_is_left([] {
    Buffer oldest = in_memory_file();
    for (int fork = 0; fork < 3; ++fork) {
      Buffer buffer = in_memory_file();
      Buffer overlay = buffer;
      overlay.mutable_data()[0] = std::byte{2};
      in_a_child([] {});
      buffer.mutable_data()[1] = std::byte{3};
    }
    oldest = in_memory_file();  // closes the memory file that was used before the forks
  });
}

}  // namespace
}  // namespace byre::test
