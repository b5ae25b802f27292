// SPDX-License-Identifier: BSL-1.0
// Complaints of threads that meet at one storage, and what byre does. docs/answers.md says where each was made.
#include <byre/memory/host_allocators.hpp>
#include <byre/tensor.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "costs.hpp"
#include "support/at_once.hpp"

namespace byre::test {
namespace {

constexpr std::size_t threads = 4;
constexpr std::size_t shared_nbytes = 4096;

TEST(Complaints, the_first_lazy_clones_of_a_storage_are_made_by_many_threads_at_once) {
  for (int round = 0; round < 100; ++round) {
    const Storage source = Storage::allocate(shared_nbytes);  // never cloned before
    const std::byte* const data = source.data();
    std::array<Storage, threads> clones;
    const Costs costs;
    at_once(threads, [&](std::size_t thread) { clones[thread] = source.lazy_clone(); });
    EXPECT_EQ(source.data(), data);
    EXPECT_EQ(source.use_count(), threads + 1);
    for (const Storage& clone : clones) {
      EXPECT_EQ(clone.data(), data);
    }
    EXPECT_TRUE(costs.copied(0));
  }
}

TEST(Complaints, a_parallel_loop_whose_threads_all_ask_for_write_access_copies_once) {
  Tensor y = Tensor::zeros({threads, 1000}, DType::f32);
  const Tensor clone = y.lazy_clone();
  const Costs costs;
  at_once(threads, [&](std::size_t thread) {
    const auto row = static_cast<std::int64_t>(thread);
    float* const first = y.mutable_data_in_parallel<float>() + row * 1000;
    first[0] = static_cast<float>(row + 1);
  });
  EXPECT_TRUE(costs.copied(y.nbytes()));
  for (std::int64_t row = 0; row < y.size(0); ++row) {
    EXPECT_EQ(y.at<float>({row, 0}), static_cast<float>(row + 1));
    EXPECT_EQ(clone.at<float>({row, 0}), 0.0F);
  }
}

#if BYRE_CHECKS

/// Has a chance to act while a copy is under way.
class Meanwhile final : public Allocator {
 public:
  Block allocate(const Request& request) override { return aligned_allocator().allocate(request); }
  void deallocate(const Block& block) noexcept override { aligned_allocator().deallocate(block); }
  void copy(void*, const void*, std::size_t) override {
    elsewhere([this] { act(); });
  }
  const char* name() const noexcept override { return "meanwhile"; }

  std::function<void()> act;
};

// What remains a contract: mutable_data() excludes everything else on the same storage. A checked build finds
// threads that do not keep it.
TEST(ComplaintsDeathTest, a_parallel_loop_whose_threads_ask_by_mutable_data_is_reported) {
  Meanwhile allocator;
  Storage storage = Storage::allocate(shared_nbytes, allocator);
  const Storage clone = storage.lazy_clone();
  const int one = __LINE__ + 1;
  const auto one_thread = [&] { storage.mutable_data(); };
  const auto another = [&] { storage.mutable_data(); };
  allocator.act = another;
  const auto line = [](int number) { return "threads_test.cpp:" + std::to_string(number); };
  EXPECT_DEATH(one_thread(), line(one + 1) +
                                 ": this write meets a write of the same storage .* at .*" +
                                 line(one) + ".* mutable_data_in_parallel\\(\\)");
}

#endif

}  // namespace
}  // namespace byre::test
