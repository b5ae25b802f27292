// SPDX-License-Identifier: BSL-1.0
/// The Gray-Scott model of two substances u and v that diffuse. u is added at a rate, two v and one
/// u become three v, and v is removed at a rate. The step is written once, as a program over
/// tensors of any backend.
///
/// Source: J. E. Pearson, "Complex Patterns in a Simple System", Science 261, 1993.
#pragma once

#include <array>
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/functionalize/transform.hpp>
#include <byre/tensor/elements.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "step_spirv.h"
#include "vulkan/backend/vulkan_tensor.hpp"
#include "vulkan/device/gpu.hpp"

namespace examples::diffusion {

using byre::Tensor;
using byre::functional::AnyTensor;
using byre::functional::call;
using byre::functional::call_for_one;
using byre::functional::Tensors;
using vulkan::Gpu;
using vulkan::Use;

/// The coefficients of a step of one unit of time.
struct Rates {
  float diffusion_u = 0.2F;
  float diffusion_v = 0.1F;
  float feed = 0.037F;     ///< added to u
  float keeps_u = 0.963F;  ///< 1 - feed
  float keeps_v = 0.903F;  ///< 1 - feed - 0.06
};

inline AnyTensor part(const AnyTensor& grid, std::int64_t axis, std::int64_t begin,
                      std::int64_t length) {
  return call_for_one("slice", {grid, axis, begin, begin + length});
}

/// A view of the cells of a field without its border, shifted by `down` and `right`.
inline AnyTensor cells(const AnyTensor& field, std::int64_t down = 0, std::int64_t right = 0) {
  const std::int64_t size = field.sizes()[0] - 2;
  return part(part(field, 0, 1 + down, size), 1, 1 + right, size);
}

/// Copies the cells of each side to the border of the opposite side.
inline void continue_periodically(const AnyTensor& grid) {
  const std::int64_t size = grid.sizes()[1] - 2;
  for (const std::int64_t axis : {1, 2}) {
    call("copy_", {part(grid, axis, 0, 1), part(grid, axis, size, 1)});
    call("copy_", {part(grid, axis, size + 1, 1), part(grid, axis, 1, 1)});
  }
}

/// Returns the change of the cells by diffusion.
inline AnyTensor diffused(const AnyTensor& field, float rate) {
  AnyTensor change = call_for_one("add", {cells(field, -1, 0), cells(field, 1, 0)});
  call("add_", {change, cells(field, 0, -1)});
  call("add_", {change, cells(field, 0, 1)});
  call("sub_", {change, call_for_one("mul.scalar", {cells(field), 4.0})});
  call("mul_.scalar", {change, double{rate}});
  return change;
}

/// Computes the next step of the grid inputs[0] by updating slices of the grid in place. The grid
/// has the layout that first_grid() documents, and is periodic. Returns no tensors.
inline Tensors step(const Tensors& inputs) {
  constexpr Rates rates;
  const AnyTensor& grid = inputs[0];
  continue_periodically(grid);
  const AnyTensor field_u = call_for_one("select", {grid, 0, 0});
  const AnyTensor field_v = call_for_one("select", {grid, 0, 1});
  const AnyTensor change_of_u = diffused(field_u, rates.diffusion_u);
  const AnyTensor change_of_v = diffused(field_v, rates.diffusion_v);
  const AnyTensor u = cells(field_u);
  const AnyTensor v = cells(field_v);
  const AnyTensor reaction = call_for_one("mul", {u, v});
  call("mul_", {reaction, v});
  call("sub_", {change_of_u, reaction});
  call("add_", {change_of_v, reaction});
  call("mul_.scalar", {u, double{rates.keeps_u}});
  call("add_.scalar", {u, double{rates.feed}});
  call("add_", {u, change_of_u});
  call("mul_.scalar", {v, double{rates.keeps_v}});
  call("add_", {v, change_of_v});
  return {};
}

/// The initial grid: f32 of sizes 2, size + 2, size + 2, for u and v with a border of one cell.
/// Outside of a square u is 1 and v is 0.
inline Tensor first_grid(std::int64_t size) {
  Tensor grid = Tensor::zeros({2, size + 2, size + 2}, byre::DType::f32);
  const Tensor square = grid.narrow(1, size / 3, size / 4).narrow(2, size / 2, size / 4);
  Tensor u = grid.select(0, 0);
  Tensor square_u = square.select(0, 0);
  Tensor square_v = square.select(0, 1);
  byre::fill_(u, 1.0);
  byre::fill_(square_u, 0.5);
  byre::fill_(square_v, 0.25);
  return grid;
}

/// A view of a field (0: u, 1: v) of a grid on the host, without its border.
inline Tensor field_of(const Tensor& grid, std::int64_t field) {
  const std::int64_t size = grid.sizes()[1] - 2;
  return grid.select(0, field).narrow(0, 1, size).narrow(1, 1, size);
}

/// A running simulation.
struct Form {
  std::function<void()> step;  ///< computes one step; on the device, only records the commands
  /// Returns a lazy clone of the fields, on the device of the simulation.
  std::function<byre::Tensor()> snapshot;
};

/// step() on the host. All forms begin with a grid on the host.
inline Form on_host(const Tensor& grid) {
  const Tensors inputs = {byre::functional::from_cpu(grid)};
  return {.step = [=] { step(inputs); }, .snapshot = [grid] { return grid.lazy_clone(); }};
}

/// step() on the device. Each call functionalizes step() again.
inline Form functionalized(const Tensor& grid) {
  // With strides, reading a view costs one dispatch, even if it is a view of many views.
  const auto program =
      byre::functional::functionalize(step, {.paths = byre::functional::ViewPaths::strides});
  const Tensors inputs = {vulkan::to_vulkan(grid)};
  return {.step = [=] { program(inputs); },
          .snapshot = [=] { return inputs[0].as<vulkan::VulkanTensor>()->tensor(); }};
}

/// One shader that computes an entire step, from one grid into another.
inline Form by_hand(const Tensor& grid) {
  struct Grids {
    Tensor now, after;
  };
  const auto grids = std::make_shared<Grids>(
      Grids{grid.to(Gpu::get().device()),
            Tensor::empty(grid.sizes(), grid.dtype(), Gpu::get().device())});
  const auto record = [grids] {
    const struct {
      std::uint32_t size;
      Rates rates;
    } parameters{static_cast<std::uint32_t>(grids->now.sizes()[1] - 2), {}};
    const std::array uses = {
        Use{grids->after.mutable_raw_data(), grids->after.nbytes(), Use::write},
        Use{grids->now.raw_data(), grids->now.nbytes(), Use::read}};
    Gpu::get().queue().dispatch({step_spirv}, uses, std::as_bytes(std::span(&parameters, 1)),
                                {(parameters.size + 63) / 64, parameters.size, 1});
    std::swap(grids->now, grids->after);
  };
  return {.step = record, .snapshot = [grids] { return grids->now.lazy_clone(); }};
}

}  // namespace examples::diffusion
