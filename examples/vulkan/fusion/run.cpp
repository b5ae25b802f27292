// SPDX-License-Identifier: BSL-1.0
#include "vulkan/fusion/run.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>
#include <vector>

#include "vulkan/backend/kernels.hpp"
#include "vulkan/backend/shaders.hpp"
#include "vulkan/device/gpu.hpp"

namespace examples::vulkan {
namespace {

using byre::DType;
using byre::functional::AnyTensor;
using byre::functional::Tensors;

/// Tensors whose memory an output may take, each once: nobody else has it, not even another output, and threads read
/// the element alone that they write.
class Reusable {
 public:
  Reusable(const FusedKernel& kernel, const Tensors& inputs) : kernel_(kernel), inputs_(inputs) {}

  AnyTensor take() {
    for (std::size_t at = 0; at < inputs_.size(); ++at) {
      const auto& input = *inputs_[at].as<VulkanTensor>();
      if (kernel_.reads_own_element[at] && input.handle_count() == 1 &&
          input.storage().handle_count() == 1 && input.storage().use_count() == 1) {
        return inputs_[at];
      }
    }
    return made_on_device(kernel_.output_sizes, DType::f32);
  }

 private:
  const FusedKernel& kernel_;
  const Tensors& inputs_;
};

std::uint32_t groups(std::int64_t count, std::int64_t each) {
  return static_cast<std::uint32_t>((count + each - 1) / each);
}

}  // namespace

Tensors run(const FusedKernel& kernel, Tensors inputs) {
  Reusable reusable(kernel, inputs);
  Tensors outputs;
  for (std::size_t output = 0; output < kernel.outputs.size(); ++output) {
    outputs.push_back(reusable.take());
    outputs.back().as<VulkanTensor>()->storage().mutable_data();
  }
  // Bindings that no instruction names are of what is bound anyway.
  std::vector<Use> uses;
  const auto add = [&uses](const AnyTensor& tensor, Use::Kind kind) {
    const byre::Storage& storage = tensor.as<VulkanTensor>()->storage();
    uses.push_back({storage.data(), storage.nbytes(), kind});
  };
  for (std::size_t input = 0; input < fused_inputs; ++input) {
    add(input < inputs.size() ? inputs[input] : inputs.empty() ? outputs[0] : inputs[0], Use::read);
  }
  for (std::size_t output = 0; output < fused_outputs; ++output) {
    add(outputs[output < outputs.size() ? output : 0], Use::write);
  }

  std::array<std::uint32_t, fused_instructions + 2 + fused_parameters> constants{};
  std::transform(kernel.instructions.begin(), kernel.instructions.end(), constants.begin(),
                 [](const Instruction& instruction) { return instruction.code(); });
  const std::int64_t width = std::min<std::int64_t>(
      fused_width,
      static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(kernel.sizes[2]))));
  const std::int64_t height = fused_width / width;
  constants[fused_instructions] = static_cast<std::uint32_t>(width);
  constants[fused_instructions + 1] = static_cast<std::uint32_t>(height);
  std::transform(kernel.parameters.begin(), kernel.parameters.end(),
                 constants.begin() + fused_instructions + 2,
                 [](std::int32_t parameter) { return static_cast<std::uint32_t>(parameter); });
  const Pipeline& pipeline = pipeline_of(Shader::fused, Domain::single, false, constants);
  std::array<float, fused_numbers> numbers{};
  std::ranges::copy(kernel.numbers, numbers.begin());
  Gpu::get().queue().dispatch(pipeline, uses, std::as_bytes(std::span(numbers)),
                              groups(kernel.sizes[2], width), groups(kernel.sizes[1], height),
                              groups(kernel.sizes[0], 1));
  return outputs;
}

}  // namespace examples::vulkan
