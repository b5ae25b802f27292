// SPDX-License-Identifier: BSL-1.0
// Foreign memory: adopted, aliased and borrowed. stress/programs compares writes, clones and
// resizes of foreign memory with a model.
#include <byre/memory/pages.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "support/complaint.hpp"
#include "support/failing_allocator.hpp"
#include "support/protected_pages.hpp"
#include "text.hpp"

namespace byre::test {
namespace {

/// The end of a block of `nbytes` bytes (whole pages), followed by an unreadable page.
std::byte* guarded_end(std::size_t nbytes) {
  std::byte* const end = static_cast<std::byte*>(map_pages(nbytes + page_nbytes)) + nbytes;
  set_access(end, page_nbytes, false);
  return end;
}

// byre copies its own small blocks as whole cache lines, and its own paged data as whole pages.
// Foreign memory may end within a line or page.
TEST(AdoptedMemory, copies_never_read_past_the_end_of_adopted_memory) {
  std::byte* const end = guarded_end(least_paged_nbytes);
  for (const std::size_t nbytes :
       {std::size_t{1}, std::size_t{10}, std::size_t{63}, std::size_t{64}, std::size_t{65},
        std::size_t{200}, std::size_t{256}, std::size_t{257}, least_paged_nbytes}) {
    std::byte* const memory = end - nbytes;
    std::fill(memory, end, std::byte{7});
    Allocator& allocator = nbytes < page_nbytes ? default_allocator() : paged_allocator();
    Buffer adopted = Buffer::adopt(
        memory, nbytes, [](void*) {}, allocator);
    (void)Buffer::allocate(nbytes, allocator);  // puts a block into the thread cache
    Buffer clone = adopted;
    EXPECT_TRUE(std::equal(memory, end, clone.mutable_data())) << nbytes;
    clone = Buffer();
    adopted.resize(nbytes + 150);
    EXPECT_TRUE(std::equal(memory, end, std::as_const(adopted).data())) << nbytes;
  }
}

TEST(AdoptedMemory, is_written_in_place_and_released_once) {
  auto* memory = static_cast<char*>(std::malloc(4));
  std::memcpy(memory, "cows", 4);
  int deleted = 0;
  {
    Buffer buffer = Buffer::adopt(memory, 4, [&](void* data) {
      ++deleted;
      std::free(data);
    });
    EXPECT_EQ(buffer.origin(), Origin::adopted);
    buffer.mutable_data()[0] = std::byte{'r'};
    EXPECT_EQ(buffer.data(), reinterpret_cast<std::byte*>(memory));
    EXPECT_EQ(text_of(buffer), "rows");
  }
  EXPECT_EQ(deleted, 1);
}

TEST(AdoptedMemory, the_deleter_runs_after_the_buffer_refers_to_the_copy) {
  char memory[] = "cow";
  Buffer other;
  FailingAllocator allocator;
  allocator.during_copy([&] { other = Buffer(); });
  const std::function<void(Buffer&)> moves[] = {
      [](Buffer& buffer) { buffer.materialize(); },  // copies, because the memory is read-only
      [](Buffer& buffer) { buffer.resize(100); },
      [](Buffer& buffer) {
        buffer.resize(1);
        buffer.shrink_to_fit();
      },
      [&](Buffer& buffer) {
        other = buffer;
        buffer.materialize();  // the other owner is released during the copy
      }};
  for (std::size_t index = 0; index < std::size(moves); ++index) {
    Origin seen = Origin::borrowed;
    Buffer buffer;
    char large[200]{};
    const auto deleter = [&](void*) { seen = buffer.origin(); };
    buffer = index == 0   ? Buffer::adopt_read_only(memory, 4, deleter)
             : index == 2 ? Buffer::adopt(large, sizeof large, deleter, allocator)
                          : Buffer::adopt(memory, 4, deleter, allocator);
    moves[index](buffer);
    EXPECT_EQ(seen, Origin::allocated) << index;
  }
}

TEST(AdoptedMemory, lazy_clones_share_and_copies_outlive_adopted_memory) {
  int deleted = 0;
  char memory[] = "cow";
  Buffer clone;
  {
    Buffer adopted = Buffer::adopt(memory, 3, [&](void*) { ++deleted; });
    clone = adopted;
    EXPECT_TRUE(clone.shares_data_with(adopted));
    clone.mutable_data()[0] = std::byte{'n'};
    EXPECT_EQ(text_of(adopted), "cow");
    EXPECT_EQ(deleted, 0);
  }
  EXPECT_EQ(deleted, 1);
  EXPECT_EQ(text_of(clone), "now");
  EXPECT_EQ(clone.origin(), Origin::allocated);
}

TEST(AdoptedMemory, takes_deleters_of_any_type) {
  EXPECT_EQ(Buffer::adopt(std::malloc(8), 8, &std::free).nbytes(), 8U);
  int deleted = 0;
  std::function<void(void*)> deleter = [&](void*) { ++deleted; };
  char byte{};
  Buffer::adopt(&byte, 1, deleter);
  EXPECT_EQ(deleted, 1);
  auto keeper = std::make_unique<std::string>("kept alive by the deleter");
  char* data = keeper->data();
  const std::size_t nbytes = keeper->size();
  Buffer buffer = Buffer::adopt(data, nbytes, [kept = std::move(keeper)](void*) mutable {
    EXPECT_NE(kept, nullptr);
    kept.reset();
  });
  EXPECT_EQ(text_of(buffer), "kept alive by the deleter");
}

TEST(ForeignMemory, rejected_memory_is_released_once_and_the_error_says_why) {
  int deleted = 0;
  const auto deleter = [&](void*) { ++deleted; };
  char byte{};
  void* const null = nullptr;
  const void* const null_const = nullptr;
  constexpr auto most = static_cast<std::size_t>(-1);
  const struct {
    std::function<void()> make;
    const char* says;
    int released = 1;
  } refused[] = {
      {[&] { Buffer::adopt(null, 8, deleter); }, "null pointer to 8 bytes"},
      {[&] { Buffer::adopt(&byte, most, deleter); }, "size out of range"},
      {[&] { Buffer::adopt_aliased(null, 1, deleter); }, "Buffer::adopt_aliased"},
      {[&] { Buffer::adopt_aliased(null_const, 1, deleter); }, "Buffer::adopt_aliased"},
      {[&] { Buffer::borrow(null, 1); }, "Buffer::borrow", 0},
      {[&] { Buffer::adopt(&byte, 1, std::function<void(void*)>()); }, "null deleter", 0},
      {[&] { Buffer::adopt(&byte, 1, static_cast<void (*)(void*)>(nullptr)); }, "null deleter", 0},
      {[&] { Buffer::adopt_aliased(&byte, 1, std::function<void(void*)>()); }, "null deleter", 0},
  };
  for (const auto& each : refused) {
    deleted = 0;
    EXPECT_TRUE(says(complaint_of<InvalidArgument>(each.make), each.says));
    EXPECT_EQ(deleted, each.released) << each.says;
  }
  EXPECT_EQ(Buffer::adopt(null, 0, deleter).nbytes(), 0U) << "null must be allowed for 0 bytes";
  EXPECT_EQ(deleted, 1);
  EXPECT_EQ(Buffer::borrow(null, 0).nbytes(), 0U);
}

/// A deleter that throws when it is moved more than `moves_left` times.
struct ThrowsWhenMoved {
  explicit ThrowsWhenMoved(int& count) : deleted(&count) {}
  ThrowsWhenMoved(ThrowsWhenMoved&& other) : deleted(other.deleted) {
    if (--moves_left < 0) {
      throw std::runtime_error("do not move me");
    }
  }
  ThrowsWhenMoved& operator=(ThrowsWhenMoved&&) = delete;
  void operator()(void*) const { ++*deleted; }
  int* deleted;
  inline static int moves_left = 0;
};

TEST(AdoptedMemory, is_released_once_even_if_moving_the_deleter_throws) {
  char byte{};
  for (int moves = 0; moves < 3; ++moves) {
    int deleted = 0;
    ThrowsWhenMoved::moves_left = moves;
    try {
      Buffer::adopt(&byte, 1, ThrowsWhenMoved(deleted));
    } catch (const std::runtime_error&) {
    }
    EXPECT_EQ(deleted, 1) << "with " << moves << " moves";
  }
}

}  // namespace
}  // namespace byre::test
