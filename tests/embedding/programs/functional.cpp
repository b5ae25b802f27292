// SPDX-License-Identifier: BSL-1.0
#include <byre/functional.hpp>

#include <cstdio>

using namespace byre::functional;

int main() {
  // A write to a view changes its base.
  const Program doubles_a_row = functionalize([](const Tensors& in) {
    const AnyTensor row = call_for_one("select", {in[0], 0, 1});
    call("add_", {row, row});
    return Tensors{in[0]};
  });
  const AnyTensor x = call_for_one("ones", {{2, 2}});
  doubles_a_row({x});
  const float* written = to_cpu(x).data<float>();
  const bool good = written[0] == 1 && written[2] == 2 && written[3] == 2;
  std::printf("byre %s: %s\n", BYRE_VERSION_STRING, good ? "good" : "the base is unchanged");
  return good ? 0 : 1;
}
