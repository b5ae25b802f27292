// SPDX-License-Identifier: BSL-1.0
/// The operators that textures have shaders for. Each is one of two kinds: an index map, in which
/// every element of the result is an element of some operand; or an operation from element to
/// element, four at a time. A shader asks the CPU's kernel which element that is, or what the four
/// are: so it computes what that does.
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/dispatch/guards.hpp>
#include <byre/tensor/elements.hpp>

#include <functional>
#include <optional>
#include <string>

#include "texture_backend.hpp"

namespace examples::texture {
namespace {

using namespace byre::functional;
using byre::Dims;
using byre::DType;
using byre::Scalar;
using byre::Tensor;

/// Draws the result, of the sizes and the dtype that are given.
using Shader = Texture (*)(const Call&, const TensorMeta&);

void define_shader(const std::string& name, Shader shader) {
  extend(name).kernel(TextureTensor::key, [shader](const Call& call) {
    TensorMeta result = meta_of_results(call).front();
    Texture drawn = shader(call, result);
    return Tensors{make_counted<TextureTensor>(std::move(drawn), std::move(result.sizes))};
  });
}

std::int64_t count_of(const Dims& sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) {
    count *= size;
  }
  return count;
}

/// The same call with other tensors, computed on the CPU.
template <class OnCpu>
Tensor computed_on_cpu(const Call& call, const OnCpu& on_cpu) {
  Arguments arguments(call.arguments.begin(), call.arguments.end());
  for (Argument& argument : arguments) {
    argument.for_each_tensor([&](AnyTensor& tensor) { tensor = from_cpu(on_cpu(tensor)); });
  }
  const ExcludeKeys all_else(thread_keys().included | Key::functionalize);
  return to_cpu(dispatch(call.op, arguments).front());
}

// ---- From element to element

/// Which element of an operand of sizes `from` the element `number` of a result of sizes `to` is
/// computed of.
std::int64_t broadcast_number(std::int64_t number, const Dims& from, const Dims& to) {
  std::int64_t of = 0;
  std::int64_t weight = 1;
  for (std::size_t behind = 1; behind <= to.size(); ++behind) {
    const std::int64_t index = number % to[to.size() - behind];
    number /= to[to.size() - behind];
    if (behind <= from.size()) {
      const std::int64_t size = from[from.size() - behind];
      of += (size == 1 ? 0 : index) * weight;
      weight *= size;
    }
  }
  return of;
}

/// The elements of an operand that a fragment is computed of.
Tensor operand_at(const Fragment& at, const AnyTensor& operand, const Texture& from,
                  const Dims& sizes) {
  Tensor elements = Tensor::empty({at.count}, from.dtype());
  auto* const to = static_cast<std::byte*>(elements.mutable_raw_data());
  if (operand.sizes() == sizes) {
    TexelBytes texel;
    from.fetch(at.x, at.y, texel.bytes.data());
    std::memcpy(to, texel.bytes.data(), elements.nbytes());
    return elements;
  }
  for (std::int64_t nth = 0; nth < at.count; ++nth) {
    from.fetch_element(broadcast_number(at.first + nth, operand.sizes(), sizes),
                       to + static_cast<std::size_t>(nth) * elements.itemsize());
  }
  return elements;
}

Texture draw_pointwise(const Call& call, const TensorMeta& result) {
  std::vector<Texture> textures;
  for (const Argument& argument : call.arguments) {
    argument.for_each_tensor(
        [&textures](const AnyTensor& tensor) { textures.push_back(texture_of(tensor)); });
  }
  return Texture::draw(count_of(result.sizes), result.dtype,
                       [&](const Fragment& at, std::byte* texel) {
                         if (at.count == 0) {
                           return;
                         }
                         auto texture = textures.begin();
                         const Tensor made = computed_on_cpu(call, [&](const AnyTensor& operand) {
                           return operand_at(at, operand, *texture++, result.sizes);
                         });
                         std::memcpy(texel, made.raw_data(), made.nbytes());
                       });
}

// ---- Index maps

/// What is in a texture, or would be, as another dtype.
Texture converted(const AnyTensor& tensor, DType dtype) {
  Texture texture = texture_of(tensor);
  if (texture.dtype() == dtype) {
    return texture;
  }
  const AnyTensor self = make_counted<TextureTensor>(std::move(texture), tensor.sizes());
  return texture_of(call_for_one("to", {self, dtype}));
}

/// What the CPU's kernel makes of the numbers of elements says where the elements come from.
Texture draw_moved(const Call& call, const TensorMeta& result) {
  std::vector<Texture> textures;
  std::vector<std::int64_t> firsts;  // the number of each texture's first element
  std::int64_t next = 0;
  const Tensor moved = computed_on_cpu(call, [&](const AnyTensor& tensor) {
                         const std::int64_t numel = tensor.numel();
                         std::vector<std::int64_t> numbers;
                         for (std::int64_t nth = 0; nth < numel; ++nth) {
                           numbers.push_back(next + nth);
                         }
                         textures.push_back(converted(tensor, result.dtype));
                         firsts.push_back(next);
                         next += numel;
                         return Tensor::of<std::int64_t>(tensor.sizes(), numbers);
                       }).contiguous();
  const std::int64_t* const sources = moved.numel() == 0 ? nullptr : moved.data<std::int64_t>();
  const std::size_t nbytes = byre::itemsize(result.dtype);
  return Texture::draw(
      count_of(result.sizes), result.dtype, [&](const Fragment& at, std::byte* texel) {
        for (std::int64_t nth = 0; nth < at.count; ++nth) {
          const std::int64_t source = sources[at.first + nth];
          const auto behind = std::upper_bound(firsts.begin(), firsts.end(), source);
          const auto which = static_cast<std::size_t>(behind - firsts.begin()) - 1;
          textures[which].fetch_element(source - firsts[which],
                                        texel + static_cast<std::size_t>(nth) * nbytes);
        }
      });
}

// ---- Of nothing

Texture draw_filled(const Call& call, const TensorMeta& result) {
  Tensor one = Tensor::empty({1}, result.dtype);
  fill_(one, call.op.name() == "full" ? call.arguments[1].scalar()
                                      : Scalar(call.op.name() == "ones" ? 1 : 0));
  const auto* const element = static_cast<const std::byte*>(one.raw_data());
  return Texture::draw(count_of(result.sizes), result.dtype,
                       [&](const Fragment& at, std::byte* texel) {
                         for (std::int64_t nth = 0; nth < at.count; ++nth) {
                           std::memcpy(texel, element, one.itemsize());
                           texel += one.itemsize();
                         }
                       });
}

}  // namespace

void define_shaders() {
  for (const Operator* const op : operators()) {
    if (op->has(Tag::pointwise)) {
      define_shader(op->name(), draw_pointwise);
    }
  }
  define_shader("to", draw_pointwise);
  for (const char* const name :
       {"clone", "contiguous", "reshape", "cat", "flip", "view_copy", "permute_copy", "expand_copy",
        "select_copy", "slice_copy", "diagonal_copy", "as_strided_copy", "select_scatter",
        "slice_scatter", "diagonal_scatter", "as_strided_scatter"}) {
    define_shader(name, draw_moved);
  }
  for (const char* const name : {"zeros", "ones", "full"}) {
    define_shader(name, draw_filled);
  }
}

}  // namespace examples::texture
