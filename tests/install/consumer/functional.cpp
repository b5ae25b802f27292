// SPDX-License-Identifier: BSL-1.0
#include <byre/functional.hpp>

#include <cstdio>

using namespace byre::functional;

int main() {
  const Program doubled = functionalize([](const Tensors& in) {
    return Tensors{call_for_one("add", {in[0], in[0]})};
  });
  const Tensors out = doubled({call_for_one("ones", {{2}})});
  std::puts(BYRE_VERSION_STRING);
  return to_cpu(out[0]).data<float>()[1] == 2 ? 0 : 1;
}
