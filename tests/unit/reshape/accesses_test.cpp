// SPDX-License-Identifier: BSL-1.0
/// Every operation on tensors: whether it reads, writes or neither, is seen to do so, and is named by
/// the line that calls it. every_operation_has_a_row.py finds those that are not in these tables.
#include "access_rows.hpp"

namespace byre::test {
namespace {

// clang-format off
/// x is [2, 3] of f32, contiguous.
const Row rows[] = {
  ROW(reads, x.data<float>()),
  ROW(reads, x.raw_data()),
  ROW(reads, x.at<float>({1, 2})),
  ROW(reads, accessor<float, 2>(x)),
#if defined(__cpp_lib_mdspan)
  ROW(reads, as_mdspan<float, 2>(x)),
  ROW(writes, as_mutable_mdspan<float, 2>(x)),
#endif
  ROW(writes, x.mutable_data<float>()),
  ROW(writes, x.mutable_raw_data()),
  ROW(writes, x.set_at<float>({1, 2}, 9)),
  ROW(writes, mutable_accessor<float, 2>(x)),

  ROW(reads, x.lazy_clone()),
  ROW(reads, x.clone()),
  ROW(reads, x.contiguous()),
  ROW(reads, x.t().contiguous()),
  ROW(reads, x.t().reshape({6})),
  ROW(reads, x.t().reshape_({6})),
  ROW(reads, x.to(Device::cpu())),
  ROW(reads, x.to(FakeDevice::first().device())),
  ROW(reads, x.t().to(FakeDevice::first().device())),
  ROW(reads, to_string(x)),
  ROW(reads, save_npy(folder() / "x.npy", x)),
  ROW(reads, save_npy(folder() / "x.npy", x.t())),
  ROW(reads, save_npy(folder() / "x.npy", x.slice(1, 0, 3, 2))),

  ROW(writes, fill_(x, 1)),
  ROW(writes, zero_(x)),
  ROW(writes, copy_(x, ones())),
  ROW(writes, copy_(x, truths())),
  ROW(writes, copy_(x, on_device())),
  ROW(reads, copy_(*std::make_unique<Tensor>(fresh()), x)),
  ROW(reads, copy_(*std::make_unique<Tensor>(on_device()), x)),
  ROW(reads, copy_(*std::make_unique<Tensor>(Tensor(Device::cpu()).resize({2, 3})), x)),

  ROW(reads, add(x, ones())),
  ROW(reads, add(ones(), x)),
  ROW(reads, add(x, 1)),
  ROW(reads, add(1, x)),
  ROW(reads, sub(x, ones())),
  ROW(reads, sub(ones(), x)),
  ROW(reads, sub(x, 1)),
  ROW(reads, sub(1, x)),
  ROW(reads, mul(x, ones())),
  ROW(reads, mul(ones(), x)),
  ROW(reads, mul(x, 1)),
  ROW(reads, mul(1, x)),
  ROW(reads, div(x, ones())),
  ROW(reads, div(ones(), x)),
  ROW(reads, div(x, 1)),
  ROW(reads, div(1, x)),
  ROW(reads, eq(x, ones())),
  ROW(reads, eq(ones(), x)),
  ROW(reads, eq(x, 1)),
  ROW(reads, eq(1, x)),
  ROW(reads, ge(x, ones())),
  ROW(reads, ge(ones(), x)),
  ROW(reads, ge(x, 1)),
  ROW(reads, ge(1, x)),
  ROW(reads, where(truths(), x, ones())),
  ROW(reads, where(truths(), ones(), x)),
  ROW(reads, where(truths(), x, 1)),
  ROW(reads, where(truths(), 1, x)),
  ROW(reads, neg(x)),
  ROW(reads, relu(x)),
  ROW(reads, exp(x)),
  ROW(reads, sum(x)),
  ROW(reads, sum(x, {1}, true)),
  ROW(reads, matmul(x, ones().t())),
  ROW(reads, matmul(ones().t(), x)),
  ROW(reads, cat({x, ones()})),
  ROW(reads, cat({ones(), x}, 1)),
  ROW(reads, flip(x, {0})),

  ROW(reads_and_writes, add_(x, ones())),
  ROW(reads_and_writes, add_(x, 1)),
  ROW(reads_and_writes, sub_(x, ones())),
  ROW(reads_and_writes, sub_(x, 1)),
  ROW(reads_and_writes, mul_(x, ones())),
  ROW(reads_and_writes, mul_(x, 1)),
  ROW(reads_and_writes, div_(x, ones())),
  ROW(reads_and_writes, div_(x, 1)),
  ROW(reads_and_writes, neg_(x)),
  ROW(reads_and_writes, relu_(x)),
  ROW(reads_and_writes, exp_(x)),
  ROW(reads, add_(*std::make_unique<Tensor>(fresh()), x)),
  ROW(reads, sub_(*std::make_unique<Tensor>(fresh()), x)),
  ROW(reads, mul_(*std::make_unique<Tensor>(fresh()), x)),
  ROW(reads, div_(*std::make_unique<Tensor>(fresh()), x)),

  ROW(neither, bool(x)),
  ROW(neither, x.layout()),
  ROW(neither, x.sizes()),
  ROW(neither, x.strides()),
  ROW(neither, x.storage_offset()),
  ROW(neither, x.ndim()),
  ROW(neither, x.size(0)),
  ROW(neither, x.numel()),
  ROW(neither, x.dtype()),
  ROW(neither, x.itemsize()),
  ROW(neither, x.nbytes()),
  ROW(neither, x.device()),
  ROW(neither, x.storage()),
  ROW(neither, x.is_contiguous()),
  ROW(neither, x.is_dtype_initialized()),
  ROW(neither, x.is_storage_initialized()),
  ROW(neither, x.aliases(ones())),
  ROW(neither, x.is_of_view_family(ones())),
  ROW(neither, x.handle_count()),
  ROW(neither, x.allocator()),
  ROW(neither, Tensor::reclaim(Tensor(x).release())),
  ROW(neither, x.resize({2, 3})),
  ROW(neither, x.resize({1, 3})),
  ROW(neither, x.realize(DType::f32)),
  ROW(neither, fresh().resize({6}).share_data(x)),

  ROW(neither, x.alias()),
  ROW(neither, x.view({3, 2})),
  ROW(neither, x.view(DType::i32)),
  ROW(neither, x.as_strided({2}, {1})),
  ROW(neither, x.as_strided({2}, {1}, 1)),
  ROW(neither, x.permute({1, 0})),
  ROW(neither, x.transpose(0, 1)),
  ROW(neither, x.t()),
  ROW(neither, x.movedim({0}, {1})),
  ROW(neither, x.squeeze()),
  ROW(neither, x.unsqueeze(0).squeeze(0)),
  ROW(neither, x.unsqueeze(0)),
  ROW(neither, x.expand({2, 2, 3})),
  ROW(neither, x.select(0, 1)),
  ROW(neither, x.slice(0, 1)),
  ROW(neither, x.narrow(0, 1, 1)),
  ROW(neither, x.split(1)),
  ROW(neither, x.split({1, 1})),
  ROW(neither, x.chunk(2)),
  ROW(neither, x.unbind()),
  ROW(neither, x.diagonal()),
  ROW(neither, x.unfold(1, 2, 1)),
  ROW(neither, x.flatten()),
  ROW(neither, x.view({3, 2}).view_as_complex().view_as_real()),
  ROW(neither, x.reshape({6})),
  ROW(neither, x.alias().reshape_({6})),
};

/// x is [2, 3] of bool.
const Row rows_of_bools[] = {
  ROW(reads, where(x, ones(), ones())),
  ROW(reads, where(x, ones(), 1)),
  ROW(reads, where(x, 1, ones())),
  ROW(reads, where(x, 1, 2)),
};
// clang-format on

TEST(Accesses, every_operation_is_seen_at_the_line_of_its_caller) {
  for (const Row& row : rows) {
    check(__FILE__, row, [] { return Tensor::zeros({6}, DType::f32); });
  }
  for (const Row& row : rows_of_bools) {
    check(__FILE__, row, [] { return Tensor::zeros({6}, DType::boolean); });
  }
}

}  // namespace
}  // namespace byre::test
