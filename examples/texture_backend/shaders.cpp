// SPDX-License-Identifier: BSL-1.0
/// The operators that textures have shaders for. Each is one of two: an index map, which says of every
/// element of the result which element of which operand it is; or an operation from element to element,
/// the one of the CPU, four at a time. What is drawn, and what is refused, the meta rules say.
#include <byre/functional/backends/texture.hpp>
#include <byre/functional/backends/texture_sampler.hpp>
#include <byre/functional/dispatch/detail/builtin.hpp>
#include <byre/tensor/elements/arithmetic.hpp>
#include <byre/tensor/elements/comparison.hpp>
#include <byre/tensor/elements/pointwise.hpp>
#include <byre/tensor/layout/views.hpp>
#include <byre/tensor/promotion.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

namespace byre::inline v0::functional {
namespace {

using byre::detail::visit_computed;
template <std::size_t Count>
using Blocks = byre::detail::Kernel<Count>;

/// Draws the result, of the sizes and the dtype that are told.
using Shader = std::function<Texture(const Call&, const TensorMeta&)>;

void define_shader(const std::string& name, Shader shader) {
  detail::extend_builtin(name).kernel(Key::texture, [shader = std::move(shader)](const Call& call) {
    TensorMeta result = meta_of_results(call).front();
    Texture drawn = shader(call, result);
    return Tensors{make_counted<TextureTensor>(std::move(drawn), std::move(result.sizes))};
  });
}

std::int64_t count_of(const Dims& sizes) {
  return byre::detail::element_count(sizes, "texture");
}

// ---- Index maps

Texture same_image(const Call& call, const TensorMeta&) {
  return texture_of(call.arguments[0].tensor());
}

/// What a view sees of one in order.
ViewGeometry seen_by(const Operator& view, const AnyTensor& self, std::span<const Argument> arguments) {
  return (*view.view())(ViewGeometry::of_all(self.sizes(), self.dtype()), arguments).front();
}

void define_copy_shader(const std::string& view_name) {
  const Operator& view = detail::builtin(view_name);
  define_shader(view_name + "_copy", [&view](const Call& call, const TensorMeta& result) {
    const AnyTensor& self = call.arguments[0].tensor();
    const Layout seen = seen_by(view, self, call.arguments.subspan(1)).layout;
    const Sampler from(texture_of(self), result.dtype, "copy");
    return draw_elements(seen.numel(), result.dtype, [&](std::int64_t element, std::byte* to) {
      from.element(number_in(seen, element), to);
    });
  });
}

void define_scatter_shader(const std::string& view_name) {
  const Operator& view = detail::builtin(view_name);
  define_shader(view_name + "_scatter", [&view](const Call& call, const TensorMeta& result) {
    const AnyTensor& self = call.arguments[0].tensor();
    const InverseLayout seen(seen_by(view, self, call.arguments.subspan(2)).layout);
    const Sampler base(texture_of(self), result.dtype, "scatter");
    const Sampler source(texture_of(call.arguments[1].tensor()), result.dtype, "scatter");
    return draw_elements(count_of(result.sizes), result.dtype,
                         [&](std::int64_t element, std::byte* to) {
                           const std::int64_t written = seen.element_of(element);
                           written < 0 ? base.element(element, to) : source.element(written, to);
                         });
  });
}

/// Tensors side by side: `inner` elements stand behind each index of the axis.
Texture draw_joined(const Call& call, const TensorMeta& result) {
  const Tensors& tensors = call.arguments[0].tensors();
  const std::size_t along =
      byre::detail::wrap_axis(call.arguments[1].integer(), result.sizes.size(), "cat");
  const std::int64_t inner = count_of(
      Dims(result.sizes.begin() + static_cast<std::ptrdiff_t>(along) + 1, result.sizes.end()));
  std::vector<Sampler> parts;
  std::vector<std::int64_t> ends;  // along the axis
  for (const AnyTensor& tensor : tensors) {
    parts.emplace_back(texture_of(tensor), result.dtype, "cat");
    ends.push_back((ends.empty() ? 0 : ends.back()) + tensor.sizes()[along]);
  }
  return draw_elements(
      count_of(result.sizes), result.dtype, [&](std::int64_t element, std::byte* to) {
        const std::int64_t outer = element / inner / ends.back();
        const std::int64_t index = element / inner % ends.back();
        const auto part = static_cast<std::size_t>(
            std::upper_bound(ends.begin(), ends.end(), index) - ends.begin());
        const std::int64_t start = part == 0 ? 0 : ends[part - 1];
        const std::int64_t length = ends[part] - start;
        parts[part].element((outer * length + index - start) * inner + element % inner, to);
      });
}

/// The bytes of one dtype as those of another.
Texture draw_as(const Call& call, const TensorMeta& result) {
  const Texture from = texture_of(call.arguments[0].tensor());
  const std::size_t old_size = byre::itemsize(from.dtype());
  const std::size_t new_size = byre::itemsize(result.dtype);
  if (old_size == new_size) {
    return from.as(result.dtype);
  }
  const Sampler whole(from, from.dtype(), "view_copy");
  const std::size_t piece = std::min(old_size, new_size);
  return draw_elements(
      count_of(result.sizes), result.dtype, [&](std::int64_t element, std::byte* to) {
        for (std::size_t done = 0; done < new_size; done += piece) {
          const std::size_t byte = static_cast<std::size_t>(element) * new_size + done;
          TexelBytes read;
          whole.element(static_cast<std::int64_t>(byte / old_size), read.bytes.data());
          std::memcpy(to + done, read.bytes.data() + byte % old_size, piece);
        }
      });
}

Texture draw_filled(const Scalar& value, const TensorMeta& result, const char* operation) {
  const Tensor one = value.fitting(result.dtype, operation);
  return draw_elements(count_of(result.sizes), result.dtype, [&](std::int64_t, std::byte* to) {
    std::memcpy(to, one.raw_data(), one.itemsize());
  });
}

Texture draw_counted(const Call&, const TensorMeta& result) {
  const auto convert = byre::detail::conversion(result.dtype, DType::i64, "arange");
  const auto itemsize = static_cast<std::int64_t>(byre::itemsize(result.dtype));
  return draw_elements(
      count_of(result.sizes), result.dtype, [&](std::int64_t element, std::byte* to) {
        convert(to, itemsize, reinterpret_cast<const std::byte*>(&element), sizeof element, 1);
      });
}

Texture draw_converted(const Call& call, const TensorMeta& result) {
  const AnyTensor& self = call.arguments[0].tensor();
  const Sampler from(texture_of(self), result.dtype, "to");
  return self.dtype() == result.dtype
             ? texture_of(self)
             : Texture::draw(count_of(result.sizes), result.dtype,
                             [&](const Fragment& at, std::byte* texel) { from.texel(at, texel); });
}

// ---- From element to element

/// What an operation reads: a texture's elements where they stand, or, if they broadcast, by numbers; or
/// one number for all.
class ShaderOperand {
 public:
  ShaderOperand(const AnyTensor& tensor, const Dims& sizes, DType as, const char* operation)
      : from_(std::in_place, texture_of(tensor), as, operation), itemsize_(byre::itemsize(as)) {
    if (tensor.sizes() != sizes) {
      layout_ = views::expand(contiguous_layout(tensor.sizes(), operation), sizes);
    }
  }
  ShaderOperand(const Tensor& number, DType as, const char* operation)
      : itemsize_(byre::itemsize(as)) {
    byre::detail::conversion(as, number.dtype(), operation)(
        number_.bytes.data(), static_cast<std::int64_t>(itemsize_),
        static_cast<const std::byte*>(number.raw_data()), 0, elements_per_texel);
  }

