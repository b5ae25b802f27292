// SPDX-License-Identifier: BSL-1.0
/// What tests of the Vulkan backend have in common.
#pragma once

#include <cmath>
#include <limits>

#include "../unit/functional/random_calls.hpp"
#include "vulkan/backend/vulkan_tensor.hpp"
#include "vulkan/device/gpu.hpp"

namespace examples::vulkan::test {

using namespace byre::functional;
using namespace byre;
using byre::functional::call;
using byre::functional::call_for_one;
using byre::test::are_same;

inline Arguments on_device(Arguments arguments) {
  for (Argument& argument : arguments) {
    argument.for_each_tensor([](AnyTensor& tensor) { tensor = to_vulkan(to_cpu(tensor)); });
  }
  return arguments;
}

inline std::string text_of(const AnyTensor& tensor) {
  return byre::to_string(from_vulkan(tensor));
}

/// What the queue did since this was made.
class Counted {
 public:
  QueueStats now() const {
    QueueStats stats = Gpu::get().queue().stats();
    stats.dispatches -= before_.dispatches;
    stats.copies -= before_.copies;
    stats.uploads -= before_.uploads;
    stats.downloads -= before_.downloads;
    stats.barriers -= before_.barriers;
    stats.submissions -= before_.submissions;
    return stats;
  }
  std::uint64_t host_copies() const { return now().uploads + now().downloads; }

 private:
  const QueueStats before_ = Gpu::get().queue().stats();
};

/// The distance to the next number of a floating-point dtype at the magnitude of `value`.
inline double ulp_of(double value, DType dtype) {
  const int digits = dtype == DType::f64    ? 53
                     : dtype == DType::f16  ? 11
                     : dtype == DType::bf16 ? 8
                                            : 24;
  const int least = dtype == DType::f64 ? -1022 : dtype == DType::f16 ? -14 : -126;
  return std::ldexp(1.0, std::max(value == 0 ? least : std::ilogb(value), least) + 1 - digits);
}

/// The most ulps that elements differ by, of numbers that are finite in both; what is not has to be the same.
inline double distance(const Tensor& a, const Tensor& b) {
  const DType dtype = a.dtype();
  if (dtype != b.dtype() || a.sizes() != b.sizes()) {
    return std::numeric_limits<double>::infinity();
  }
  const auto as_f64 = [](const Tensor& tensor) {
    const Tensor real =
        tensor.dtype() == DType::complex64 ? tensor.contiguous().view_as_real() : tensor;
    Tensor wide = Tensor::empty(real.sizes(), DType::f64);
    return copy_(wide, real);
  };
  const Tensor x = as_f64(a);
  const Tensor y = as_f64(b);
  double most = 0;
  for (std::int64_t index = 0; index < x.numel(); ++index) {
    const double first = x.data<double>()[index];
    const double second = y.data<double>()[index];
    const bool is_same = first == second || (std::isnan(first) && std::isnan(second));
    if (!is_same) {
      const double apart = std::abs(first - second) / ulp_of(second, dtype);
      most = std::isnan(apart) ? std::numeric_limits<double>::infinity() : std::max(most, apart);
    }
  }
  return most;
}

}  // namespace examples::vulkan::test
