// SPDX-License-Identifier: BSL-1.0
/// What tests of the Vulkan backend have in common.
#pragma once

#include <cmath>

#include "../unit/functional/random_calls.hpp"
#include "vulkan/backend/vulkan_tensor.hpp"
#include "vulkan/device/gpu.hpp"

namespace examples::vulkan::test {

using namespace byre::functional;
using namespace byre;
using byre::functional::call;
using byre::functional::call_for_one;
using byre::test::are_same;

/// Commands since this was made.
class Counted {
 public:
  std::uint64_t dispatches() const { return now().dispatches - before_.dispatches; }
  std::uint64_t copies() const { return now().copies - before_.copies; }
  std::uint64_t host_copies() const {
    return now().uploads + now().downloads - before_.uploads - before_.downloads;
  }

 private:
  static QueueStats now() { return Gpu::get().queue().stats(); }
  const QueueStats before_ = now();
};

/// The most ulps that elements of floating dtypes differ by; infinite if sizes or dtypes differ, or one element alone is
/// infinite or not a number.
inline double distance(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.sizes() != b.sizes()) {
    return HUGE_VAL;
  }
  const auto as_f64 = [](const Tensor& tensor) {
    const bool is_complex = tensor.dtype() == DType::complex64;
    const Tensor real = is_complex ? tensor.contiguous().view_as_real() : tensor;
    Tensor wide = Tensor::empty(real.sizes(), DType::f64);
    return copy_(wide, real);
  };
  const DType dtype = a.dtype();
  const int digits = dtype == DType::f64    ? 53
                     : dtype == DType::f16  ? 11
                     : dtype == DType::bf16 ? 8
                                            : 24;
  const int least = dtype == DType::f64 ? -1022 : dtype == DType::f16 ? -14 : -126;
  const Tensor x = as_f64(a);
  const Tensor y = as_f64(b);
  double most = 0;
  for (std::int64_t index = 0; index < x.numel(); ++index) {
    const double first = x.data<double>()[index];
    const double second = y.data<double>()[index];
    if (first != second && !(std::isnan(first) && std::isnan(second))) {
      const int exponent = std::max(second == 0 ? least : std::ilogb(second), least);
      const double apart = std::abs(first - second) / std::ldexp(1.0, exponent + 1 - digits);
      most = std::isnan(apart) ? HUGE_VAL : std::max(most, apart);
    }
  }
  return most;
}

}  // namespace examples::vulkan::test
