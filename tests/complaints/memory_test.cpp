// SPDX-License-Identifier: BSL-1.0
// Cases from complaints about doubled memory in other systems. In byre, a small write to large
// shared data copies only the pages or tiles that it touches. docs/answers.md links each complaint.
#include <byre/memory/pages.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/tiles/tiled_buffer.hpp>
#include <byre/tensor.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/counted.hpp"
#include "support/features.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace {

class Complaints : public WithStats {};
class ComplaintsInPages : public WithStats {
 protected:
  void SetUp() override {
    WithStats::SetUp();
    if (!has_memory_files()) {
      GTEST_SKIP() << "the library has no memory files";
    }
  }
};

void expect_costs(const Counted& counted, std::size_t bytes_copied, std::size_t overlays) {
  EXPECT_EQ(static_cast<std::size_t>(counted.since().bytes_copied), bytes_copied);
  EXPECT_EQ(static_cast<std::size_t>(counted.since().overlays), overlays);
}

constexpr std::size_t cache_nbytes = std::size_t{16} << 20;
// The dimensions of a table in which each row is a page.
constexpr auto columns = static_cast<std::int64_t>(page_nbytes / sizeof(float));
constexpr auto rows = static_cast<std::int64_t>(cache_nbytes / page_nbytes);

/// A table in pages: a write to shared data copies only the pages that it touches.
Tensor table_of(float value) {
  Tensor table = Tensor::empty({rows, columns}, DType::f32, paged_allocator());
  return fill_(table, value);
}

void train(Tensor& table, int count, float value) {
  for (int row = 0; row < count; ++row) {
    Tensor written = table.select(0, row * 13);
    fill_(written, value);
  }
}

TEST_F(ComplaintsInPages, training_during_a_save_copies_only_the_written_rows) {
  const TemporaryFolder folder;
  Tensor table = table_of(1);
  const Counted costs;
  const Tensor snapshot = table.lazy_clone();
  std::thread saver([&] { save_npy(folder / "table.npy", snapshot); });
  train(table, 16, 2);
  saver.join();
  expect_costs(costs, 0, 1);  // byre copied no bytes: the system copied the 16 written pages
  const Tensor saved = map_npy(folder / "table.npy");
  EXPECT_EQ(saved.at<float>({13, 0}), 1.0F);
  EXPECT_EQ(table.at<float>({13, 0}), 2.0F);

  // The next snapshot copies the pages that were written. The number of copied bytes shows how many
  // pages were written.
  const Counted later;
  const Tensor next = table.lazy_clone();
  train(table, 1, 3);
  expect_costs(later, 16 * page_nbytes, 1);
}

TEST_F(ComplaintsInPages, writing_a_column_copies_no_other_column_of_its_block) {
  Tensor block = table_of(1).view({64, -1});  // 64 columns, each contiguous in memory
  const Tensor clone = block.lazy_clone();
  const Counted costs;
  Tensor column = block.select(0, 7);
  fill_(column, 2);
  expect_costs(costs, 0, 1);
  EXPECT_EQ(clone.at<float>({7, 0}), 1.0F);
  EXPECT_EQ(block.at<float>({7, 0}), 2.0F);

  const Counted later;
  const Tensor next = block.lazy_clone();
  Tensor again = block.select(0, 7);
  fill_(again, 3);
  expect_costs(later, cache_nbytes / 64, 1);
}

TEST_F(Complaints, branches_of_a_tiled_cache_copy_only_written_tiles) {
  constexpr std::size_t branches = 32;
  TiledBuffer cache(cache_nbytes);
  cache.write(0, std::vector<std::byte>(cache_nbytes, std::byte{1}));
  const Counted costs;
  std::vector<TiledBuffer> requests(branches, cache);
  expect_costs(costs, 0, 0);

  const std::vector<std::byte> token(1000, std::byte{2});
  for (std::size_t branch = 0; branch < branches; ++branch) {
    requests[branch].write(branch * cache.tile_nbytes(), token);
  }
  expect_costs(costs, branches * cache.tile_nbytes(), 0);
  EXPECT_LE(costs.since().live_bytes,
            std::int64_t{cache_nbytes / 4});  // 32 copies of the cache would be 512 MiB
  EXPECT_EQ(requests[3].tile(3)[0], std::byte{2});
  EXPECT_EQ(requests[3].tile(4)[0], std::byte{1});
  EXPECT_EQ(cache.tile(3)[0], std::byte{1});
}

TEST_F(ComplaintsInPages, branches_of_a_paged_cache_copy_only_written_pages) {
  constexpr std::size_t branches = 32;
  const Tensor cache = table_of(1);
  const Counted costs;
  std::vector<Tensor> requests;
  for (std::size_t branch = 0; branch < branches; ++branch) {
    requests.push_back(cache.lazy_clone());
    train(requests.back(), 2, 2);
  }
  expect_costs(costs, 0, branches);
  EXPECT_EQ(requests[3].at<float>({13, 0}), 2.0F);
  EXPECT_EQ(cache.at<float>({13, 0}), 1.0F);

  const Counted later;
  Tensor of_branch = requests[3].lazy_clone();
  train(of_branch, 1, 3);
  expect_costs(later, 2 * page_nbytes, 1);
}

TEST_F(Complaints, editing_mapped_weights_copies_pages_and_changes_no_file) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "model.safetensors";
  const std::pair<std::string, Tensor> saved[] = {{"embedding", table_of(1)},
                                                  {"output", table_of(2)}};
  save_safetensors(file, saved);

  SafetensorsFile model = map_safetensors(file);
  ASSERT_EQ(model.tensors[0].first, "embedding");
  Tensor& embedding = model.tensors[0].second;
  const Tensor untouched = embedding.lazy_clone();
  const Counted costs;
  Tensor adapted = embedding.narrow(0, 5, 3);
  add_(adapted, 10);
  expect_costs(costs, 0, 1);
  EXPECT_EQ(embedding.at<float>({5, 0}), 11.0F);
  EXPECT_EQ(untouched.at<float>({5, 0}), 1.0F);
  EXPECT_EQ(model.tensors[1].second.at<float>({5, 0}), 2.0F);
  EXPECT_EQ(load_safetensors(file).tensors[0].second.at<float>({5, 0}), 1.0F);
}

}  // namespace
}  // namespace byre::test
