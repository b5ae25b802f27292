// SPDX-License-Identifier: BSL-1.0
/// Forks while other threads hold the process-wide locks of the libraries above the core.
#include <byre/functional.hpp>
#include <byre/tensor.hpp>

#include "support/forks_under_load.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace {

using namespace functional;

/// Causes a violation (a write that is visible through a reshape), which is tracked, recorded and
/// reported.
void violate() {
  const shadow::ReshapeModeScope scope(shadow::ReshapeMode::warn);
  Tensor x = Tensor::of<float>({6}, {1, 2, 3, 4, 5, 6});
  const Tensor y = x.reshape({2, 3});
  x.mutable_data<float>()[0] = 7;
  EXPECT_EQ(y.data<float>()[0], 7);
}

void use_the_process(std::size_t turn) {
  switch (turn % 6) {
    case 0:
      violate();
      break;
    case 1:
      shadow::summary();
      break;
    case 2:
      shadow::set_default_reshape_mode(shadow::ReshapeMode::copy);
      break;
    case 3:
      EXPECT_THROW(support_of(Device(7, 7)), DeviceError);
      break;
    case 4: {
      const AnyTensor x = call_for_one("ones", {{2, 2}});
      vmap([](const Tensors& in) { return Tensors{call_for_one("add", {in[0], in[0]})}; })({x});
      break;
    }
    default:
      // Both names are taken, which is detected under the lock of registration.
      EXPECT_THROW(define("add(Tensor a, Tensor b) -> Tensor"), Error);
      EXPECT_THROW(add_backend({.name = "cpu"}), InvalidArgument);
      break;
  }
}

TEST(ForksUnderLoad, forked_children_of_busy_processes_work_and_exit) {
  const TemporaryFolder folder;
  write_file(folder / "suppressions", "nobody.cpp:1\n");
  shadow::suppress_sites(folder / "suppressions");
  shadow::set_violation_handler([](const shadow::Violation&) noexcept {});
  forks_under_load(100, [](std::size_t turn, Buffer&) { use_the_process(turn); });
  shadow::set_violation_handler(nullptr);
  shadow::set_default_reshape_mode(std::nullopt);
}

}  // namespace
}  // namespace byre::test
