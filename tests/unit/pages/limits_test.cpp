// SPDX-License-Identifier: BSL-1.0
/// Data in pages at limits of the system. Each limit is set in a child process.
#include <byre/memory/pages.hpp>
#include <byre/pages/detail/memory_files.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "children.hpp"
#include "paged_buffers.hpp"
#include "support/emulated.hpp"
#include "support/features.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_folder.hpp"
#include "support/watched_system.hpp"

namespace byre::test {
namespace {

Buffer ones(std::size_t nbytes = paged_nbytes) {
  return filled(std::byte{1}, nbytes);
}

TEST(PagedLimits, a_file_size_limit_makes_new_data_ordinary_memory) {
  constexpr auto most_nbytes = static_cast<rlim_t>(detail::PageArena::most_nbytes);
  for (const auto& [most, origin] : {std::pair(most_nbytes, Origin::paged),
                                     {most_nbytes - 1, Origin::allocated},
                                     {rlim_t{1} << 30, Origin::allocated}}) {
    in_a_child([most = most, origin = origin] {
      WatchedSystem system;
      system.has_many_descriptors = false;
      set_limit(RLIMIT_FSIZE, most);
      EXPECT_EQ(ones().origin(), origin);
    });
  }
}

TEST(PagedLimits, a_private_memory_limit_does_not_count_pages_of_files) {
  if (is_sanitized || is_emulated()) {
    GTEST_SKIP() << "sanitizers and emulators need more memory";
  }
  in_a_child([] {
    set_limit(RLIMIT_DATA, 64 << 20);
    const Buffer buffer = ones(128 << 20);
    EXPECT_EQ(buffer.origin(), Origin::paged);
    EXPECT_TRUE(is_all(buffer, std::byte{1}));
  });
}

TEST(PagedLimits, a_locked_memory_limit_makes_map_file_throw) {
  if (is_sanitized || is_emulated()) {
    GTEST_SKIP() << "sanitizers and emulators need more memory";
  }
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "file";
  write_file(file, std::string(paged_nbytes, 'a'));
  std::filesystem::permissions(file.parent_path(), std::filesystem::perms(0755));
  in_a_child([&] {
    set_limit(RLIMIT_MEMLOCK, 1 << 20);
    ASSERT_TRUE(::geteuid() != 0 || ::setuid(65534) == 0);
    ASSERT_EQ(::mlockall(MCL_FUTURE), 0);
    EXPECT_THROW(Buffer::map_file(file), OutOfMemory);
  });
}

TEST(PagedLimits, a_file_size_limit_set_after_allocation_raises_no_signal) {
  in_a_child([] {
    WatchedSystem system;
    system.has_many_descriptors = false;
    std::optional<Buffer> base = ones();
    Buffer overlay = *base;
    overlay.mutable_data()[5] = std::byte{2};
    base.reset();
    set_limit(RLIMIT_FSIZE, 0);
    Buffer clone = overlay;  // the write below writes pages back to the file
    EXPECT_EQ(clone.materialize(), Materialized::overlaid);
    clone.mutable_data()[6] = std::byte{3};
    EXPECT_EQ(clone.data()[5], std::byte{2});
    EXPECT_EQ(overlay.data()[6], std::byte{1});
    EXPECT_EQ(ones().origin(), Origin::paged);  // in the memory file that already exists
  });
}

TEST(PagedLimits, an_address_space_limit_makes_a_write_throw_without_change) {
  if (is_sanitized || is_emulated()) {
    GTEST_SKIP() << "sanitizers and emulators need address space";
  }
  in_a_child([] {
    Buffer buffer = ones(64 << 20);
    Buffer clone = buffer;
    set_limit(RLIMIT_AS, address_space_nbytes() + (1 << 20));
    EXPECT_THROW(clone.materialize(), OutOfMemory);
    EXPECT_EQ(buffer.use_count(), 2U);
    EXPECT_EQ(clone.data(), buffer.data());
    EXPECT_TRUE(is_all(clone, std::byte{1}));
    set_limit(RLIMIT_AS, RLIM_INFINITY);
    EXPECT_EQ(clone.materialize(), Materialized::overlaid);
    EXPECT_TRUE(is_all(clone, std::byte{1}));
  });
}

TEST(PagedLimits, a_mapping_limit_makes_a_write_copy_or_throw) {
  if (most_mappings() == 0 || is_sanitized || is_emulated()) {
    GTEST_SKIP() << "the limit of mappings is too high to be reached, or is shared with a "
                    "sanitizer or emulator";
  }
  in_a_child([] {
    const Buffer base = ones(least_paged_nbytes);
    std::vector<Buffer> overlays;
    overlays.reserve(100'000);
    Buffer ordinary = Buffer::allocate(least_paged_nbytes);
    const auto write_one_more = [&] {
      overlays.push_back(base);
      return overlays.back().materialize();
    };
    const auto write_all_that_can_be = [&] {
      while (overlays.size() < 100'000) {
        write_one_more();
      }
    };
    EXPECT_THROW(write_all_that_can_be(), OutOfMemory);
    EXPECT_EQ(overlays.back().data(), base.data());
    EXPECT_TRUE(is_all(overlays.back(), std::byte{1}));
    ordinary = Buffer();
    EXPECT_EQ(write_one_more(), Materialized::copied);
    EXPECT_TRUE(is_all(overlays.back(), std::byte{1}));
    overlays.resize(overlays.size() / 2);
    EXPECT_EQ(write_one_more(), Materialized::overlaid);
    EXPECT_TRUE(is_all(base, std::byte{1}));
  });
}

TEST(PagedLimits, an_overlay_reserves_no_memory_before_it_is_written) {
  int overcommit = 2;
  std::ifstream("/proc/sys/vm/overcommit_memory") >> overcommit;
  if (overcommit == 2 || is_emulated()) {
    GTEST_SKIP() << "the system always reserves memory for private mappings";
  }
  const Buffer base = ones();
  Buffer overlay = base;
  ASSERT_EQ(overlay.materialize(), Materialized::overlaid);
  const std::string flags = mapping_field(overlay.data(), "VmFlags:");
  EXPECT_TRUE(flags.empty() || flags.find(" nr") != std::string::npos) << flags;
}

TEST(PagedLimits, locked_pages_are_written_back_and_stay_mapped) {
  std::optional<Buffer> base = ones(least_paged_nbytes);
  Buffer overlay = *base;
  overlay.mutable_data()[0] = std::byte{2};
  base.reset();
  if (::mlock(overlay.data(), page_nbytes) != 0) {
    GTEST_SKIP() << "this process may not lock memory";
  }
  for (int value = 3; value < 5; ++value) {
    Buffer clone = overlay;
    EXPECT_EQ(clone.materialize(), Materialized::overlaid);
    EXPECT_EQ(clone.data()[0], overlay.data()[0]);
    EXPECT_EQ(clone.data()[1], std::byte{1});
    clone = Buffer();
    overlay.mutable_data()[0] = static_cast<std::byte>(value);
  }
}

TEST(PagedLimits, with_locked_memory_a_write_during_a_write_back_copies) {
  if (!uses("populate")) {
    GTEST_SKIP() << "the library does not populate pages";
  }
  if (is_sanitized) {
    GTEST_SKIP() << "sanitizers ignore mlockall()";
  }
  in_a_child([] {
    std::optional<Buffer> base = ones(least_paged_nbytes);
    Buffer overlay = *base;
    overlay.mutable_data()[0] = std::byte{2};
    base.reset();
    Buffer first = overlay;
    Buffer second = overlay;
    if (::mlockall(MCL_FUTURE) != 0) {
      return;  // this process may not lock memory
    }
    WatchedSystem system;
    bool is_first = true;
    system.before_populating = [&](const WatchedSystem::Range&) {
      if (std::exchange(is_first, false)) {  // a write during the write-back, as by another thread
        EXPECT_EQ(second.materialize(), Materialized::copied);
      }
    };
    EXPECT_EQ(first.materialize(), Materialized::overlaid);
    EXPECT_FALSE(is_first);
    for (const Buffer* const each : {&overlay, &first, &second}) {
      EXPECT_EQ(each->data()[0], std::byte{2});
      EXPECT_EQ(each->data()[1], std::byte{1});
    }
  });
}

TEST(PagedLimits, with_locked_memory_a_write_to_an_overlays_clone_copies) {
  if (!uses("pagemap")) {
    GTEST_SKIP() << "compared with the file, few pages were written";
  }
  if (is_sanitized) {
    GTEST_SKIP() << "sanitizers ignore mlockall()";
  }
  in_a_child([] {
    if (::mlockall(MCL_FUTURE) != 0) {
      return;  // this process may not lock memory
    }
    const Buffer base = ones(least_paged_nbytes);
    Buffer overlay = base;
    overlay.mutable_data()[0] = std::byte{2};
    EXPECT_EQ(overlay.origin(), Origin::overlay);
    Buffer clone = overlay;
    EXPECT_EQ(clone.materialize(), Materialized::copied);  // mlockall() made all pages private
    clone.mutable_data()[1] = std::byte{3};
    EXPECT_EQ(clone.data()[0], std::byte{2});
    EXPECT_EQ(overlay.data()[1], std::byte{1});
    EXPECT_TRUE(is_all(base, std::byte{1}));
  });
}

TEST(PagedLimits, an_overlay_of_a_file_reserves_no_memory_before_a_write) {
  int overcommit = 2;
  std::ifstream("/proc/sys/vm/overcommit_memory") >> overcommit;
  if (overcommit == 2 || is_emulated()) {
    GTEST_SKIP() << "the system always reserves memory for private mappings";
  }
  const TemporaryFolder folder;
  write_file(folder / "file", std::string(paged_nbytes, 'a'));
  Buffer overlay = Buffer::map_file(folder / "file");
  ASSERT_EQ(overlay.materialize(), Materialized::overlaid);
  const std::string flags = mapping_field(overlay.data(), "VmFlags:");
  EXPECT_TRUE(flags.empty() || flags.find(" nr") != std::string::npos) << flags;
}

}  // namespace
}  // namespace byre::test
