// SPDX-License-Identifier: BSL-1.0
// A checked build treats an export as a lazy clone. Compiled only in checked builds.
#include <byre/ipc/exported_pages.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/storage.hpp>

#include <gtest/gtest.h>

#include <cstddef>

#include "stale_pointer.hpp"

namespace byre::test {
namespace {

TEST(ExportsDeathTest, a_write_through_a_pointer_from_before_is_reported) {
  Storage storage = Storage::allocate(least_paged_nbytes, paged_allocator());
  const Lines lines{__LINE__ + 1, __LINE__ + 2};
  std::byte* const stale = storage.mutable_data();
  export_pages(storage);
  EXPECT_DEATH(stale[5] = {}, fault_report(5, least_paged_nbytes, lines));
  storage.mutable_data()[5] = std::byte{1};
  EXPECT_EQ(storage.data()[5], std::byte{1});
}

}  // namespace
}  // namespace byre::test
