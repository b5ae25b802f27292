// SPDX-License-Identifier: BSL-1.0
/// Data in pages, and a process that forks: neither sees what the other writes.
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

#include "children.hpp"
#include "paged_buffers.hpp"

namespace byre::test {
namespace {

TEST(PagedForks, what_a_child_writes_its_parent_does_not_see) {
  Buffer buffer = filled(std::byte{1});
  Buffer shared = filled(std::byte{5});
  Buffer overlay = shared;
  overlay.mutable_data()[0] = std::byte{6};
  in_a_child([&] {
    std::memset(buffer.mutable_data(), 2, paged_nbytes);
    overlay.mutable_data()[1] = std::byte{7};
    Buffer clone = buffer;
    clone.mutable_data()[3] = std::byte{9};
    EXPECT_TRUE(is_all(buffer, std::byte{2}));
    EXPECT_EQ(clone.data()[3], std::byte{9});
    EXPECT_EQ(clone.data()[4], std::byte{2});
    EXPECT_EQ(overlay.data()[0], std::byte{6});
    EXPECT_EQ(shared.data()[1], std::byte{5});
  });
  EXPECT_TRUE(is_all(buffer, std::byte{1}));
  EXPECT_EQ(overlay.data()[1], std::byte{5});
}

TEST(PagedForks, what_a_parent_writes_its_child_does_not_see) {
  Buffer buffer = filled(std::byte{1});
  const LateChild child([&] { return is_all(buffer, std::byte{1}); });
  std::memset(buffer.mutable_data(), 2, paged_nbytes);
  buffer = Buffer();
  child.expect_right();
}

TEST(PagedForks, what_a_parent_would_write_back_its_child_does_not_see) {
  Buffer overlay = filled(std::byte{1});
  {
    const Buffer base = overlay;
    overlay.mutable_data()[0] = std::byte{2};
  }
  const LateChild child(
      [&] { return overlay.data()[0] == std::byte{2} && overlay.data()[5000] == std::byte{1}; });
  overlay.mutable_data()[5000] = std::byte{3};
  Buffer clone = overlay;
  EXPECT_EQ(clone.materialize(), Materialized::overlaid);
  EXPECT_EQ(clone.data()[5000], std::byte{3});
  child.expect_right();
}

TEST(PagedForks, overlays_after_a_fork_have_what_was_written_since) {
  Buffer buffer = filled(std::byte{1});
  in_a_child([] {});
  buffer.mutable_data()[5] = std::byte{2};
  Buffer clone = buffer;
  clone.mutable_data()[6] = std::byte{3};
  EXPECT_EQ(clone.data()[5], std::byte{2});
  EXPECT_EQ(buffer.data()[6], std::byte{1});
}

}  // namespace
}  // namespace byre::test
