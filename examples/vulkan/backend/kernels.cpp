// SPDX-License-Identifier: BSL-1.0
#include "vulkan/backend/kernels.hpp"

#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/tensor/elements.hpp>
#include <cstring>

#include "compiled_shaders.hpp"
#include "vulkan/device/gpu.hpp"

namespace examples::vulkan {

using namespace byre::functional;
using byre::Dims;
using byre::DType;

std::vector<Dimension> merged(const Dims& sizes, const std::array<Dims, 4>& strides) {
  std::vector<Dimension> dimensions;
  for (std::size_t axis = sizes.size(); axis-- != 0;) {
    if (sizes[axis] == 1) {
      continue;
    }
    Dimension next{.size = sizes[axis]};
    bool continues = !dimensions.empty();
    for (std::size_t operand = 0; operand < strides.size(); ++operand) {
      next.strides[operand] = strides[operand].empty() ? 0 : strides[operand][axis];
      continues = continues && next.strides[operand] ==
                                   dimensions.back().strides[operand] * dimensions.back().size;
    }
    if (continues) {
      dimensions.back().size *= next.size;
    } else {
      dimensions.push_back(next);
    }
  }
  if (dimensions.empty()) {
    dimensions.emplace_back();
  }
  return dimensions;
}

void dispatch(std::string_view shader, Domain domain, bool doubles, const Words& constants,
              std::span<const Use> uses, const Words& parameters,
              const std::array<std::uint32_t, 3>& groups) {
  Gpu& gpu = Gpu::get();
  doubles = doubles || domain == Domain::f64;
  if (doubles && !gpu.driver().has_float64) {
    throw VulkanError(byre::format_text(
        "cannot compute f64 on %s: the device lacks the feature shaderFloat64. Use f32 there, or "
        "the host.",
        gpu.driver().description.c_str()));
  }
  const auto* const compiled =
      std::ranges::find_if(compiled_shaders, [&](const CompiledShader& each) {
        return each.shader == shader && each.domain == domain && each.doubles == doubles;
      });
  gpu.queue().dispatch({compiled->words, constants}, uses, std::as_bytes(std::span(parameters)),
                       groups);
}

Operands::Operands(const Call& call) {
  for (const Argument& argument : call.arguments) {
    argument.for_each_tensor([&](const AnyTensor& tensor) {
      auto* on_device = tensor.as<VulkanTensor>();
      if (on_device == nullptr) {
        copied_.push_back(to_vulkan(to_cpu(tensor)));
        on_device = copied_.back().as<VulkanTensor>();
      }
      all_.push_back(on_device);
    });
  }
}

bool Operands::is_sole(std::size_t index) const {
  return all_[index]->handle_count() == 1 && all_[index]->storage().handle_count() == 1;
}

VulkanTensorPtr empty_on_device(Dims sizes, DType dtype) {
  const std::size_t nbytes = byre::ViewGeometry::of_all(sizes, dtype).nbytes();
  byre::Storage storage;
  if (nbytes != 0) {
    storage = byre::Storage::allocate(nbytes, Gpu::get().allocator());
  }
  return make_counted<VulkanTensor>(std::move(storage), std::move(sizes), dtype);
}

VulkanTensorPtr lazy_clone(const VulkanTensor& tensor) {
  return lazy_clone(tensor, tensor.dims(), tensor.dtype());
}

VulkanTensorPtr lazy_clone(const VulkanTensor& tensor, Dims sizes, DType dtype) {
  return make_counted<VulkanTensor>(tensor.storage().lazy_clone(), std::move(sizes), dtype);
}

Use use_of(const VulkanTensor& tensor, Use::Kind kind) {
  return {tensor.storage().data(), tensor.storage().nbytes(), kind};
}

Place place_of(const VulkanTensor& tensor, const Dims& sizes) {
  Place place{.use = use_of(tensor, Use::read),
              .type = word(tensor.dtype()),
              .strides = Dims(sizes.size())};
  const Dims& own = tensor.dims();
  const std::size_t in_front = sizes.size() - own.size();
  std::int64_t stride = 1;
  for (std::size_t axis = own.size(); axis-- != 0;) {
    place.strides[in_front + axis] = own[axis] == 1 ? 0 : stride;
    stride *= own[axis];
  }
  return place;
}

Place place_of(const VulkanTensor& tensor, const byre::Layout& layout) {
  return {.use = use_of(tensor, Use::read),
          .type = word(tensor.dtype()),
          .offset = layout.offset,
          .strides = layout.strides};
}

void run(const Pointwise& pointwise) {
  if (std::ranges::count(pointwise.sizes, 0) != 0) {
    return;
  }
  const std::array<Place, 4>& places = pointwise.places;
  const std::vector<Dimension> dimensions =
      merged(pointwise.sizes,
             {places[0].strides, places[1].strides, places[2].strides, places[3].strides});
  const std::int64_t length = dimensions[0].size;
  std::int64_t rows = 1;
  Words parameters(4);
  const auto add = [&](const auto& four) {
    for (const auto each : four) {
      parameters.push_back(word(each));
    }
  };
  add(std::array{places[0].offset, places[1].offset, places[2].offset, places[3].offset});
  add(dimensions[0].strides);
  add(std::array{pointwise.number[0], pointwise.number[1], 0U, 0U});
  for (std::size_t outer = 1; outer < dimensions.size(); ++outer) {
    add(std::array<std::int64_t, 4>{dimensions[outer].size});
    add(dimensions[outer].strides);
    rows *= dimensions[outer].size;
  }
  add(std::array<std::uint32_t, 4>{});  // an array in a buffer must not be empty
  parameters[0] = word(length);
  parameters[1] = word(rows);
  parameters[2] = word(dimensions.size() - 1);

  // A group has 256 invocations, and each computes about four elements of a row. Groups have only
  // three shapes, because each shape needs another pipeline.
  const std::int64_t width = rows == 1 || length > 64 ? 256 : length > 8 ? 32 : 4;
  const Words constants{
      word(pointwise.operation), places[0].type, places[1].type, places[2].type, word(width),
      word(256 / width)};
  std::array<Use, 4> uses{places[0].use, places[1].use, places[2].use, places[3].use};
  bool doubles = false;
  for (std::size_t place = 0; place < places.size(); ++place) {
    doubles = doubles || places[place].type == word(DType::f64);
    if (places[place].use.address == nullptr) {
      uses[place] = uses[0];
    }
  }
  uses[0].kind = Use::write;
  dispatch("pointwise", pointwise.domain, doubles, constants, uses, parameters,
           {groups_for(length, 4 * width), groups_for(rows, 256 / width), 1});
}

void run_copy(Place to, Place from, const Dims& sizes) {
  const auto dtype = static_cast<DType>(from.type);
  Domain domain = domain_of(dtype);
  if (to.type == from.type) {
    const std::size_t nbytes = byre::itemsize(dtype);  // copied as an integer of this size
    to.type = from.type = word(nbytes == 1   ? DType::u8
                               : nbytes == 2 ? DType::i16
                               : nbytes == 4 ? DType::i32
                                             : DType::i64);
    domain = Domain::integer;
  }
  run({.domain = domain, .sizes = sizes, .places = {std::move(to), std::move(from)}});
}

VulkanTensorPtr filled(const TensorMeta& meta, Bits number) {
  VulkanTensorPtr result = empty_on_device(meta.sizes, meta.dtype);
  run({.domain = domain_of(meta.dtype),
       .sizes = meta.sizes,
       .places = {place_of(*result, meta.sizes)},
       .number = number});
  return result;
}

Bits bits_of(const byre::Scalar& number, DType dtype, Domain domain, const char* operation) {
  byre::Tensor value = byre::Tensor::empty({}, dtype_of(domain));
  byre::copy_(value, number.fitting(dtype, operation));
  Bits bits{};
  std::memcpy(bits.data(), value.raw_data(), value.nbytes());
  return bits;
}

}  // namespace examples::vulkan
