// SPDX-License-Identifier: BSL-1.0
/// Tensors that are exported and imported.
#include <byre/interop/tensor_transfer.hpp>
#include <byre/observe/counters.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "../ipc/peer.hpp"
#include "support/counted.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace {

Tensor transferred(const Tensor& tensor) {
  const ExportedPages exported = export_pages(tensor);
  return import_pages<Tensor>(exported.message(), exported.descriptors());
}

/// A tensor of 6 x 4 numbers from 0 on.
Tensor counted() {
  std::vector<float> numbers(24);
  std::iota(numbers.begin(), numbers.end(), 0.0F);
  return Tensor::of<float>({6, 4}, std::span<const float>(numbers));
}

TEST(TensorTransfer, views_arrive_with_their_strides_and_offset) {
  const Tensor all = counted();
  for (const Tensor& tensor :
       {all, all.t(), all.slice(0, 1, 6), all.slice(0, 0, 6, 2).expand({2, 3, 4}), all.slice(1, 1),
        all.slice(0, 0, 0)}) {
    const Tensor imported = transferred(tensor);
    EXPECT_EQ(imported.sizes(), tensor.sizes());
    EXPECT_EQ(imported.dtype(), DType::f32);
    EXPECT_EQ(imported.strides(), tensor.strides());
    EXPECT_EQ(imported.clone().numel(), tensor.numel());
    const Tensor left = imported.clone();
    const Tensor right = tensor.clone();
    if (tensor.numel() != 0) {
      EXPECT_EQ(std::memcmp(left.raw_data(), right.raw_data(), right.nbytes()), 0);
    }
  }
}

TEST(TensorTransfer, a_small_part_of_a_storage_arrives_alone) {
  const Tensor row = counted().select(0, 3);
  const Tensor imported = transferred(row);
  EXPECT_EQ(imported.storage().nbytes(), row.nbytes());
  EXPECT_EQ(imported.at<float>({2}), 14.0F);
}

TEST(TensorTransfer, a_small_part_is_copied_once) {
  const Tensor tensor = Tensor::zeros({1024, 1024}, DType::f32);
  const Tensor columns = tensor.narrow(1, 3, 511);
  const auto before = stats::snapshot();
  const Recorder recorder;
  EXPECT_EQ(export_pages(columns).copied_nbytes(), columns.nbytes());
  const unsigned line = __LINE__ - 1;
  EXPECT_EQ((stats::snapshot() - before).copies, BYRE_STATS);
  if (BYRE_STATS) {
    ASSERT_EQ(recorder.events().size(), 1U);
    EXPECT_EQ(recorder.events()[0].cause, stats::CopyCause::exported);
    EXPECT_EQ(recorder.events()[0].site.line, line);
  }
}

TEST(TensorTransfer, half_of_a_storage_is_sent_with_the_rest) {
  const Tensor tensor = Tensor::empty({1024, 1024}, DType::f32, paged_allocator());
  EXPECT_EQ(export_pages(tensor.narrow(1, 3, 512)).copied_nbytes(), 0U);
}

TEST(TensorTransfer, sealed_files_can_be_required) {
  const TemporaryFolder folder;
  write_file(folder / "file", std::string(least_paged_nbytes, '\0'));
  const Tensor tensor = Tensor::over(Storage(Buffer::map_file(folder / "file")),
                                     {static_cast<std::int64_t>(least_paged_nbytes)}, DType::u8);
  const ExportedPages exported = export_pages(tensor);
  EXPECT_THROW(
      import_pages<Tensor>(exported.message(), exported.descriptors(), Accept::sealed_files),
      TransferError);
  const SocketPair sockets;
  send(sockets[0], tensor);
  EXPECT_THROW(receive<Tensor>(sockets[1], Accept::sealed_files), TransferError);
}

TEST(TensorTransfer, pages_are_not_copied_and_either_side_may_write) {
  Tensor tensor = Tensor::empty({1024, 1024}, DType::f32, paged_allocator());
  std::fill_n(tensor.mutable_data<float>(), tensor.numel(), 1.0F);
  EXPECT_EQ(export_pages(tensor).copied_nbytes(), 0U);
  const SocketPair sockets;
  send(sockets[0], tensor);
  Tensor imported = receive<Tensor>(sockets[1]);
  imported.set_at<float>({7, 7}, 2);
  tensor.set_at<float>({8, 8}, 3);
  EXPECT_EQ(imported.at<float>({8, 8}), 1.0F);
  EXPECT_EQ(tensor.at<float>({7, 7}), 1.0F);
  EXPECT_EQ(imported.at<float>({7, 7}), 2.0F);
}

TEST(TensorTransfer, all_dtypes_arrive) {
  for (int number = 0; number < static_cast<int>(DType::uninitialized); ++number) {
    const auto dtype = static_cast<DType>(number);
    EXPECT_EQ(transferred(Tensor::zeros({3}, dtype)).dtype(), dtype);
  }
}

TEST(TensorTransfer, uninitialized_tensors_are_refused) {
  Tensor unallocated = counted();
  unallocated.free_memory();
  EXPECT_THROW(export_pages(unallocated), StateError);
  EXPECT_THROW(export_pages(Tensor(Device::cpu())), StateError);
  EXPECT_THROW(export_pages(Tensor()), StateError);
}

/// Exports a tensor, changes byte `at` of the message's layout, and imports it.
void import_changed(const Tensor& tensor, std::size_t at, std::byte value) {
  const ExportedPages exported = export_pages(tensor);
  std::vector<std::byte> message(exported.message().begin(), exported.message().end());
  constexpr std::size_t layout_at = 40;
  message[layout_at + at] = value;
  import_pages<Tensor>(message, exported.descriptors());
}

TEST(TensorTransfer, a_layout_that_does_not_fit_the_data_is_refused) {
  constexpr std::size_t dtype_at = 0;
  constexpr std::size_t ndim_at = 4;
  constexpr std::size_t offset_at = 8;
  constexpr std::size_t sizes_at = 16;
  const Tensor tensor = counted();
  EXPECT_NO_THROW(import_changed(tensor, sizes_at, std::byte{6}));
  EXPECT_THROW(import_changed(tensor, sizes_at, std::byte{7}), TransferError);
  EXPECT_THROW(import_changed(tensor, sizes_at + 7, std::byte{255}), TransferError);
  EXPECT_THROW(import_changed(tensor, offset_at, std::byte{1}), TransferError);
  EXPECT_THROW(import_changed(tensor, ndim_at, std::byte{65}), TransferError);
  EXPECT_THROW(import_changed(tensor, dtype_at, std::byte{11}), TransferError);
  const Tensor bytes = Tensor::of<std::uint8_t>({2}, {0, 2});
  EXPECT_THROW(import_changed(bytes, dtype_at, std::byte{0}), DTypeError);
}

}  // namespace
}  // namespace byre::test
