// SPDX-License-Identifier: BSL-1.0
#include <byre/tensor.hpp>

#include <cstdio>

int main() {
  const byre::Tensor row = byre::Tensor::of<float>({2}, {1, 2});
  const byre::Tensor doubled = byre::add(row, row);
  std::puts(BYRE_VERSION_STRING);
  return doubled.data<float>()[1] == 4 ? 0 : 1;
}
