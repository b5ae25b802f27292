// SPDX-License-Identifier: BSL-1.0
/// Threads that export, import, write, drop and collect at once.
#include <byre/ipc/send.hpp>
#include <byre/observe/counters.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/system/detail/memory.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <thread>
#include <vector>

#include "../pages/paged_buffers.hpp"

namespace byre::test {
namespace {

constexpr std::size_t shared_nbytes = least_paged_nbytes;
constexpr int thread_count = 4;
constexpr int step_count = 200;

/// Runs `work(index)` on several thread_count.
template <class Work>
void on_threads(const Work& work) {
  std::vector<std::thread> running;
  for (int index = 0; index < thread_count; ++index) {
    running.emplace_back([&work, index] { work(index); });
  }
  for (std::thread& thread : running) {
    thread.join();
  }
}

Buffer sent_by_thread(const Buffer& buffer) {
  const ExportedPages exported = export_pages(buffer);
  EXPECT_EQ(exported.copied_nbytes() % system::actual_page_nbytes(), 0U);
  return import_pages(exported.message(), exported.descriptors());
}

TEST(ExportingThreads, write_only_what_they_own) {
  const Buffer shared = filled(std::byte{1}, shared_nbytes);
  on_threads([&](int index) {
    const auto own = static_cast<std::byte>(index + 2);
    Buffer clone = shared;
    Buffer imported = sent_by_thread(shared);
    for (int step = 0; step < step_count; ++step) {
      const auto at = static_cast<std::size_t>(step) * 997 % shared_nbytes;
      EXPECT_EQ(shared.data()[at], std::byte{1});
      clone.mutable_data()[at] = own;
      EXPECT_EQ(imported.data()[at], std::byte{1});
      imported = sent_by_thread(step % 3 == 0 ? shared : clone);
      EXPECT_EQ(imported.data()[at], step % 3 == 0 ? std::byte{1} : own);
      imported.mutable_data()[0] = own;
      if (step % 7 == 0) {
        collect();
        clone = shared;
      }
      imported = sent_by_thread(shared);
    }
  });
  EXPECT_TRUE(is_all(shared, std::byte{1}));
}

TEST(ExportingThreads, find_the_end_of_views_while_others_export) {
  collect();
  Buffer buffer = filled(std::byte{1}, shared_nbytes);
  on_threads([&](int index) {
    for (int step = 0; step < step_count; ++step) {
      if (index == 0) {
        collect();
      } else {
        EXPECT_TRUE(is_all(sent_by_thread(buffer), std::byte{1}));
      }
    }
  });
  EXPECT_EQ(collect().remaining, 0U);
  EXPECT_TRUE(buffer.is_unique());
  EXPECT_EQ(buffer.materialize(), Materialized::already_unique);
}

TEST(ExportingThreads, release_data_that_all_of_them_dropped) {
  collect();
  const auto before = stats::snapshot();
  std::vector<Buffer> clones(thread_count, filled(std::byte{1}, shared_nbytes));
  on_threads([&](int index) {
    Buffer& clone = clones[static_cast<std::size_t>(index)];
    for (int step = 0; step < step_count; ++step) {
      const Buffer view = sent_by_thread(clone);
      Buffer other = clone;
      other.mutable_data()[7] = std::byte{2};
      EXPECT_EQ(view.data()[7], std::byte{1});
    }
    clone = Buffer();
  });
  EXPECT_EQ(collect().remaining, 0U);
  EXPECT_EQ((stats::snapshot() - before).live_bytes, 0);
}

}  // namespace
}  // namespace byre::test
