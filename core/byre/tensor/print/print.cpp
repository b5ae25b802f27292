// SPDX-License-Identifier: BSL-1.0
#include <byre/tensor/detail/float_environment.hpp>
#include <byre/tensor/print.hpp>
#include <byre/tensor/print/detail/print_elements.hpp>

#include <algorithm>
#include <limits>
#include <new>
#include <ostream>
#include <vector>

namespace byre::inline BYRE_ABI {
namespace {

/// The indices that are shown, for each dimension.
struct ShownIndices {
  const Dims* sizes;
  std::int64_t edge_items;

  bool has_gap(std::size_t axis) const { return (*sizes)[axis] - edge_items > edge_items; }

  /// Calls `each(index)` for the indices that are shown, and `gap()` in place of those that are
  /// omitted.
  template <class Each, class Gap>
  void walk(std::size_t axis, const Each& each, const Gap& gap) const {
    const std::int64_t size = (*sizes)[axis];
    for (std::int64_t index = 0; index < size; ++index) {
      if (index == edge_items && has_gap(axis)) {
        gap();
        index = size - edge_items;
      }
      each(index);
    }
  }
};

ShownIndices shown_indices_of(const Tensor& tensor, const PrintOptions& options) {
  const bool is_summarized = tensor.numel() > options.threshold;
  return {&tensor.sizes(), is_summarized ? std::max<std::int64_t>(options.edge_items, 1)
                                         : std::numeric_limits<std::int64_t>::max()};
}

/// Appends the bytes of the elements that are shown, in row-major order.
void gather(const ShownIndices& shown, const Layout& layout, std::size_t itemsize,
            const std::byte* first, std::size_t axis, std::vector<std::byte>& elements) {
  if (axis == layout.ndim()) {
    elements.insert(elements.end(), first, first + itemsize);
    return;
  }
  const std::int64_t stride = layout.strides[axis] * static_cast<std::int64_t>(itemsize);
  shown.walk(
      axis,
      [&](std::int64_t index) {
        gather(shown, layout, itemsize, first + index * stride, axis + 1, elements);
      },
      [] {});
}

detail::Words words_of(const Tensor& tensor, const ShownIndices& shown, int precision,
                       CallSite site) {
  std::vector<std::byte> elements;
  gather(shown, tensor.layout(), tensor.itemsize(),
         static_cast<const std::byte*>(tensor.raw_data(site)), 0, elements);
  if (tensor.dtype() == DType::boolean) {
    // Bools in foreign memory may be bytes other than 0 and 1, which count as true: see loaded().
    std::ranges::transform(elements, elements.begin(),
                           [](std::byte byte) { return std::byte{byte != std::byte{0}}; });
  }
  const detail::DefaultFloatEnvironment environment;
  return visit(tensor.dtype(), "to_string", [&]<class T>() {
    const auto* const first = reinterpret_cast<const T*>(elements.data());
    return detail::words_of(std::span<const T>(first, elements.size() / sizeof(T)),
                            std::max(precision, 0));
  });
}

/// Arranges words in nested brackets. Source: NumPy's rules for lines, spaces and empty lines.
class Brackets {
 public:
  Brackets(const ShownIndices& shown, const detail::Words& words, std::size_t line_width)
      : shown_(shown), word_(words.begin()), line_width_(line_width) {}

  /// The text of the next sub-array of the dimensions from `axis` on.
  std::string text(std::size_t axis) {
    const std::string inner =
        axis + 1 == shown_.sizes->size() ? row(axis) : rows(axis, std::string(axis + 1, ' '));
    return "[" + inner + "]";
  }

 private:
  std::string row(std::size_t axis) {
    const std::string indent(axis + 1, ' ');
    std::string text;
    std::string line;  // without the indent
    const auto add = [&](const std::string& word) {
      const std::size_t brackets = axis + 1;
      if (!line.empty() && indent.size() + line.size() + 1 + word.size() + brackets > line_width_) {
        text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n" + indent;
        line.clear();
      }
      line += (line.empty() ? "" : " ") + word;
    };
    shown_.walk(
        axis, [&](std::int64_t) { add(*word_++); }, [&] { add("..."); });
    return text + line;
  }

  std::string rows(std::size_t axis, const std::string& indent) {
    const std::string line_ends(shown_.sizes->size() - axis - 1, '\n');
    std::string text;
    const auto add = [&](const std::string& part) {
      text += (text.empty() ? "" : line_ends + indent) + part;
    };
    shown_.walk(
        axis, [&](std::int64_t) { add(this->text(axis + 1)); }, [&] { add("..."); });
    return text;
  }

  const ShownIndices& shown_;
  detail::Words::const_iterator word_;
  std::size_t line_width_;
};

std::string elements_of(const Tensor& tensor, const PrintOptions& options, CallSite site) {
  if (tensor.numel() == 0) {
    return "[]";
  }
  const ShownIndices shown = shown_indices_of(tensor, options);
  const detail::Words words = words_of(tensor, shown, options.precision, site);
  if (tensor.ndim() == 0) {
    return words[0].substr(words[0].find_first_not_of(' '));
  }
  return Brackets(shown, words, options.line_width).text(0);
}

std::string type_of(const Tensor& tensor) {
  std::string text =
      tensor.is_dtype_initialized() ? name_of(tensor.dtype()) + std::string(" ") : "";
  text += to_string(tensor.sizes());
  if (!tensor.device().is_cpu()) {
    text += std::string(" on ") + describe(tensor.device()).chars.data();
  }
  return text;
}

}  // namespace

std::string to_string(const Tensor& tensor, const PrintOptions& options, CallSite site) try {
  if (!tensor) {
    return "no tensor";
  }
  const bool has_dtype = tensor.is_dtype_initialized();
  if (!tensor.is_storage_initialized()) {
    return type_of(tensor) +
           (has_dtype ? ", storage-uninitialized" : ", storage- and dtype-uninitialized");
  }
  if (!has_dtype) {
    return type_of(tensor) + ", dtype-uninitialized";
  }
  const Tensor on_host = tensor.device().is_cpu() ? tensor : tensor.to(Device::cpu(), site);
  const std::string elements = elements_of(on_host, options, site);
  return options.type ? elements + ", " + type_of(tensor) : elements;
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("to_string");
}

std::ostream& operator<<(std::ostream& stream, const Tensor& tensor) {
  return stream << to_string(tensor, {}, {});
}

}  // namespace byre::inline BYRE_ABI
