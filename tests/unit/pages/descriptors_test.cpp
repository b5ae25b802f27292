// SPDX-License-Identifier: BSL-1.0
/// The descriptor of paged memory in programs that close all descriptors or start without standard
/// streams. Also paged memory on older or locked-down systems.
#include <byre/memory/pages.hpp>
#include <byre/pages/detail/page_file.hpp>
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>

#include "children.hpp"
#include "paged_buffers.hpp"
#include "support/emulated.hpp"
#include "support/features.hpp"
#include "support/temporary_folder.hpp"
#include "support/watched_system.hpp"

namespace byre::test {
namespace {

/// The descriptor of this process's memory file, or -1 if no memory file is open.
int memory_file() {
  for (const auto& [number, name] : open_files()) {
    if (is_memory_file(name)) {
      return number;
    }
  }
  return -1;
}

class PagedDescriptors : public testing::Test {
 protected:
  PagedDescriptors() { write_file(foreign_, contents_); }

  const TemporaryFolder folder_;
  const std::filesystem::path foreign_ = folder_ / "foreign";
  const std::string contents_ = std::string(std::size_t{32} << 20, 'f');
};

TEST_F(PagedDescriptors, a_user_file_under_byres_descriptor_number_is_unchanged) {
  in_a_child([this] {
    std::optional<Buffer> dropped = filled(std::byte{1});
    Buffer kept = filled(std::byte{2});
    Buffer overlay = kept;
    overlay.mutable_data()[0] = std::byte{3};
    Buffer alone = filled(std::byte{4});
    alone = [&] {
      Buffer written = alone;
      written.mutable_data()[0] = std::byte{5};
      return written;
    }();
    reuse_all_numbers(foreign_);
    dropped.reset();
    Buffer clone = kept;
    EXPECT_EQ(clone.materialize(), Materialized::copied);
    EXPECT_TRUE(is_all(clone, std::byte{2}));
    Buffer second = overlay;
    second.mutable_data()[1] = std::byte{6};
    EXPECT_EQ(second.data()[0], std::byte{3});
    EXPECT_EQ(second.data()[2], std::byte{2});
    Buffer written_back = alone;
    written_back.mutable_data()[1] = std::byte{7};
    EXPECT_EQ(written_back.data()[0], std::byte{5});
    EXPECT_EQ(written_back.data()[2], std::byte{4});
    EXPECT_EQ(alone.data()[1], std::byte{4});
    EXPECT_EQ(filled(std::byte{8}).origin(), Origin::paged);
    overlay = kept = second = Buffer();
    EXPECT_EQ(read_file(foreign_), contents_);
  });
}

TEST_F(PagedDescriptors, a_user_file_that_takes_the_descriptor_in_a_write_is_unused) {
  for (int maps_before = 0; maps_before < 3; ++maps_before) {
    in_a_child([this, maps_before] {
      Buffer clone = filled(std::byte{1});
      const Buffer buffer = clone;
      WatchedSystem system;
      system.before_mapping = [this, left = maps_before]() mutable {
        if (left-- == 0) {
          reuse_all_numbers(foreign_);
        }
      };
      clone.materialize();
      EXPECT_TRUE(is_all(clone, std::byte{1})) << maps_before;
    });
  }
}

TEST_F(PagedDescriptors, copies_after_a_lost_descriptor_leak_no_addresses) {
  in_a_child([this] {
    const Buffer buffer = filled(std::byte{1});
    reuse_all_numbers(foreign_);
    const auto copy = [&] {
      Buffer clone = buffer;
      EXPECT_EQ(clone.materialize(), Materialized::copied);
    };
    copy();
    const std::size_t before = address_space_nbytes();
    for (int times = 0; times < 8; ++times) {
      copy();
    }
    EXPECT_LT(address_space_nbytes(), before + 2 * paged_nbytes);
  });
}

TEST_F(PagedDescriptors, a_fork_after_a_lost_descriptor_preserves_parent_and_file) {
  in_a_child([this] {
    Buffer buffer = filled(std::byte{1});
    reuse_all_numbers(foreign_);
    in_a_child([] {});
    EXPECT_TRUE(is_all(buffer, std::byte{1}));
    EXPECT_EQ(buffer.materialize(), Materialized::already_unique);
    Buffer later = filled(std::byte{2});
    in_a_child([&] { EXPECT_TRUE(is_all(later, std::byte{2})); });
    buffer = Buffer();
    EXPECT_EQ(read_file(foreign_), contents_);
  });
}

TEST_F(PagedDescriptors, the_descriptor_never_has_the_number_of_a_standard_stream) {
  in_a_child([] {
    for (int number = 0; number < most_files; ++number) {
      ::close(number);
    }
    Buffer buffer = filled(std::byte{1});
    Buffer clone = buffer;
    clone.mutable_data()[0] = std::byte{2};
    Buffer second = clone;
    second.mutable_data()[1] = std::byte{3};
    EXPECT_EQ(second.origin(), Origin::overlay);
    for (int number = 0; number < 3; ++number) {
      EXPECT_EQ(::fcntl(number, F_GETFD), -1) << number;
    }
    EXPECT_GE(memory_file(), 3);
  });
}

TEST_F(PagedDescriptors, the_descriptor_is_closed_on_exec) {
  const Buffer buffer = filled(std::byte{1});
  const int number = memory_file();
  ASSERT_GE(number, 3);
  EXPECT_EQ(::fcntl(number, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST_F(PagedDescriptors, memory_files_work_with_and_without_the_noexec_seal) {
  if (is_emulated()) {
    GTEST_SKIP() << "an emulator handles seals itself";
  }
  in_a_child([] {
    for (const bool has_seal : {true, false}) {
      WatchedSystem system;
      system.has_noexec_seal = has_seal;
      system.wants_noexec_seal = has_seal;
      in_a_child([] { EXPECT_EQ(filled(std::byte{1}).origin(), Origin::paged); });
    }
  });
}

TEST_F(PagedDescriptors, a_fork_closes_an_unused_memory_file) {
  in_a_child([] {
    WatchedSystem system;
    system.has_many_descriptors = false;
    for (int round = 0; round < 3; ++round) {
      (void)filled(std::byte{1});
      EXPECT_GE(memory_file(), 0);
      in_a_child([] {});
      EXPECT_EQ(memory_file(), -1) << round;
    }
  });
}

/// Older systems report written pages only through the page map, and locked-down systems do not
/// report them.
class OldSystem : public testing::TestWithParam<bool> {
 protected:
  OldSystem() {
    system_.has_pagemap_scan = false;
    system_.has_pagemap = GetParam();
  }

  WatchedSystem system_;
};

TEST_P(OldSystem, a_clone_of_an_overlay_contains_the_overlays_writes) {
  constexpr std::size_t nbytes = 1000 * page_nbytes - 5;
  Buffer base = filled(std::byte{1}, nbytes);
  Buffer overlay = base;
  const std::size_t places[] = {
      0,         3 * page_nbytes - 1, 7 * page_nbytes + 5, 511 * page_nbytes, 512 * page_nbytes,
      nbytes - 1};
  for (const std::size_t place : places) {
    overlay.mutable_data()[place] = std::byte{2};
  }
  for (const bool is_written_back : {false, true}) {
    if (is_written_back) {
      base = Buffer();
    }
    Buffer clone = overlay;
    ASSERT_EQ(clone.materialize(), Materialized::overlaid);
    ASSERT_EQ(std::memcmp(clone.data(), overlay.data(), nbytes), 0);
    for (const std::size_t place : places) {
      EXPECT_EQ(clone.data()[place], std::byte{2});
    }
  }
}

TEST_P(OldSystem, a_write_to_a_mapped_files_last_byte_reaches_later_clones) {
  const TemporaryFolder folder;
  constexpr std::size_t nbytes = 100 * page_nbytes + 5;
  write_file(folder / "file", std::string(nbytes, 'f'));
  Buffer overlay = Buffer::map_file(folder / "file");
  overlay.mutable_data()[nbytes - 1] = std::byte{'w'};
  Buffer clone = overlay;
  ASSERT_EQ(clone.materialize(), Materialized::overlaid);
  EXPECT_EQ(clone.data()[nbytes - 1], std::byte{'w'});
  EXPECT_EQ(clone.data()[nbytes - 2], std::byte{'f'});
  if (!is_emulated()) {
    EXPECT_EQ(
        detail::count_written_pages(overlay.data(), nbytes),
        GetParam() && uses("pagemap") ? static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) : 0);
  }
}

INSTANTIATE_TEST_SUITE_P(WithPagemap, OldSystem, testing::Bool());

TEST(OldSystems, a_system_without_memory_files_uses_ordinary_memory) {
  WatchedSystem system;
  system.has_memory_files = false;
  // Tested in a child, because the parent already has a memory file and would continue to use it.
  in_a_child([] { EXPECT_EQ(filled(std::byte{1}).origin(), Origin::allocated); });
}

}  // namespace
}  // namespace byre::test
