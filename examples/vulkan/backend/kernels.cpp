// SPDX-License-Identifier: BSL-1.0
#include "vulkan/backend/kernels.hpp"

#include <algorithm>
#include <bit>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/tensor/elements.hpp>
#include <cstring>

#include "vulkan/device/gpu.hpp"

namespace examples::vulkan {
namespace {

using namespace byre::functional;
using byre::Dims;
using byre::DType;
using byre::Layout;
using byre::Scalar;
using byre::Storage;
using byre::Tensor;

constexpr std::size_t places = 4;  // the result, and the operands

/// A dimension, or several that are one to all operands.
struct Dimension {
  std::int64_t size = 1;
  std::array<std::int64_t, places> strides{};
};

/// The innermost first. Dimensions that follow each other in all memory are one.
std::vector<Dimension> joined(const Dims& sizes, const std::array<const Place*, places>& all) {
  std::vector<Dimension> dimensions;
  for (std::size_t axis = sizes.size(); axis-- != 0;) {
    if (sizes[axis] == 1) {
      continue;
    }
    Dimension next{.size = sizes[axis], .strides = {}};
    bool continues = !dimensions.empty();
    for (std::size_t place = 0; place < places; ++place) {
      const bool is_in_memory = all[place]->address != nullptr;
      next.strides[place] = is_in_memory ? all[place]->strides[axis] : 0;
      continues = continues &&
                  next.strides[place] == dimensions.back().strides[place] * dimensions.back().size;
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

using Quad = std::array<std::uint32_t, 4>;

Quad words_of(const std::array<std::int64_t, places>& strides) {
  Quad words{};
  std::transform(strides.begin(), strides.end(), words.begin(),
                 [](std::int64_t stride) { return static_cast<std::uint32_t>(stride); });
  return words;
}

std::uint32_t groups_for(std::int64_t count, std::int64_t each) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>((count + each - 1) / each, 1, 65535));
}

/// A group has 256 invocations, each of which computes some four elements of a row. Of few shapes, as each is a
/// pipeline of its own.
std::array<std::int64_t, 2> group_of(std::int64_t innermost, std::int64_t next) {
  const std::int64_t width = next == 1 || innermost > 64 ? 256 : innermost > 8 ? 32 : 4;
  return {width, 256 / width};
}

/// The dtype of as many bits whose elements are copied as they are.
constexpr std::uint32_t bits_as(DType dtype) noexcept {
  constexpr std::array<DType, 9> by_itemsize{{DType::u8, DType::u8, DType::i16, DType::u8,
                                              DType::i32, DType::u8, DType::u8, DType::u8,
                                              DType::i64}};
  return static_cast<std::uint32_t>(by_itemsize[byre::itemsize(dtype)]);
}

}  // namespace

Operands::Operands(const Call& call) {
  std::vector<std::size_t> to_copy;
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

VulkanTensorPtr made_on_device(Dims sizes, DType dtype) {
  const auto geometry = byre::ViewGeometry::of_all(sizes, dtype);
  const std::size_t nbytes = geometry.nbytes();
  Storage storage = nbytes == 0 ? Storage() : Storage::allocate(nbytes, Gpu::get().allocator());
  return make_counted<VulkanTensor>(std::move(storage), std::move(sizes), dtype);
}

VulkanTensorPtr lazy_clone(const VulkanTensor& tensor) {
  return lazy_clone(tensor, tensor.dims(), tensor.dtype());
}

VulkanTensorPtr lazy_clone(const VulkanTensor& tensor, Dims sizes, DType dtype) {
  return make_counted<VulkanTensor>(tensor.storage().lazy_clone(), std::move(sizes), dtype);
}

Place place_of(const VulkanTensor& tensor, const Dims& sizes) {
  Place place{.address = tensor.storage().data(),
              .nbytes = tensor.storage().nbytes(),
              .type = static_cast<std::uint32_t>(tensor.dtype()),
              .offset = 0,
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

Place place_of(const VulkanTensor& tensor, const Layout& layout) {
  return {.address = tensor.storage().data(),
          .nbytes = tensor.storage().nbytes(),
          .type = static_cast<std::uint32_t>(tensor.dtype()),
          .offset = layout.offset,
          .strides = layout.strides};
}

Use use_of(const Place& place, Use::Kind kind) noexcept {
  return {place.address, place.nbytes, kind};
}

void run(const Pointwise& pointwise) {
  if (std::find(pointwise.sizes.begin(), pointwise.sizes.end(), 0) != pointwise.sizes.end()) {
    return;
  }
  const std::array<const Place*, places> all{&pointwise.result, &pointwise.operands[0],
                                             &pointwise.operands[1], &pointwise.operands[2]};
  std::vector<Dimension> dimensions = joined(pointwise.sizes, all);
  const std::int64_t innermost = dimensions[0].size;
  const std::int64_t next = dimensions.size() > 1 ? dimensions[1].size : 1;
  std::int64_t others = 1;
  std::vector<Quad> parameters(5);
  for (std::size_t outer = 2; outer < dimensions.size(); ++outer) {
    parameters.push_back({static_cast<std::uint32_t>(dimensions[outer].size), 0, 0, 0});
    parameters.push_back(words_of(dimensions[outer].strides));
    others *= dimensions[outer].size;
  }
  if (parameters.size() == 5) {
    parameters.emplace_back();  // an array in a buffer is never empty
  }
  parameters[0] = {static_cast<std::uint32_t>(innermost), static_cast<std::uint32_t>(next),
                   static_cast<std::uint32_t>(others),
                   static_cast<std::uint32_t>(dimensions.size() > 2 ? dimensions.size() - 2 : 0)};
  for (std::size_t place = 0; place < places; ++place) {
    parameters[1][place] = static_cast<std::uint32_t>(all[place]->offset);
  }
  parameters[2] = words_of(dimensions[0].strides);
  parameters[3] =
      words_of(dimensions.size() > 1 ? dimensions[1].strides : std::array<std::int64_t, places>{});
  parameters[4] = {pointwise.number[0], pointwise.number[1], 0, 0};

  const auto [width, height] = group_of(innermost, next);
  std::array<std::uint32_t, 7> constants{
      static_cast<std::uint32_t>(pointwise.operation),
      pointwise.result.type,
      pointwise.operands[0].type,
      pointwise.operands[1].type,
      0,
      static_cast<std::uint32_t>(width),
      static_cast<std::uint32_t>(height),
  };
  std::array<Use, places> uses;
  bool doubles = false;
  for (std::size_t place = 0; place < places; ++place) {
    doubles = doubles || all[place]->type == static_cast<std::uint32_t>(DType::f64);
    const bool is_in_memory = all[place]->address != nullptr;
    uses[place] = use_of(is_in_memory ? *all[place] : pointwise.result, Use::read);
  }
  uses[0].kind = Use::write;
  const Pipeline& pipeline = pipeline_of(Shader::pointwise, pointwise.domain, doubles, constants);
  Gpu::get().queue().dispatch(pipeline, uses, {}, std::as_bytes(std::span(parameters)),
                              groups_for(innermost, 4 * width), groups_for(next, height),
                              groups_for(others, 1));
}

void run_copy(Place to, Place from, const Dims& sizes) {
  const auto dtype = static_cast<DType>(from.type);
  Domain domain = Domain::integer;
  if (to.type == from.type) {
    to.type = from.type = bits_as(dtype);
  } else {
    domain = domain_of(dtype);
  }
  run({.operation = Operation::copy,
       .domain = domain,
       .sizes = sizes,
       .result = std::move(to),
       .operands = {std::move(from), Place(), Place()},
       .number = {}});
}

std::array<std::uint32_t, 2> bits_of(const Scalar& number, DType dtype, Domain domain,
                                     const char* operation) {
  Tensor value = Tensor::empty({}, dtype_of(domain));
  byre::copy_(value, number.fitting(dtype, operation));
  std::array<std::uint32_t, 2> bits{};
  std::memcpy(bits.data(), value.raw_data(), value.nbytes());
  return bits;
}

}  // namespace examples::vulkan
