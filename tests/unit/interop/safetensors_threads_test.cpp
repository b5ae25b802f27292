// SPDX-License-Identifier: BSL-1.0
// Tensors of one mapped file, each written by a different thread.
#include <algorithm>
#include <string>

#include "safetensors_files.hpp"
#include "support/at_once.hpp"

namespace byre::test {
namespace {

TEST(MappedSafetensorsInThreads, concurrent_writes_to_tensors_of_one_file_are_independent) {
  constexpr std::size_t thread_count = 4;
  constexpr std::int64_t numel = 5000;
  const TemporaryFolder folder;
  NamedTensors saved;
  for (std::size_t number = 0; number < thread_count; ++number) {
    saved.emplace_back(std::to_string(number), Tensor::zeros({numel}, DType::i32));
  }
  save_safetensors(folder / "model.safetensors", saved);
  const SafetensorsFile untouched = map_safetensors(folder / "model.safetensors");
  SafetensorsFile file = map_safetensors(folder / "model.safetensors");
  at_once(thread_count, [&](std::size_t thread) {
    Tensor& mine = file.tensors[thread].second;
    std::fill_n(mine.mutable_data<std::int32_t>(), numel, static_cast<std::int32_t>(thread) + 1);
  });
  for (std::size_t number = 0; number < thread_count; ++number) {
    const Tensor& written = file.tensors[number].second;
    const auto* const first = written.data<std::int32_t>();
    EXPECT_EQ(std::count(first, first + numel, static_cast<std::int32_t>(number) + 1), numel);
  }
  expect_same_tensors(untouched.tensors, saved);
  expect_same_tensors(load_safetensors(folder / "model.safetensors").tensors, saved);
}

}  // namespace
}  // namespace byre::test
