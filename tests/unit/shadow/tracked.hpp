// SPDX-License-Identifier: BSL-1.0
/// Tensors that a tracked reshape linked, accesses at call sites of an imaginary program, and the
/// reports of these accesses.
#pragma once

#include <byre/shadow/mode.hpp>
#include <byre/shadow/summary.hpp>
#include <byre/shadow/suppression.hpp>
#include <byre/tensor/elements.hpp>
#include <byre/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <mutex>
#include <vector>

namespace byre::test {

using shadow::Advice;
using shadow::ReshapeMode;
using shadow::ReshapeModeScope;
using shadow::ReshapeViolation;
using shadow::ScopedSuppression;
using shadow::Violation;

inline const char* const model_file = "src/model/layers.cpp";

inline CallSite site(std::uint32_t line, const char* file = model_file) {
  return {file, line};
}

inline Tensor reshaped(const Tensor& tensor, const Dims& sizes,
                       ReshapeMode mode = ReshapeMode::warn, CallSite at = site(10)) {
  const ReshapeModeScope scope(mode);
  return tensor.reshape(sizes, at);
}
/// Reads all elements, on any device.
inline void read(const Tensor& tensor, CallSite at) {
  static_cast<void>(tensor.clone(at));
}
inline void write(Tensor& tensor, CallSite at) {
  fill_(tensor, 7, at);
}
/// Requests a raw pointer for writing, which is an escape.
inline void escape(Tensor& tensor, CallSite at) {
  static_cast<void>(tensor.mutable_raw_data(Wait::allowed, at));
}

/// Causes a violation: a read at line 12, after a write at line 11 through a tensor that was
/// reshaped at line 10.
inline void violate(ReshapeMode mode = ReshapeMode::warn, const char* file = model_file,
                    const Dims& sizes = {2, 3}) {
  const Tensor x = Tensor::zeros(sizes, DType::f32);
  Tensor y = reshaped(x, {-1}, mode, site(10, file));
  write(y, site(11, file));
  read(x, site(12, file));
}

inline std::vector<float> values_of(const Tensor& tensor) {
  const ScopedSuppression suppression;
  const Tensor copied = tensor.to(Device::cpu()).clone();
  return {copied.data<float>(), copied.data<float>() + copied.numel()};
}

/// Resets the summary, and catches the reports of all threads while it lives. Only one may live at
/// a time.
class CaughtReports {
 public:
  CaughtReports() : previous_(shadow::set_violation_handler(&keep)) {
    shadow::reset_summary();
    kept_.clear();
  }
  ~CaughtReports() {
    shadow::set_violation_handler(previous_);
    shadow::reset_summary();
  }
  CaughtReports(const CaughtReports&) = delete;
  CaughtReports& operator=(const CaughtReports&) = delete;

  std::vector<Violation> all() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return kept_;
  }
  std::size_t count() const { return all().size(); }
  /// An empty violation if there were no reports.
  Violation last() const { return count() == 0 ? Violation{} : all().back(); }
  /// Fails unless there was exactly one report.
  Violation only() const {
    EXPECT_EQ(count(), 1U);
    return last();
  }

 private:
  static inline std::mutex mutex_;
  static inline std::vector<Violation> kept_;

  static void keep(const Violation& violation) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    kept_.push_back(violation);
  }

  const shadow::ViolationHandler previous_;
};

class Reported : public testing::Test {
 protected:
  CaughtReports reports;
};

/// Six elements, 1 to 6, and their reshape to [2, 3] at line 10.
class Tracked : public Reported {
 protected:
  Tensor x = Tensor::of<float>({6}, {1, 2, 3, 4, 5, 6});
  Tensor y = reshaped(x, {2, 3});
};

}  // namespace byre::test
