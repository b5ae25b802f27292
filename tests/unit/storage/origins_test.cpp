// SPDX-License-Identifier: BSL-1.0
// Memory that byre did not allocate: adopted and borrowed.
#include <byre/memory/pages.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <boost/thread/thread.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "support/complaint.hpp"
#include "support/failing_allocator.hpp"
#include "text.hpp"

namespace byre::test {
namespace {

/// Memory in front of a page that may not be read.
class GuardedPage {
 public:
  /// `nbytes` are whole pages.
  explicit GuardedPage(std::size_t nbytes = page_nbytes)
      : nbytes_(nbytes),
        begin_(static_cast<std::byte*>(::mmap(nullptr, nbytes + page_nbytes, PROT_READ | PROT_WRITE,
                                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    if (begin_ == MAP_FAILED || ::mprotect(end(), page_nbytes, PROT_NONE) != 0) {
      throw std::bad_alloc();
    }
  }
  GuardedPage(const GuardedPage&) = delete;
  GuardedPage& operator=(const GuardedPage&) = delete;
  ~GuardedPage() { ::munmap(begin_, nbytes_ + page_nbytes); }

  std::byte* end() const { return begin_ + nbytes_; }

 private:
  const std::size_t nbytes_;
  std::byte* const begin_;
};

// Small blocks of byre's own are copied by whole lines.
TEST(AdoptedMemory, is_not_read_beyond_its_end) {
  const GuardedPage page;
  for (const std::size_t nbytes : {1U, 10U, 63U, 64U, 65U, 200U, 256U, 257U}) {
    std::byte* const memory = page.end() - nbytes;
    std::fill(memory, page.end(), std::byte{7});
    Buffer adopted = Buffer::adopt(memory, nbytes, [](void*) {});
    Buffer clone = adopted;
    EXPECT_TRUE(std::equal(memory, page.end(), clone.mutable_data())) << nbytes;
    clone = Buffer();
    adopted.resize(nbytes + 150);
    EXPECT_TRUE(std::equal(memory, page.end(), adopted.data())) << nbytes;
  }
}

TEST(AdoptedMemory, that_grows_into_pages_is_not_read_beyond_its_end) {
  const GuardedPage memory(least_paged_nbytes);
  std::byte* const begin = memory.end() - least_paged_nbytes;
  std::fill(begin, memory.end(), std::byte{7});
  Buffer buffer = Buffer::adopt(
      begin, least_paged_nbytes, [](void*) {}, paged_allocator());
  buffer.resize(least_paged_nbytes + 1);
  EXPECT_TRUE(std::equal(begin, memory.end(), std::as_const(buffer).data()));
}

TEST(AdoptedMemory, is_written_in_place_and_deleted_once) {
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

TEST(AdoptedMemory, is_deleted_after_its_buffer_has_a_copy) {
  char memory[] = "cow";
  Buffer other;
  FailingAllocator allocator;
  allocator.during_copy([&] { other = Buffer(); });
  const std::function<void(Buffer&)> moves[] = {
      [](Buffer& buffer) { buffer.materialize(); },  // read-only
      [](Buffer& buffer) { buffer.resize(100); },
      [&](Buffer& buffer) {
        other = buffer;
        buffer.materialize();  // while it copies, the other owner leaves
      }};
  for (std::size_t index = 0; index < std::size(moves); ++index) {
    Origin seen = Origin::borrowed;
    Buffer buffer;
    const auto deleter = [&](void*) { seen = buffer.origin(); };
    buffer = index == 0 ? Buffer::adopt_read_only(memory, 4, deleter)
                        : Buffer::adopt(memory, 4, deleter, allocator);
    moves[index](buffer);
    EXPECT_EQ(seen, Origin::allocated) << index;
  }
}

TEST(AdoptedMemory, is_lazily_cloned_like_any_other_and_outlived_by_its_copies) {
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

TEST(AdoptedMemory, stays_while_its_last_clone_does_which_writes_it_in_place) {
  int deleted = 0;
  char memory[] = "cow";
  Buffer clone;
  {
    const Buffer adopted = Buffer::adopt(memory, 3, [&](void*) { ++deleted; });
    clone = adopted;
  }
  EXPECT_EQ(deleted, 0);
  EXPECT_EQ(clone.materialize(), Materialized::already_unique);
  clone.mutable_data()[0] = std::byte{'n'};
  EXPECT_STREQ(memory, "now");
  clone = Buffer();
  EXPECT_EQ(deleted, 1);
}

TEST(AdoptedMemory, takes_a_deleter_with_state_that_can_only_be_moved) {
  auto keeper = std::make_unique<std::string>("kept alive by the deleter");
  char* data = keeper->data();
  const std::size_t nbytes = keeper->size();
  Buffer buffer = Buffer::adopt(data, nbytes, [kept = std::move(keeper)](void*) mutable {
    EXPECT_NE(kept, nullptr);
    kept.reset();
  });
  EXPECT_EQ(text_of(buffer), "kept alive by the deleter");
}

TEST(AdoptedMemory, takes_a_function_and_a_std_function) {
  EXPECT_EQ(Buffer::adopt(std::malloc(8), 8, &std::free).nbytes(), 8U);
  int deleted = 0;
  std::function<void(void*)> deleter = [&](void*) { ++deleted; };
  char byte{};
  Buffer::adopt(&byte, 1, deleter);
  EXPECT_EQ(deleted, 1);
}

TEST(AdoptedMemory, that_is_refused_is_deleted_once) {
  int deleted = 0;
  const auto deleter = [&](void* data) {
    EXPECT_EQ(data, nullptr);
    ++deleted;
  };
  EXPECT_TRUE(
      says(complaint_of([&] { Buffer::adopt(nullptr, 8, deleter); }), "null pointer to 8 bytes"));
  EXPECT_EQ(deleted, 1);

  EXPECT_EQ(Buffer::adopt(nullptr, 0, deleter).nbytes(), 0U) << "this is not refused";
  EXPECT_EQ(deleted, 2);

  char byte{};
  EXPECT_THROW(Buffer::adopt(&byte, static_cast<std::size_t>(-1), [&](void*) { ++deleted; }),
               InvalidArgument);
  EXPECT_EQ(deleted, 3);
  EXPECT_THROW(Buffer::adopt(&byte, 1, std::function<void(void*)>()), InvalidArgument);
  EXPECT_THROW(Buffer::adopt(&byte, 1, static_cast<void (*)(void*)>(nullptr)), InvalidArgument);
}

/// A deleter that may be moved so often and then throws.
struct Touchy {
  explicit Touchy(int& count) : deleted(&count) {}
  Touchy(Touchy&& other) : deleted(other.deleted) {
    if (--moves_left < 0) {
      throw std::runtime_error("do not move me");
    }
  }
  Touchy& operator=(Touchy&&) = delete;
  void operator()(void*) const { ++*deleted; }
  int* deleted;
  inline static int moves_left = 0;
};

TEST(AdoptedMemory, whose_deleter_throws_when_moved_is_still_deleted_once) {
  char byte{};
  for (int moves = 0; moves < 3; ++moves) {
    int deleted = 0;
    Touchy::moves_left = moves;
    try {
      Buffer::adopt(&byte, 1, Touchy(deleted));
    } catch (const std::runtime_error&) {
    }
    EXPECT_EQ(deleted, 1) << "with " << moves << " moves";
  }
}

TEST(AdoptedMemory, is_deleted_on_whichever_thread_lets_go_last) {
  for (int round = 0; round < 500; ++round) {
    int deleted = 0;
    char memory[16]{};
    {
      Buffer buffer = Buffer::adopt(memory, sizeof memory, [&](void*) { ++deleted; });
      boost::thread dropper([clone = buffer] {});
      boost::thread writer([clone = buffer]() mutable { clone.mutable_data(); });
      buffer = Buffer();
      dropper.join();
      writer.join();
    }
    EXPECT_EQ(deleted, 1);
  }
}

TEST(AdoptedMemory, that_grows_moves_to_the_allocator_and_is_deleted) {
  int deleted = 0;
  char memory[] = "cow";
  FailingAllocator allocator;
  Buffer buffer = Buffer::adopt(
      memory, 3, [&](void*) { ++deleted; }, allocator);
  buffer.resize(2);
  EXPECT_EQ(deleted, 0);
  buffer.resize(100);
  EXPECT_EQ(deleted, 1);
  EXPECT_EQ(std::memcmp(buffer.data(), "co", 2), 0);
  EXPECT_EQ(allocator.blocks_out(), 1U);
}

TEST(AdoptedMemory, that_may_not_be_written_is_shared_and_copied_by_a_write) {
  int deleted = 0;
  const char memory[] = "cow";
  FailingAllocator allocator;
  Buffer buffer = Buffer::adopt_read_only(
      memory, 3, [&](void*) { ++deleted; }, allocator);
  EXPECT_EQ(buffer.origin(), Origin::adopted);
  EXPECT_TRUE(buffer.is_read_only());
  Buffer clone = buffer;
  EXPECT_TRUE(clone.shares_data_with(buffer));
  EXPECT_EQ(allocator.copies(), 0);
  clone = Buffer();
  EXPECT_EQ(buffer.materialize(), Materialized::copied);
  EXPECT_EQ(deleted, 1);
  buffer.mutable_data()[0] = std::byte{'n'};
  EXPECT_STREQ(memory, "cow");
  EXPECT_EQ(text_of(buffer), "now");
}

TEST(BorrowedMemory, is_written_in_place_or_copied_if_it_is_read_only) {
  char memory[] = "cow";
  Buffer buffer = Buffer::borrow(memory, 3);
  EXPECT_EQ(buffer.origin(), Origin::borrowed);
  EXPECT_EQ(buffer.materialize(), Materialized::already_unique);
  buffer.mutable_data()[0] = std::byte{'n'};
  EXPECT_STREQ(memory, "now");
  Buffer read_only = Buffer::borrow(static_cast<const void*>(memory), 3);
  EXPECT_EQ(read_only.data(), reinterpret_cast<const std::byte*>(memory));
  EXPECT_EQ(read_only.materialize(), Materialized::copied);
  read_only.mutable_data()[0] = std::byte{'c'};
  EXPECT_STREQ(memory, "now");
  EXPECT_EQ(text_of(read_only), "cow");
}

TEST(AliasedMemory, is_written_in_place_and_released_once) {
  int deleted = 0;
  char memory[] = "cow";
  {
    Buffer buffer = Buffer::adopt_aliased(memory, 3, [&](void* data) {
      EXPECT_EQ(data, memory);
      ++deleted;
    });
    EXPECT_EQ(buffer.origin(), Origin::aliased);
    EXPECT_EQ(buffer.materialize(), Materialized::already_unique);
    buffer.mutable_data()[0] = std::byte{'n'};
    EXPECT_STREQ(memory, "now");
    EXPECT_EQ(deleted, 0);
  }
  EXPECT_EQ(deleted, 1);
}

TEST(AliasedMemory, is_copied_by_a_lazy_clone_which_sees_no_write_by_others) {
  FailingAllocator allocator;
  char memory[] = "cow";
  const Buffer buffer = Buffer::adopt_aliased(
      memory, 3, [](void*) {}, allocator);
  const Buffer clone = buffer;
  EXPECT_EQ(allocator.copies(), 1);
  memory[0] = 'n';
  EXPECT_EQ(text_of(buffer), "now");
  EXPECT_EQ(text_of(clone), "cow");
  EXPECT_EQ(clone.origin(), Origin::allocated);
}

TEST(AliasedMemory, that_may_not_be_written_is_copied_by_a_write_and_by_a_clone) {
  int deleted = 0;
  const char memory[] = "cow";
  Buffer buffer =
      Buffer::adopt_aliased(static_cast<const void*>(memory), 3, [&](void*) { ++deleted; });
  EXPECT_TRUE(buffer.is_read_only());
  const Buffer clone = buffer.lazy_clone();
  EXPECT_FALSE(clone.shares_data_with(buffer));
  EXPECT_EQ(buffer.materialize(), Materialized::copied);
  EXPECT_EQ(deleted, 1);
}

TEST(AliasedMemory, is_released_when_it_is_refused) {
  int deleted = 0;
  const auto deleter = [&](void*) { ++deleted; };
  EXPECT_THROW(Buffer::adopt_aliased(static_cast<void*>(nullptr), 1, deleter), InvalidArgument);
  EXPECT_EQ(deleted, 1);
  EXPECT_TRUE(says(complaint_of<InvalidArgument>([&] {
                     Buffer::adopt_aliased(static_cast<const void*>(nullptr), 1, deleter);
                   }),
                   "Buffer::adopt_aliased"));
  EXPECT_EQ(deleted, 2);
  char memory[] = "cow";
  EXPECT_THROW(Buffer::adopt_aliased(memory, 3, std::function<void(void*)>()), InvalidArgument);
}

TEST(BorrowedMemory, is_copied_by_a_lazy_clone_which_may_outlive_it) {
  FailingAllocator allocator;
  auto memory = std::make_unique<std::string>("cow");
  Buffer buffer = Buffer::borrow(memory->data(), 3, allocator);
  Buffer clone = buffer;
  EXPECT_EQ(allocator.copies(), 1);
  EXPECT_FALSE(clone.shares_data_with(buffer));
  EXPECT_TRUE(buffer.is_unique());
  buffer = Buffer();
  memory.reset();
  EXPECT_EQ(text_of(clone), "cow");
  EXPECT_EQ(clone.origin(), Origin::allocated);
}

TEST(BorrowedMemory, null_is_refused_unless_it_has_no_bytes) {
  EXPECT_THROW(Buffer::borrow(static_cast<void*>(nullptr), 1), InvalidArgument);
  EXPECT_EQ(Buffer::borrow(static_cast<void*>(nullptr), 0).nbytes(), 0U);
}

TEST(BorrowedMemory, whose_clone_finds_no_memory_is_unharmed) {
  FailingAllocator allocator;
  char memory[] = "cow";
  const Buffer buffer = Buffer::borrow(memory, 3, allocator);
  allocator.fail_allocation(0);
  EXPECT_THROW(buffer.lazy_clone(), OutOfMemory);
  EXPECT_EQ(text_of(buffer), "cow");
}

}  // namespace
}  // namespace byre::test
