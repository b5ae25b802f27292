// SPDX-License-Identifier: BSL-1.0
// By hand, a shader for each operator: what the program says, with neighbours read where they are and results
// written in place.
#include <array>
#include <byre/tensor/tensor.hpp>
#include <cstdint>
#include <memory>
#include <span>

#include "by_operator_spirv.h"
#include "form.hpp"
#include "simulation.hpp"
#include "vulkan/device/gpu.hpp"

namespace examples::diffusion {
namespace {

using byre::Tensor;
using vulkan::Gpu;
using vulkan::Pipeline;
using vulkan::Use;

/// As the shader numbers them.
enum Operation : std::uint32_t {
  copy,
  add,
  multiply,
  scale,
  add_in_place,
  subtract_in_place,
  multiply_in_place,
  scale_in_place,
  add_number_in_place,
  operations
};

/// Rows of a tensor of the device.
struct View {
  Tensor* tensor;
  std::uint32_t offset;
  std::uint32_t stride;
};

class ByOperator final : public Form {
 public:
  ByOperator(const Plan& plan, const Tensor& grid)
      : size_(static_cast<std::uint32_t>(plan.size)),
        stride_(size_ + 2),
        periodic_(plan.periodic),
        rates_(plan),
        grid_(grid.to(Gpu::get().device())) {
    const vulkan::PipelineLayout layout{.buffers = 3, .push_constants_nbytes = sizeof(Parameters)};
    for (std::uint32_t operation = 0; operation < operations; ++operation) {
      pipelines_[operation] =
          std::make_unique<Pipeline>(Gpu::get(), std::span<const std::uint32_t>(by_operator_spirv),
                                     layout, std::span(&operation, 1));
    }
    const auto size = static_cast<std::int64_t>(plan.size);
    for (Tensor* const each : {&change_of_u_, &change_of_v_, &other_}) {
      *each = Tensor::empty({size, size}, byre::DType::f32, Gpu::get().device());
    }
  }

  void step() override {
    if (periodic_) {
      for (const std::uint32_t field : {0U, 1U}) {
        continue_periodically(field);
      }
    }
    diffuse(change_of_u_, 0, rates_.diffusion_u);
    diffuse(change_of_v_, 1, rates_.diffusion_v);
    const View u = cells(0);
    const View v = cells(1);
    const View change_of_u = all(change_of_u_);
    const View change_of_v = all(change_of_v_);
    const View reaction = all(other_);
    run(multiply, reaction, u, v);
    run(multiply_in_place, reaction, v);
    run(subtract_in_place, change_of_u, reaction);
    run(add_in_place, change_of_v, reaction);
    run(scale_in_place, u, rates_.keeps_u);
    run(add_number_in_place, u, rates_.feed);
    run(add_in_place, u, change_of_u);
    run(scale_in_place, v, rates_.keeps_v);
    run(add_in_place, v, change_of_v);
  }

  Tensor snapshot() const override { return grid_.lazy_clone(); }

 private:
  struct Parameters {
    std::uint32_t columns, rows;
    std::uint32_t target_offset, target_stride, a_offset, a_stride, b_offset, b_stride;
    float scalar;
  };

  View all(Tensor& tensor) const { return {&tensor, 0, size_}; }
  View at(std::uint32_t field, std::uint32_t row, std::uint32_t column) {
    return {&grid_, (field * stride_ + row) * stride_ + column, stride_};
  }
  View cells(std::uint32_t field) { return at(field, 1, 1); }

  void continue_periodically(std::uint32_t field) {
    run(copy, at(field, 0, 0), at(field, size_, 0), stride_, 1);
    run(copy, at(field, size_ + 1, 0), at(field, 1, 0), stride_, 1);
    run(copy, at(field, 0, 0), at(field, 0, size_), 1, stride_);
    run(copy, at(field, 0, size_ + 1), at(field, 0, 1), 1, stride_);
  }

  void diffuse(Tensor& into, std::uint32_t field, float rate) {
    const View change = all(into);
    const View other = all(other_);
    run(add, change, at(field, 0, 1), at(field, 2, 1));
    run(add_in_place, change, at(field, 1, 0));
    run(add_in_place, change, at(field, 1, 2));
    run(scale, other, cells(field), 4.0F);
    run(subtract_in_place, change, other);
    run(scale_in_place, change, rate);
  }

  void run(Operation operation, View target, View a, std::uint32_t columns, std::uint32_t rows) {
    record(operation, target, a, a, 0, columns, rows);
  }
  void run(Operation operation, View target, View a) { run(operation, target, a, size_, size_); }
  void run(Operation operation, View target, View a, View b) {
    record(operation, target, a, b, 0, size_, size_);
  }
  void run(Operation operation, View target, View a, float scalar) {
    record(operation, target, a, a, scalar, size_, size_);
  }
  void run(Operation operation, View target, float scalar) {
    run(operation, target, target, scalar);
  }

  void record(Operation operation, View target, View a, View b, float scalar, std::uint32_t columns,
              std::uint32_t rows) {
    const Parameters parameters{columns,  rows,     target.offset, target.stride, a.offset,
                                a.stride, b.offset, b.stride,      scalar};
    void* const written = target.tensor->mutable_raw_data();
    const auto use = [](const View& view, Use::Kind kind) {
      return Use{view.tensor->raw_data(), view.tensor->nbytes(), kind};
    };
    const std::array uses = {Use{written, target.tensor->nbytes(), Use::write}, use(a, Use::read),
                             use(b, Use::read)};
    Gpu::get().queue().dispatch(*pipelines_[operation], uses,
                                std::as_bytes(std::span(&parameters, 1)), (columns + 63) / 64,
                                rows);
  }

  std::uint32_t size_;
  std::uint32_t stride_;
  bool periodic_;
  Rates rates_;
  Tensor grid_;
  Tensor change_of_u_;
  Tensor change_of_v_;
  Tensor other_;
  std::array<std::unique_ptr<Pipeline>, operations> pipelines_;
};

}  // namespace

const FormKind by_operator_form = {
    "by operator", "by hand, a shader for each operator, which writes in place",
    [](const Plan& plan, const Tensor& grid) -> std::unique_ptr<Form> {
      return std::make_unique<ByOperator>(plan, grid);
    }};

}  // namespace examples::diffusion
