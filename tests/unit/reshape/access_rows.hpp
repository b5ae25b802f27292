// SPDX-License-Identifier: BSL-1.0
/// Rows of the tables that say of every operation on tensors whether it reads, writes or neither.
#pragma once

#include <byre/interop/npy.hpp>
#include <byre/tensor/accessor.hpp>
#include <byre/tensor/print.hpp>

#include <memory>

#include "support/temporary_folder.hpp"
#include "support/tensor/fake_device.hpp"
#include "watched.hpp"

namespace byre::test {

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

inline const Tensor& ones() {
  static const Tensor instance = Tensor::of<float>({2, 3}, {1, 1, 1, 1, 1, 1});
  return instance;
}
inline Tensor fresh() {
  return ones().clone();
}
inline const Tensor& truths() {
  static const Tensor instance = Tensor::of<bool>({2, 3}, {true, false, true, false, true, false});
  return instance;
}
inline Tensor on_device() {
  return ones().to(FakeDevice::first().device());
}
inline const TemporaryFolder& folder() {
  static const TemporaryFolder instance;
  return instance;
}

/// A row of `file` accesses what a [6] tensor was reshaped to, which `make_origin` makes.
inline void check(const char* file, const Row& row, Tensor (*make_origin)(),
                  bool is_placed = true) {
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
    EXPECT_STREQ(violation.access.site.file, is_placed ? file : "?");
  }
  const std::size_t told = reports.count();
  const bool writes = row.kind == Kind::writes || row.kind == Kind::reads_and_writes;
  static_cast<void>(origin.raw_data(line(12)));
  ASSERT_EQ(reports.count(), told + (writes ? 1 : 0)) << "of what the other family is told";
  if (writes) {
    EXPECT_EQ(reports.all().back().write.site.line, row.line);
    EXPECT_STREQ(reports.all().back().write.site.file, file);
  }
}

}  // namespace byre::test
