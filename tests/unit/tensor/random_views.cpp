// SPDX-License-Identifier: BSL-1.0
// The views that a random program makes, each said twice: by byre, and index by index.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "random_program.hpp"

namespace byre::test {
namespace {

std::ptrdiff_t place(std::int64_t axis) {
  return static_cast<std::ptrdiff_t>(axis);
}

Dims without(const Dims& dims, std::int64_t axis) {
  Dims rest(dims);
  rest.erase(rest.begin() + place(axis));
  return rest;
}

Dims with(const Dims& dims, std::int64_t axis, std::int64_t value) {
  Dims more(dims);
  more.insert(more.begin() + place(axis), value);
  return more;
}

Dims replaced(const Dims& dims, std::int64_t axis, std::int64_t value) {
  Dims other(dims);
  other[static_cast<std::size_t>(axis)] = value;
  return other;
}

using Pair = RandomProgram::Pair;

Pair diagonal(const Pair& of, std::int64_t offset) {
  const Dims& sizes = of.model.sizes;
  const std::int64_t down = std::max<std::int64_t>(-offset, 0);
  const std::int64_t right = std::max<std::int64_t>(offset, 0);
  Dims other(sizes.begin() + 2, sizes.end());
  other.push_back(std::max<std::int64_t>(std::min(sizes[0] - down, sizes[1] - right), 0));
  return {of.tensor.diagonal(offset), of.model.picked(other, [&](const Dims& at) {
            Dims from{at.back() + down, at.back() + right};
            std::copy(at.begin(), at.end() - 1, std::back_inserter(from));
            return from;
          })};
}

Pair unfold(const Pair& of, std::int64_t axis, std::int64_t size, std::int64_t step) {
  const std::int64_t present = of.model.sizes[static_cast<std::size_t>(axis)];
  Dims other = replaced(of.model.sizes, axis, (present - size) / step + 1);
  other.push_back(size);
  return {of.tensor.unfold(axis, size, step), of.model.picked(other, [&](const Dims& at) {
            const std::int64_t window = at[static_cast<std::size_t>(axis)];
            return replaced(Dims(at.begin(), at.end() - 1), axis, window * step + at.back());
          })};
}

Pair slice(const Pair& of, std::int64_t axis, std::int64_t start, std::int64_t end,
           std::int64_t step) {
  const std::int64_t count = end <= start ? 0 : (end - start + step - 1) / step;
  return {of.tensor.slice(axis, start, end, step),
          of.model.picked(replaced(of.model.sizes, axis, count), [&](const Dims& at) {
            return replaced(at, axis, start + at[static_cast<std::size_t>(axis)] * step);
          })};
}

Pair expand(const Pair& of, std::int64_t repeats) {
  Dims sizes = with(of.model.sizes, 0, repeats);
  std::replace(sizes.begin() + 1, sizes.end(), std::int64_t{1}, repeats);
  return {of.tensor.expand(sizes), of.model.picked(sizes, [&](const Dims& at) {
            Dims from(at.begin() + 1, at.end());
            for (std::size_t axis = 0; axis < from.size(); ++axis) {
              from[axis] = of.model.sizes[axis] == 1 ? 0 : from[axis];
            }
            return from;
          })};
}

Pair permute(const Pair& of, const Dims& axes) {
  Dims sizes;
  for (const std::int64_t axis : axes) {
    sizes.push_back(of.model.sizes[static_cast<std::size_t>(axis)]);
  }
  return {of.tensor.permute(axes), of.model.picked(sizes, [&](const Dims& at) {
            Dims from(at);
            for (std::size_t number = 0; number < axes.size(); ++number) {
              from[static_cast<std::size_t>(axes[number])] = at[number];
            }
            return from;
          })};
}

}  // namespace

std::optional<Pair> RandomProgram::random_view(const Pair& of) {
  constexpr std::size_t most_elements = 400;
  constexpr std::size_t most_dimensions = 7;
  const auto ndim = std::ssize(of.model.sizes);
  const bool may_grow =
      of.model.places.size() < most_elements && of.model.sizes.size() < most_dimensions;
  switch (below(9)) {
    case 0:
      return Pair{of.tensor.alias(), of.model};
    case 6:
      return view_of_storage(of);
    case 7:
      return view_as_another_dtype_and_back(of);
    case 8:
      return flatten(of);
    case 1: {
      Dims axes(of.model.sizes);
      std::iota(axes.begin(), axes.end(), 0);
      random_.shuffle(axes);
      return permute(of, axes);
    }
    case 2: {
      const std::int64_t axis = below(ndim + 1);
      return Pair{of.tensor.unsqueeze(axis), of.model.with_sizes(with(of.model.sizes, axis, 1))};
    }
    case 3: {
      Dims rest(of.model.sizes);
      rest.resize(
          static_cast<std::size_t>(std::remove(rest.begin(), rest.end(), 1) - rest.begin()));
      return Pair{of.tensor.squeeze(), of.model.with_sizes(rest)};
    }
    case 4:
      return may_grow ? std::optional(expand(of, 1 + below(3))) : std::nullopt;
    default:
      return ndim == 0 ? std::nullopt : view_along(of, below(ndim));
  }
}

std::optional<Pair> RandomProgram::view_of_storage(const Pair& of) {
  if (of.model.places.empty()) {
    return std::nullopt;  // the model does not know where it lies
  }
  FlatTensor model{of.model.storage, {}, {}};
  Dims strides;
  for (std::int64_t axes = below(4); axes > 0; --axes) {
    model.sizes.push_back(1 + below(4));
    strides.push_back(below(6));
  }
  const bool is_from_here = below(2) == 0;
  const std::int64_t offset = is_from_here ? static_cast<std::int64_t>(of.model.places[0])
                                           : below(std::ssize(*of.model.storage));
  model.places.push_back(static_cast<std::size_t>(offset));
  for (std::size_t axis = 0; axis < strides.size(); ++axis) {
    std::vector<std::size_t> next;
    for (const std::size_t place : model.places) {
      for (std::int64_t index = 0; index < model.sizes[axis]; ++index) {
        next.push_back(place + static_cast<std::size_t>(index * strides[axis]));
      }
    }
    model.places = std::move(next);
  }
  if (std::ranges::max(model.places) >= of.model.storage->size()) {
    EXPECT_THROW(of.tensor.as_strided(model.sizes, strides, offset), ShapeError);
    ++refusals_;
    return std::nullopt;
  }
  return Pair{is_from_here ? of.tensor.as_strided(model.sizes, strides)
                           : of.tensor.as_strided(model.sizes, strides, offset),
              model};
}

/// Through elements of the same size, or smaller ones if the last dimension is dense.
std::optional<Pair> RandomProgram::view_as_another_dtype_and_back(const Pair& of) {
  constexpr DType others[] = {DType::u8, DType::i16, DType::f32};
  const DType other = others[below(3)];
  if (of.model.places.empty()) {
    return std::nullopt;
  }
  const bool is_smaller = itemsize(other) < sizeof(std::int32_t);
  if (is_smaller && (of.tensor.ndim() == 0 ||
                     (of.tensor.sizes().back() != 1 && of.tensor.strides().back() != 1))) {
    EXPECT_THROW(of.tensor.view(other), ShapeError);
    ++refusals_;
    return std::nullopt;
  }
  return Pair{of.tensor.view(other).view(DType::i32), of.model};
}

std::optional<Pair> RandomProgram::flatten(const Pair& of) {
  const auto ndim = std::ssize(of.model.sizes);
  if (ndim == 0) {
    return Pair{of.tensor.flatten(), of.model.with_sizes({1})};
  }
  const std::int64_t first = below(ndim);
  const std::int64_t last = first + below(ndim - first);
  Dims sizes(of.model.sizes.begin(), of.model.sizes.begin() + place(first) + 1);
  for (std::int64_t axis = first + 1; axis < ndim; ++axis) {
    const std::int64_t size = of.model.sizes[static_cast<std::size_t>(axis)];
    if (axis <= last) {
      sizes.back() *= size;
    } else {
      sizes.push_back(size);
    }
  }
  if (!of.model.is_view_under(sizes)) {
    EXPECT_THROW(of.tensor.flatten(first, last), ShapeError);
    ++refusals_;
    return std::nullopt;
  }
  return Pair{of.tensor.flatten(first, last - (below(2) == 0 ? ndim : 0)),
              of.model.with_sizes(sizes)};
}

/// One of the parts that a dimension is cut into.
std::optional<Pair> RandomProgram::part_along(const Pair& of, std::int64_t axis) {
  const std::int64_t size = of.model.sizes[static_cast<std::size_t>(axis)];
  if (size == 0) {
    return std::nullopt;
  }
  const std::int64_t length = 1 + below(size);
  const std::int64_t number = below((size - 1) / length + 1);
  const auto at = static_cast<std::size_t>(number);
  Pair part = slice(of, axis, number * length, std::min(size, (number + 1) * length), 1);
  switch (below(4)) {
    case 0:
      part.tensor = of.tensor.split(length, axis).at(at);
      return part;
    case 1: {
      const std::int64_t rest = std::max<std::int64_t>(size - length, 0);
      part = slice(of, axis, 0, length, 1);
      part.tensor = of.tensor.split(Dims{length, rest}, axis).at(0);
      return part;
    }
    case 2: {
      const std::int64_t count = (size - 1) / length + 1;
      const std::int64_t chunk_length = (size - 1) / count + 1;
      part = slice(of, axis, 0, chunk_length, 1);
      part.tensor = of.tensor.chunk(count, axis).at(0);
      return part;
    }
    default: {
      const std::int64_t index = below(size);
      return Pair{of.tensor.unbind(axis).at(static_cast<std::size_t>(index)),
                  of.model.picked(without(of.model.sizes, axis),
                                  [&](const Dims& indices) { return with(indices, axis, index); })};
    }
  }
}

/// A view that needs a dimension.
std::optional<Pair> RandomProgram::view_along(const Pair& of, std::int64_t axis) {
  const std::int64_t size = of.model.sizes[static_cast<std::size_t>(axis)];
  const std::int64_t start = below(size + 1);
  const std::int64_t end = start + below(size - start + 1);
  switch (below(6)) {
    case 5:
      return part_along(of, axis);
    case 0:
      return slice(of, axis, start, end, 1 + below(3));
    case 1: {
      Pair narrow = slice(of, axis, start, end, 1);
      narrow.tensor = of.tensor.narrow(axis, start, end - start);
      return narrow;
    }
    case 2: {
      if (start == size) {
        return std::nullopt;
      }
      return Pair{of.tensor.select(axis, start - (below(2) == 0 ? size : 0)),
                  of.model.picked(without(of.model.sizes, axis),
                                  [&](const Dims& at) { return with(at, axis, start); })};
    }
    case 3:
      if (of.model.sizes.size() < 2) {
        return std::nullopt;
      }
      return diagonal(of, below(7) - 3);
    default: {
      const std::int64_t window = below(size + 1);
      if (of.model.sizes.size() > 6 || of.model.places.size() > 400) {
        return std::nullopt;
      }
      return unfold(of, axis, window, 1 + below(3));
    }
  }
}

}  // namespace byre::test
