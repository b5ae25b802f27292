// SPDX-License-Identifier: BSL-1.0
// A tensor as a std::mdspan, where the standard library has one.
#include <byre/interop/span.hpp>

#include <cstdio>

#if !defined(__cpp_lib_mdspan)
#error "this standard library has no std::mdspan"
#endif

int main() {
  byre::Tensor tensor = byre::Tensor::of<float>({2, 2}, {1, 2, 3, 4}).t();
  const byre::Tensor clone = tensor.lazy_clone();
  byre::as_mutable_mdspan<float, 2>(tensor)[0, 1] = 9;
  const auto seen = byre::as_mdspan<float, 2>(tensor);
  const bool is_right =
      seen[0, 1] == 9 && seen[1, 0] == 2 && seen.extent(0) == 2 && clone.at<float>({0, 1}) == 3;
  std::printf("%s\n", is_right ? "the mdspan has the elements" : "the mdspan is wrong");
  return is_right ? 0 : 1;
}
