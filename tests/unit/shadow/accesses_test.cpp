// SPDX-License-Identifier: BSL-1.0
/// Every operation on tensors: its reports show whether it reads, writes or does neither, and name
/// the line that calls it. every_operation_has_a_row.py finds operations that are missing from
/// these tables.
#include <byre/interop/npy.hpp>
#include <byre/interop/npz.hpp>
#include <byre/interop/safetensors.hpp>
#include <byre/tensor/accessor.hpp>
#include <byre/tensor/print.hpp>

#include <memory>
#include <sstream>

#include "support/temporary_folder.hpp"
#include "support/tensor/fake_device.hpp"
#include "tracked.hpp"

namespace byre::test {
namespace {

enum class Kind : std::uint8_t { reads, writes, reads_and_writes, neither };

struct Row {
  const char* text;
  Kind kind;
  void (*run)(Tensor& x);
  std::uint32_t line;
};

// clang-format off
// Each row must be on one line: all of a macro's expansion has one __LINE__.
#define ROW(kind, ...) \
  Row{#__VA_ARGS__, Kind::kind, [](Tensor& x) { static_cast<void>(__VA_ARGS__); }, __LINE__}
// clang-format on

const Tensor& ones() {
  static const Tensor instance = Tensor::of<float>({2, 3}, {1, 1, 1, 1, 1, 1});
  return instance;
}
const Tensor& truths() {
  static const Tensor instance = Tensor::of<bool>({2, 3}, {true, false, true, false, true, false});
  return instance;
}
Tensor fresh() {
  return ones().clone();
}
Device device() {
  return FakeDevice::first().device();
}
Tensor on_device() {
  return ones().to(device());
}
void save_in_archive(const Tensor& x, CallSite site = CallSite::current()) {
  static const TemporaryFolder folder;
#if BYRE_NPZ
  save_npz(folder / "x.npz", NamedTensors{{"x", x}}, NpzCompression::deflated, site);
#else
  save_npy(folder / "x.npy", x, {}, site);
#endif
}
std::filesystem::path file() {
  static const TemporaryFolder folder;
  return folder / "x.npy";
}

// clang-format off
/// Each row of these tables gets a tensor x. In this table, x is contiguous, [2, 3] of f32.
const Row rows[] = {
  ROW(reads, x.data<float>()), ROW(reads, x.raw_data()),
  ROW(writes, x.mutable_data<float>()), ROW(writes, x.mutable_raw_data()),
  ROW(writes, x.mutable_data_in_parallel<float>()),
  ROW(reads, x.at<float>({1, 2})), ROW(writes, x.set_at<float>({1, 2}, 9)),
  ROW(reads, accessor<float, 2>(x)), ROW(writes, mutable_accessor<float, 2>(x)),
#if defined(__cpp_lib_mdspan)
  ROW(reads, as_mdspan<float, 2>(x)), ROW(writes, as_mutable_mdspan<float, 2>(x)),
#endif

  ROW(reads, x.select(0, 1).slice(0, 1, 2).lazy_clone()),
  ROW(reads, x.select(0, 1).slice(0, 1, 2).writable_clone()), ROW(reads, x.writable_clone()),
  ROW(reads, x.lazy_clone()), ROW(reads, x.clone()),
  ROW(reads, x.contiguous()), ROW(reads, x.t().contiguous()),
  ROW(reads, x.t().reshape({6})), ROW(reads, x.t().reshape_({6})),
  ROW(reads, x.to(Device::cpu())), ROW(reads, x.to(device())), ROW(reads, x.t().to(device())),
  ROW(reads, to_string(x)),
  ROW(reads, save_npy(file(), x)), ROW(reads, save_npy(file(), x.t())),
  ROW(reads, save_npy(file(), x.slice(1, 0, 3, 2))),
  ROW(reads, save_in_archive(x)), ROW(reads, save_in_archive(x.t())),
  ROW(reads, save_in_archive(x.slice(1, 0, 3, 2))),
  ROW(reads, save_safetensors(file(), NamedTensors{{"x", x}})),
  ROW(reads, save_safetensors(file(), NamedTensors{{"x", x.t()}})),

  ROW(writes, fill_(x, 1)), ROW(writes, zero_(x)),
  ROW(writes, copy_(x, ones())), ROW(writes, copy_(x, truths())),
  ROW(writes, copy_(x, on_device())),
  ROW(reads, copy_(fresh(), x)), ROW(reads, copy_(on_device(), x)),
  ROW(reads, copy_(Tensor(Device::cpu()).resize({2, 3}), x)),

  ROW(reads, add(x, ones())), ROW(reads, add(ones(), x)), ROW(reads, add(x, 1)),
  ROW(reads, add(1, x)),
  ROW(reads, sub(x, ones())), ROW(reads, sub(ones(), x)), ROW(reads, sub(x, 1)),
  ROW(reads, sub(1, x)),
  ROW(reads, mul(x, ones())), ROW(reads, mul(ones(), x)), ROW(reads, mul(x, 1)),
  ROW(reads, mul(1, x)),
  ROW(reads, div(x, ones())), ROW(reads, div(ones(), x)), ROW(reads, div(x, 1)),
  ROW(reads, div(1, x)),
  ROW(reads, eq(x, ones())), ROW(reads, eq(ones(), x)), ROW(reads, eq(x, 1)), ROW(reads, eq(1, x)),
  ROW(reads, ge(x, ones())), ROW(reads, ge(ones(), x)), ROW(reads, ge(x, 1)), ROW(reads, ge(1, x)),
  ROW(reads, where(truths(), x, ones())), ROW(reads, where(truths(), ones(), x)),
  ROW(reads, where(truths(), x, 1)), ROW(reads, where(truths(), 1, x)),
  ROW(reads, neg(x)), ROW(reads, relu(x)), ROW(reads, exp(x)),
  ROW(reads, sum(x)), ROW(reads, sum(x, {1}, true)),
  ROW(reads, matmul(x, ones().t())), ROW(reads, matmul(ones().t(), x)),
  ROW(reads, cat({x, ones()})), ROW(reads, cat({ones(), x}, 1)), ROW(reads, flip(x, {0})),

  ROW(reads_and_writes, add_(x, ones())), ROW(reads_and_writes, add_(x, 1)),
  ROW(reads, add_(fresh(), x)),
  ROW(reads_and_writes, sub_(x, ones())), ROW(reads_and_writes, sub_(x, 1)),
  ROW(reads, sub_(fresh(), x)),
  ROW(reads_and_writes, mul_(x, ones())), ROW(reads_and_writes, mul_(x, 1)),
  ROW(reads, mul_(fresh(), x)),
  ROW(reads_and_writes, div_(x, ones())), ROW(reads_and_writes, div_(x, 1)),
  ROW(reads, div_(fresh(), x)),
  ROW(reads_and_writes, neg_(x)), ROW(reads_and_writes, relu_(x)), ROW(reads_and_writes, exp_(x)),

  ROW(neither, bool(x)), ROW(neither, x.layout()), ROW(neither, x.sizes()),
  ROW(neither, x.strides()),
  ROW(neither, x.storage_offset()), ROW(neither, x.ndim()), ROW(neither, x.size(0)),
  ROW(neither, x.numel()),
  ROW(neither, x.dtype()), ROW(neither, x.itemsize()), ROW(neither, x.nbytes()),
  ROW(neither, x.device()),
  ROW(neither, x.storage()), ROW(neither, x.allocator()), ROW(neither, x.handle_count()),
  ROW(neither, x.is_contiguous()), ROW(neither, x.is_dtype_initialized()),
  ROW(neither, x.is_storage_initialized()),
  ROW(neither, x.aliases(ones())), ROW(neither, x.is_of_view_family(ones())),
  ROW(neither, Tensor::reclaim(Tensor(x).release())),
  ROW(neither, fresh().resize({6}).share_data(x)),
  ROW(neither, x.resize({2, 3})), ROW(neither, x.resize({1, 3})),
  ROW(neither, x.realize(DType::f32)),

  ROW(neither, x.alias()), ROW(neither, x.view({3, 2})), ROW(neither, x.view(DType::i32)),
  ROW(neither, x.as_strided({2}, {1})), ROW(neither, x.as_strided({2}, {1}, 1)),
  ROW(neither, x.permute({1, 0})), ROW(neither, x.transpose(0, 1)), ROW(neither, x.t()),
  ROW(neither, x.movedim({0}, {1})), ROW(neither, x.expand({2, 2, 3})),
  ROW(neither, x.unsqueeze(0)),
  ROW(neither, x.squeeze()), ROW(neither, x.unsqueeze(0).squeeze(0)),
  ROW(neither, x.select(0, 1)), ROW(neither, x.slice(0, 1)), ROW(neither, x.narrow(0, 1, 1)),
  ROW(neither, x.split(1)), ROW(neither, x.split({1, 1})), ROW(neither, x.chunk(2)),
  ROW(neither, x.unbind()),
  ROW(neither, x.diagonal()), ROW(neither, x.unfold(1, 2, 1)), ROW(neither, x.flatten()),
  ROW(neither, x.view({3, 2}).view_as_complex().view_as_real()),
  ROW(neither, x.reshape({6})), ROW(neither, x.alias().reshape_({6})),
};

/// x is [2, 3] of bool.
const Row rows_on_bools[] = {
  ROW(reads, where(x, ones(), ones())), ROW(reads, where(x, ones(), 1)),
  ROW(reads, where(x, 1, ones())), ROW(reads, where(x, 1, 2)),
};

/// x is [2, 3] of f32, on a device.
const Row rows_on_device[] = {
  ROW(reads, x.data<float>()), ROW(reads, x.raw_data()),
  ROW(writes, x.mutable_data<float>()), ROW(writes, x.mutable_raw_data()),
  ROW(writes, x.mutable_data_in_parallel<float>()),
  ROW(reads, x.clone()), ROW(reads, x.t().clone()), ROW(reads, x.lazy_clone()),
  ROW(reads, x.t().contiguous()),
  ROW(reads, x.writable_clone()),
  ROW(reads, x.to(Device::cpu())), ROW(reads, x.t().to(Device::cpu())),
  ROW(reads, x.to(device())), ROW(reads, x.to(FakeDevice::second().device())),
  ROW(reads, to_string(x)), ROW(reads, save_npy(file(), x)), ROW(reads, save_in_archive(x)),
  ROW(reads, copy_(fresh(), x)), ROW(reads, copy_(on_device(), x)),
  ROW(writes, fill_(x, 1)), ROW(writes, zero_(x)),
  ROW(writes, copy_(x, ones())), ROW(writes, copy_(x, on_device())),
};

/// `<<` has no parameter for the line of its caller.
const Row row_without_call_site = ROW(reads, std::ostringstream() << x);

/// x is [0, 3] of f32, a view of a storage that has elements.
const Row rows_without_elements[] = {
  ROW(neither, x.raw_data()), ROW(neither, x.mutable_raw_data()), ROW(neither, x.clone()),
  ROW(neither, x.to(device())), ROW(neither, to_string(x)), ROW(neither, save_npy(file(), x)),
  ROW(neither, fill_(x, 1)), ROW(neither, copy_(x, fresh().slice(0, 0, 0))),
  ROW(neither, add(x, 1)),
  ROW(neither, add_(x, 1)), ROW(neither, neg_(x)), ROW(neither, sum(x)),
  ROW(neither, cat({x, ones()})),
};

/// These operations convert their operand, pack it or copy it to the host before they compute. The
/// two steps must count as one read.
const Row rows_that_read_once[] = {
  ROW(reads, matmul(x, ones().t())), ROW(reads, matmul(x.t(), ones().view(DType::i32))),
  ROW(reads, matmul(ones().t(), x.t().t())),
};
const Row rows_that_read_once_on_device[] = {
  ROW(reads, x.t().to(Device::cpu())), ROW(reads, x.t().to(FakeDevice::second().device())),
  ROW(reads, copy_(fresh(), x)), ROW(reads, copy_(fresh(), x.t().t())),
};
// clang-format on

/// x is `origin` reshaped, and `origin` was written after that, at line 11.
struct Accessed {
  Accessed(DType dtype, Device device, ReshapeMode mode = ReshapeMode::warn)
      : origin(Tensor::zeros({6}, dtype, device)), x(reshaped(origin, {2, 3}, mode)) {
    zero_(origin, site(11));
  }
  Tensor origin;
  Tensor x;
};

void expect_nothing_changed_by_error(const Row& row, DType dtype, Device device) {
  Accessed accessed(dtype, device, ReshapeMode::error);
  const Tensor shares = accessed.origin.lazy_clone(site(12));
  EXPECT_THROW(row.run(accessed.x), ReshapeViolation);
  EXPECT_TRUE(accessed.origin.storage().shares_data_with(shares.storage()))
      << "the error materialized the tensor";
  EXPECT_EQ(shadow::summary().untracked_escapes, 0U);
  EXPECT_NO_THROW(read(accessed.origin, site(13))) << "the row wrote the tensor before it threw";
}

void check(const Row& row, DType dtype, Device device, bool has_line = true) {
  SCOPED_TRACE(row.text);
  const ReshapeModeScope scope(ReshapeMode::warn);
  const CaughtReports reports;
  Tensor unwritten = reshaped(Tensor::zeros({6}, dtype, device), {2, 3});
  row.run(unwritten);
  EXPECT_EQ(reports.count(), 0U) << "expected no report before a write";
  Accessed accessed(dtype, device);
  row.run(accessed.x);
  if (row.kind != Kind::neither) {
    const Violation violation = reports.only();
    EXPECT_EQ(violation.write.site.line, 11U);
    EXPECT_EQ(violation.access_writes, row.kind == Kind::writes);
    EXPECT_EQ(violation.access.site.line, has_line ? row.line : 0);
    EXPECT_STREQ(violation.access.site.file, has_line ? __FILE__ : "?");
  }
  const std::size_t before = row.kind == Kind::neither ? 0 : 1;
  const bool writes = row.kind == Kind::writes || row.kind == Kind::reads_and_writes;
  read(accessed.origin, site(12));
  ASSERT_EQ(reports.count(), before + (writes ? 1 : 0))
      << "expected a report to the other family only if the row writes";
  if (writes) {
    EXPECT_EQ(reports.last().write.site.line, row.line);
    EXPECT_STREQ(reports.last().write.site.file, __FILE__);
    shadow::reset_summary();
    expect_nothing_changed_by_error(row, dtype, device);
  }
}

TEST(Accesses, every_operation_is_recorded_at_its_callers_line) {
  for (const Row& row : rows) {
    check(row, DType::f32, Device::cpu());
  }
  for (const Row& row : rows_on_bools) {
    check(row, DType::boolean, Device::cpu());
  }
  for (const Row& row : rows_on_device) {
    check(row, DType::f32, device());
  }
  check(row_without_call_site, DType::f32, Device::cpu(), false);
}

TEST(Accesses, tensors_without_elements_are_not_accessed) {
  for (const Row& row : rows_without_elements) {
    SCOPED_TRACE(row.text);
    const ReshapeModeScope scope(ReshapeMode::warn);
    const CaughtReports reports;
    Accessed accessed(DType::f32, Device::cpu());
    Tensor none = accessed.x.slice(0, 0, 0);
    row.run(none);
    read(accessed.origin, site(12));
    EXPECT_EQ(reports.count(), 0U);
  }
}

void expect_one_read(const Row& row, Device device) {
  SCOPED_TRACE(row.text);
  const CaughtReports reports;
  Accessed accessed(DType::f32, device);
  const ScopedSuppression suppression;
  row.run(accessed.x);
  EXPECT_EQ(shadow::summary().suppressed, 1U);
}

TEST(Accesses, an_operand_that_is_read_several_times_is_recorded_once) {
  for (const Row& row : rows_that_read_once) {
    expect_one_read(row, Device::cpu());
  }
  for (const Row& row : rows_that_read_once_on_device) {
    expect_one_read(row, device());
  }
}

}  // namespace
}  // namespace byre::test
