// SPDX-License-Identifier: BSL-1.0
/// Every operation on tensors: whether it reads, writes or neither, is seen to do so, and is named by
/// the line that calls it. every_operation_has_a_row.py finds those that are not in these tables.
#include <byre/tensor/accessor.hpp>
#include <byre/tensor/npy.hpp>
#include <byre/tensor/print.hpp>

#include <memory>
#include <ostream>
#include <sstream>
#include <string>

#include "../support/fake_device.hpp"
#include "../support/temporary_folder.hpp"
#include "watched.hpp"

namespace byre::test {
namespace {

enum class Kind : std::uint8_t { reads, writes, reads_and_writes, neither };

struct Row {
  const char* text;
  Kind kind;
  void (*run)(Tensor& x);
  std::uint32_t line;
};

// One line each: the line of a macro is that of all that is in it.
#define ROW(kind, ...)                                                                     \
  Row {                                                                                    \
#__VA_ARGS__, Kind::kind, [](Tensor & x) { static_cast<void>(__VA_ARGS__); }, __LINE__ \
  }

const Tensor& ones() {
  static const Tensor instance = Tensor::of<float>({2, 3}, {1, 1, 1, 1, 1, 1});
  return instance;
}
Tensor fresh() {
  return ones().clone();
}
const Tensor& truths() {
  static const Tensor instance = Tensor::of<bool>({2, 3}, {true, false, true, false, true, false});
  return instance;
}
Tensor on_device() {
  return ones().to(FakeDevice::first().device());
}
const TemporaryFolder& folder() {
  static const TemporaryFolder instance;
  return instance;
}
std::ostream& stream() {
  static std::ostringstream instance;
  return instance;
}

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

/// x is [2, 3] of f32, on a device.
const Row rows_on_device[] = {
  ROW(reads, x.raw_data()),
  ROW(reads, x.data<float>()),
  ROW(reads, x.clone()),
  ROW(reads, x.t().clone()),
  ROW(reads, x.lazy_clone()),
  ROW(reads, x.t().contiguous()),
  ROW(reads, x.to(Device::cpu())),
  ROW(reads, x.t().to(Device::cpu())),
  ROW(reads, x.to(FakeDevice::first().device())),
  ROW(reads, x.to(FakeDevice::second().device())),
  ROW(reads, to_string(x)),
  ROW(reads, save_npy(folder() / "x.npy", x)),
  ROW(reads, copy_(*std::make_unique<Tensor>(fresh()), x)),
  ROW(reads, copy_(*std::make_unique<Tensor>(on_device()), x)),
  ROW(writes, x.mutable_raw_data()),
  ROW(writes, x.mutable_data<float>()),
  ROW(writes, fill_(x, 1)),
  ROW(writes, zero_(x)),
  ROW(writes, copy_(x, ones())),
  ROW(writes, copy_(x, on_device())),
};

/// What has no room for the line that calls it.
const Row rows_of_no_line[] = {
  ROW(reads, stream() << x),
};

/// x is [0, 3] of f32, of a storage that has elements.
const Row rows_of_none[] = {
  ROW(neither, x.raw_data()),
  ROW(neither, x.mutable_raw_data()),
  ROW(neither, x.clone()),
  ROW(neither, x.lazy_clone()),
  ROW(neither, x.contiguous()),
  ROW(neither, x.to(FakeDevice::first().device())),
  ROW(neither, to_string(x)),
  ROW(neither, save_npy(folder() / "x.npy", x)),
  ROW(neither, fill_(x, 1)),
  ROW(neither, copy_(x, fresh().slice(0, 0, 0))),
  ROW(neither, add(x, 1)),
  ROW(neither, add_(x, 1)),
  ROW(neither, neg_(x)),
  ROW(neither, sum(x)),
  ROW(neither, cat({x, ones()})),
};
// clang-format on

/// Accesses what a [6] tensor was reshaped to, which `make_origin` makes.
void check(const Row& row, Tensor (*make_origin)(), bool is_placed = true) {
  SCOPED_TRACE(row.text);
  const ReshapeModeScope scope(ReshapeMode::warn);
  const CaughtReports reports;
  {
    Tensor x = make_origin().reshape({2, 3}, line(10));
    row.run(x);
    EXPECT_EQ(reports.count(), 0U) << "of what nobody wrote";
  }
  Tensor origin = make_origin();
  Tensor x = origin.reshape({2, 3}, line(10));
  zero_(origin, line(11));
  row.run(x);
  if (row.kind == Kind::neither) {
    EXPECT_EQ(reports.count(), 0U);
  } else {
    const Violation violation = reports.only();
    EXPECT_EQ(violation.write.site.line, 11U);
    EXPECT_EQ(violation.access_writes, row.kind == Kind::writes);
    EXPECT_EQ(violation.access.site.line, is_placed ? row.line : 0);
    EXPECT_STREQ(violation.access.site.file, is_placed ? __FILE__ : "?");
  }
  const std::size_t told = reports.count();
  const bool writes = row.kind == Kind::writes || row.kind == Kind::reads_and_writes;
  static_cast<void>(origin.raw_data(line(12)));
  ASSERT_EQ(reports.count(), told + (writes ? 1 : 0)) << "of what the other family is told";
  if (writes) {
    EXPECT_EQ(reports.all().back().write.site.line, row.line);
    EXPECT_STREQ(reports.all().back().write.site.file, __FILE__);
  }
}

TEST(Accesses, every_operation_is_seen_at_the_line_of_its_caller) {
  for (const Row& row : rows) {
    check(row, [] { return Tensor::zeros({6}, DType::f32); });
  }
  for (const Row& row : rows_of_bools) {
    check(row, [] { return Tensor::zeros({6}, DType::boolean); });
  }
}

TEST(Accesses, every_operation_is_seen_on_devices) {
  for (const Row& row : rows_on_device) {
    check(row, [] { return Tensor::zeros({6}, DType::f32, FakeDevice::first().device()); });
  }
}

TEST(Accesses, what_has_no_line_is_seen_at_a_place_that_is_not_known) {
  for (const Row& row : rows_of_no_line) {
    check(
        row, [] { return Tensor::zeros({6}, DType::f32); }, false);
  }
}

TEST(Accesses, nothing_is_accessed_of_tensors_without_elements) {
  for (const Row& row : rows_of_none) {
    SCOPED_TRACE(row.text);
    const ReshapeModeScope scope(ReshapeMode::warn);
    const CaughtReports reports;
    Tensor origin = Tensor::zeros({6}, DType::f32);
    Tensor x = origin.reshape({2, 3}, line(10)).slice(0, 0, 0);
    zero_(origin, line(11));
    row.run(x);
    static_cast<void>(origin.raw_data(line(12)));
    EXPECT_EQ(reports.count(), 0U);
  }
}

}  // namespace
}  // namespace byre::test
