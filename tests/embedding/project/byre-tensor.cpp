// SPDX-License-Identifier: BSL-1.0
#include <byre/tensor.hpp>

#include <cstdio>

int main() {
  byre::Tensor first = byre::Tensor::of<float>({2}, {1, 2});
  const byre::Tensor second = first.lazy_clone();
  first.mutable_data<float>()[0] = 5;
  const bool good = second.data<float>()[0] == 1 && first.data<float>()[0] == 5;
  std::printf("byre %s: %s\n", BYRE_VERSION_STRING, good ? "good" : "a write was shared");
  return good ? 0 : 1;
}