  TexelBytes at(const Fragment& fragment) const noexcept {
    TexelBytes texel = number_;
    if (layout_) {
      for (std::int64_t nth = 0; nth < fragment.count; ++nth) {
        from_->element(number_in(*layout_, fragment.first + nth),
                       texel.bytes.data() + static_cast<std::size_t>(nth) * itemsize_);
      }
    } else if (from_) {
      from_->texel(fragment, texel.bytes.data());
    }
    return texel;
  }

 private:
  std::optional<Sampler> from_;
  std::optional<Layout> layout_;
  TexelBytes number_{};
  std::size_t itemsize_;
};

template <std::size_t Count>
Texture draw_computed(const Blocks<Count>& kernel, const std::array<ShaderOperand, Count>& operands,
                      const TensorMeta& result, const char* operation) {
  const auto convert = byre::detail::conversion(result.dtype, kernel.result, operation);
  const auto computed_size = static_cast<std::int64_t>(byre::itemsize(kernel.result));
  const auto drawn_size = static_cast<std::int64_t>(byre::itemsize(result.dtype));
  return Texture::draw(count_of(result.sizes), result.dtype,
                       [&](const Fragment& at, std::byte* texel) {
                         std::array<TexelBytes, Count> read;
                         std::array<const void*, Count> blocks;
                         for (std::size_t number = 0; number < Count; ++number) {
                           read[number] = operands[number].at(at);
                           blocks[number] = read[number].bytes.data();
                         }
                         TexelBytes made;
                         kernel.block(made.bytes.data(), blocks, at.count);
                         convert(texel, drawn_size, made.bytes.data(), computed_size, at.count);
                       });
}

/// The dtype that operands of a promoted dtype are computed in.
using ComputedAs = DType (*)(DType);

constexpr DType same_dtype(DType dtype) noexcept {
  return dtype;
}

template <class Operation>
void define_unary_shader(const char* name, ComputedAs rule = same_dtype) {
  define_shader(name, [name, rule](const Call& call, const TensorMeta& result) {
    const AnyTensor& a = call.arguments[0].tensor();
    const auto kernel = byre::detail::kernel_of<Operation, 1>(rule(a.dtype()), name);
    return draw_computed<1>(kernel, {ShaderOperand(a, result.sizes, kernel.operands[0], name)},
                            result, name);
  });
}

/// The other operand of a call with a number.
using Beside = Tensor (Scalar::*)(const Tensor&, const char*) const;

template <class Operation>
void define_binary_shader(const char* name, ComputedAs rule = same_dtype,
                          Beside beside = &Scalar::beside) {
  const auto kernel_of = [name, rule](DType a, DType b) {
    return byre::detail::kernel_of<Operation, 2>(rule(promoted(a, b)), name);
  };
  define_shader(name, [name, kernel_of](const Call& call, const TensorMeta& result) {
    const AnyTensor& a = call.arguments[0].tensor();
    const AnyTensor& b = call.arguments[1].tensor();
    const auto kernel = kernel_of(a.dtype(), b.dtype());
    return draw_computed<2>(kernel,
                            {ShaderOperand(a, result.sizes, kernel.operands[0], name),
                             ShaderOperand(b, result.sizes, kernel.operands[1], name)},
                            result, name);
  });
  define_shader(name + std::string(".scalar"), [name, kernel_of, beside](const Call& call,
                                                                         const TensorMeta& result) {
    const AnyTensor& a = call.arguments[0].tensor();
    const Tensor b = (call.arguments[1].scalar().*beside)(Tensor::empty({0}, a.dtype()), name);
    const auto kernel = kernel_of(a.dtype(), b.dtype());
    return draw_computed<2>(kernel,
                            {ShaderOperand(a, result.sizes, kernel.operands[0], name),
                             ShaderOperand(b, kernel.operands[1], name)},
                            result, name);
  });
}

Texture draw_chosen(const Call& call, const TensorMeta& result) {
  const auto kernel = visit_computed<Blocks<3>>(result.dtype, "where", []<class T>() {
    return byre::detail::kernel_of_types<byre::detail::Select, bool, T, T>();
  });
  const auto operand = [&](std::size_t number) {
    return ShaderOperand(call.arguments[number].tensor(), result.sizes, kernel.operands[number],
                         "where");
  };
  return draw_computed<3>(kernel, {operand(0), operand(1), operand(2)}, result, "where");
}

void define_index_maps() {
  for (const char* const name : {"clone", "contiguous", "reshape", "view_copy"}) {
    define_shader(name, same_image);
  }
  for (const char* const view :
       {"permute", "expand", "select", "slice", "diagonal", "as_strided"}) {
    define_copy_shader(view);
  }
  for (const char* const view : {"select", "slice", "diagonal", "as_strided"}) {
    define_scatter_shader(view);
  }
  define_shader("view_copy.dtype", draw_as);
  define_shader("cat", draw_joined);
  define_shader("to", draw_converted);
  define_shader("arange", draw_counted);
  define_shader("full", [](const Call& call, const TensorMeta& result) {
    return draw_filled(call.arguments[1].scalar(), result, "full");
  });
  for (const int number : {0, 1}) {
    define_shader(number == 0 ? "zeros" : "ones", [number](const Call&, const TensorMeta& result) {
      return draw_filled(number, result, "full");
    });
  }
}

}  // namespace

void detail::define_texture_shaders() {
  define_index_maps();
  define_binary_shader<byre::detail::Add>("add");
  define_binary_shader<byre::detail::Subtract>("sub");
  define_binary_shader<byre::detail::Multiply>("mul");
  define_binary_shader<byre::detail::Divide>("div", promoted_to_floating);
  define_binary_shader<byre::detail::Equal>("eq", same_dtype, &Scalar::compared_with);
  define_binary_shader<byre::detail::GreaterOrEqual>("ge", same_dtype, &Scalar::compared_with);
  define_unary_shader<byre::detail::Negate>("neg");
  define_unary_shader<byre::detail::Rectify>("relu");
  define_unary_shader<byre::detail::Exponentiate>("exp", promoted_to_floating);
  define_shader("where", draw_chosen);
}

}  // namespace byre::inline v0::functional
