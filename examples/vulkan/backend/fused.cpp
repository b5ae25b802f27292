// SPDX-License-Identifier: BSL-1.0
#include "vulkan/backend/fused.hpp"

#include <algorithm>

#include "vulkan/device/gpu.hpp"

namespace examples::vulkan {
namespace {

using byre::Dims;

/// As fused.comp has them.
struct FusedParameters {
  std::array<std::uint32_t, 4> sizes{1, 1, 1, 0};
  std::array<std::array<std::uint32_t, 4>, Fused::most_places> places{};
  std::array<float, 32> numbers{};
};

Dims contiguous_strides(const Dims& sizes) {
  return byre::contiguous_layout(sizes, "fused").strides;
}

/// The dimensions that are one to all places are joined: at most three are left, which whoever made the group saw to.
std::size_t set_places(FusedParameters& parameters, const Dims& sizes,
                       const std::vector<const FusedPlace*>& places) {
  std::size_t dimension = 0;  // from 1 on, as the offset is number 0
  for (std::size_t place = 0; place < places.size(); ++place) {
    parameters.places[place][0] = static_cast<std::uint32_t>(places[place]->offset);
  }
  for (std::size_t axis = sizes.size(); axis-- != 0;) {
    if (sizes[axis] == 1) {
      continue;
    }
    bool continues = dimension != 0;
    for (std::size_t place = 0; continues && place < places.size(); ++place) {
      const auto stride = static_cast<std::uint32_t>(places[place]->strides[axis]);
      continues = stride == parameters.places[place][dimension] * parameters.sizes[dimension - 1];
    }
    if (continues) {
      parameters.sizes[dimension - 1] *= static_cast<std::uint32_t>(sizes[axis]);
      continue;
    }
    if (++dimension > 3) {
      return dimension;
    }
    parameters.sizes[dimension - 1] = static_cast<std::uint32_t>(sizes[axis]);
    for (std::size_t place = 0; place < places.size(); ++place) {
      parameters.places[place][dimension] =
          static_cast<std::uint32_t>(places[place]->strides[axis]);
    }
  }
  return dimension;
}

std::uint32_t groups_of(std::uint32_t count, std::uint32_t each) {
  return std::clamp<std::uint32_t>((count + each - 1) / each, 1, 65535);
}

}  // namespace

bool fits_three_dimensions(const Dims& sizes, const std::vector<FusedPlace>& places) {
  FusedParameters parameters;
  std::vector<const FusedPlace*> all;
  for (const FusedPlace& place : places) {
    all.push_back(&place);
  }
  const FusedPlace result{0, 0, contiguous_strides(sizes)};
  all.push_back(&result);
  return all.size() <= Fused::most_places && set_places(parameters, sizes, all) <= 3;
}

bool reads_in_order(const Fused& fused, std::size_t input) {
  const Dims strides = contiguous_strides(fused.sizes);
  return std::all_of(fused.places.begin(), fused.places.end(), [&](const FusedPlace& place) {
    bool is_so = place.operand != input || place.offset == 0;
    for (std::size_t axis = 0; is_so && place.operand == input && axis < strides.size(); ++axis) {
      is_so = fused.sizes[axis] == 1 || place.strides[axis] == strides[axis];
    }
    return is_so;
  });
}

void run(const Fused& fused, const std::vector<VulkanTensor*>& outputs,
         const std::vector<VulkanTensor*>& inputs) {
  FusedParameters parameters;
  std::vector<const FusedPlace*> places;
  for (const FusedPlace& place : fused.places) {
    places.push_back(&place);
  }
  const FusedPlace result{0, 0, contiguous_strides(fused.sizes)};
  places.push_back(&result);
  set_places(parameters, fused.sizes, places);
  std::copy(fused.numbers.begin(), fused.numbers.end(), parameters.numbers.begin());

  std::array<Use, Fused::most_outputs + Fused::most_inputs> uses;
  for (std::size_t number = 0; number < Fused::most_outputs; ++number) {
    byre::Storage& storage = outputs[std::min(number, outputs.size() - 1)]->storage();
    void* const address = storage.mutable_data();
    uses[number] = {address, storage.nbytes(), Use::read_write};
  }
  for (std::size_t number = 0; number < Fused::most_inputs; ++number) {
    const byre::Storage& storage =
        std::as_const(*inputs[number < inputs.size() ? number : 0]).storage();
    uses[Fused::most_outputs + number] = {storage.data(), storage.nbytes(), Use::read};
  }

  const std::uint32_t width = parameters.sizes[1] == 1 || parameters.sizes[0] > 64 ? 256 : 32;
  const std::uint32_t height = 256 / width;
  std::vector<std::uint32_t> constants(2 + 3 * Fused::most_slots);
  constants[0] = width;
  constants[1] = height;
  for (std::size_t slot = 0; slot < fused.slots.size(); ++slot) {
    constants[2 + 3 * slot] = static_cast<std::uint32_t>(fused.slots[slot].operation);
    constants[3 + 3 * slot] = fused.slots[slot].left;
    constants[4 + 3 * slot] = fused.slots[slot].right;
  }
  Gpu::get().queue().dispatch(
      pipeline_of(Shader::fused, Domain::single, false, constants), uses, {},
      std::as_bytes(std::span(&parameters, 1)), groups_of(parameters.sizes[0], width),
      groups_of(parameters.sizes[1], height), groups_of(parameters.sizes[2], 1));
}

}  // namespace examples::vulkan
