// SPDX-License-Identifier: BSL-1.0
#include <byre/tensor.hpp>

#include <cstdio>

#if defined(EXPECT_MDSPAN) && !defined(__cpp_lib_mdspan)
#error "this standard library lacks std::mdspan"
#endif

static bool writes_stay_apart() {
  byre::Tensor first = byre::Tensor::of<float>({2}, {1, 2});
  const byre::Tensor second = first.lazy_clone();
  first.mutable_data<float>()[0] = 5;
  return second.data<float>()[0] == 1 && first.data<float>()[0] == 5;
}

static bool converts_to_mdspan() {
#if defined(__cpp_lib_mdspan)
  byre::Tensor tensor = byre::Tensor::of<float>({2, 2}, {1, 2, 3, 4}).t();
  const byre::Tensor clone = tensor.lazy_clone();
  byre::as_mutable_mdspan<float, 2>(tensor)[0, 1] = 9;
  const auto seen = byre::as_mdspan<float, 2>(tensor);
  return seen[0, 1] == 9 && seen[1, 0] == 2 && seen.extent(0) == 2 && clone.at<float>({0, 1}) == 3;
#else
  return true;
#endif
}

int main() {
  const bool good = writes_stay_apart() && converts_to_mdspan();
  std::printf("byre %s: %s\n", BYRE_VERSION_STRING,
              good ? "good" : "a write changed the clone, or was lost");
  return good ? 0 : 1;
}
