// SPDX-License-Identifier: BSL-1.0
/// main() of the tests. After each test it expects that the validation layer has printed no
/// message.
#include <gtest/gtest.h>

#include "vulkan/device/gpu.hpp"

namespace {

class ValidationIsSilent final : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo&) override {
    if (examples::vulkan::Gpu* const gpu = examples::vulkan::Gpu::get_if_made()) {
      if (!gpu->queue().is_lost()) {
        gpu->queue().wait_idle();
      }
      EXPECT_EQ(gpu->driver().validation_messages, seen_)
          << "expected no message of the validation layer: see stderr";
      seen_ = gpu->driver().validation_messages;
    }
  }

  std::uint64_t seen_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new ValidationIsSilent);
  return RUN_ALL_TESTS();
}
