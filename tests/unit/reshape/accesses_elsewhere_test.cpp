// SPDX-License-Identifier: BSL-1.0
/// Operations on tensors that are on devices or without elements, and those that have no line.
#include <ostream>
#include <sstream>

#include "access_rows.hpp"

namespace byre::test {
namespace {

std::ostream& stream() {
  static std::ostringstream instance;
  return instance;
}

// clang-format off
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

TEST(Accesses, every_operation_is_seen_on_devices) {
  for (const Row& row : rows_on_device) {
    check(__FILE__, row,
          [] { return Tensor::zeros({6}, DType::f32, FakeDevice::first().device()); });
  }
}

TEST(Accesses, what_has_no_line_is_seen_at_a_place_that_is_not_known) {
  for (const Row& row : rows_of_no_line) {
    check(
        __FILE__, row, [] { return Tensor::zeros({6}, DType::f32); }, false);
  }
}

/// What converts, packs or fetches its operand on the way.
const Row rows_of_one_read[] = {
    ROW(reads, matmul(x, ones().t())),
    ROW(reads, matmul(x.t(), ones().view(DType::i32))),
    ROW(reads, matmul(ones().t(), x.t().t())),
};
const Row rows_of_one_read_on_device[] = {
    ROW(reads, x.t().to(Device::cpu())),
    ROW(reads, x.t().to(FakeDevice::second().device())),
    ROW(reads, copy_(*std::make_unique<Tensor>(fresh()), x)),
    ROW(reads, copy_(*std::make_unique<Tensor>(fresh()), x.t().t())),
};

void expect_one_read(const Row& row, Device device) {
  SCOPED_TRACE(row.text);
  const ReshapeModeScope scope(ReshapeMode::warn);
  const CaughtReports reports;
  Tensor origin = Tensor::zeros({6}, DType::f32, device);
  Tensor x = origin.reshape({2, 3}, line(10));
  zero_(origin, line(11));
  const shadow::ScopedSuppression suppression;
  row.run(x);
  EXPECT_EQ(shadow::summary().suppressed, 1U);
}

TEST(Accesses, a_read_is_recorded_once_whatever_is_done_to_it) {
  for (const Row& row : rows_of_one_read) {
    expect_one_read(row, Device::cpu());
  }
  for (const Row& row : rows_of_one_read_on_device) {
    expect_one_read(row, FakeDevice::first().device());
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
