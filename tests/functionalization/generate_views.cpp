// SPDX-License-Identifier: BSL-1.0
#include "generate_views.hpp"

namespace byre::test {
namespace {

using Constants = std::vector<StepArgument>;
using Maker = Constants (*)(RandomShapes&, const Tensor&);

/// The size along an axis, which may be none.
std::int64_t length(const Tensor& self, std::int64_t axis) {
  const std::int64_t ndim = std::ssize(self.sizes());
  const std::int64_t from_the_start = axis < 0 ? axis + ndim : axis;
  return from_the_start >= 0 && from_the_start < ndim
             ? self.sizes()[static_cast<std::size_t>(from_the_start)]
             : 1;
}

Constants nothing(RandomShapes&, const Tensor&) {
  return {};
}

Constants two_axes(RandomShapes& random, const Tensor& self) {
  return {number(random.axis(self.ndim())), number(random.axis(self.ndim()))};
}

Constants moved(RandomShapes& random, const Tensor& self) {
  Dims from = random.axes(self.ndim());
  Dims to = random.axes(self.ndim());
  const auto count = static_cast<std::size_t>(random.number(0, std::ssize(from)));
  from.resize(count);
  to.resize(count);
  return {from, to};
}

Constants expanded(RandomShapes& random, const Tensor& self) {
  Dims sizes = self.sizes();
  for (std::int64_t& size : sizes) {
    size = size == 1 ? random.number(random.chance(10) ? 0 : 1, 3) : random.chance(20) ? -1 : size;
  }
  if (random.chance(50)) {
    sizes.insert(sizes.begin(), random.number(1, 2));
  }
  return {sizes};
}

/// Windows of all kinds: with gaps, overlapping, across the borders of what is seen.
Constants strided(RandomShapes& random, const Tensor& self) {
  const auto count = static_cast<std::int64_t>(self.storage().nbytes() / self.itemsize());
  Dims sizes;
  Dims strides;
  std::int64_t left = std::max<std::int64_t>(count, 1);
  const std::int64_t offset = random.number(0, std::min<std::int64_t>(left - 1, 4));
  left -= offset;
  for (std::int64_t ndim = random.number(0, 3); ndim > 0; --ndim) {
    const std::int64_t stride =
        random.chance(5) ? 0 : random.number(1, std::max<std::int64_t>(left / 2, 1));
    const std::int64_t most = stride == 0 ? 2 : (left - 1) / stride + 1;
    sizes.push_back(random.number(1, std::min<std::int64_t>(most, 4)));
    strides.push_back(stride);
    left -= (sizes.back() - 1) * stride;
  }
  if (random.chance(3)) {
    sizes.push_back(count + 1);
    strides.push_back(1);
  }
  const bool has_offset = random.chance(70);
  return {sizes, strides, has_offset ? StepArgument(number(offset)) : StepArgument(NoValue())};
}

Constants sliced(RandomShapes& random, const Tensor& self) {
  const std::int64_t axis = random.axis(self.ndim());
  const std::int64_t size = length(self, axis);
  const std::int64_t start = random.number(-1, size);
  return {number(axis), number(start),
          random.chance(50) ? StepArgument(NoValue())
                            : StepArgument(number(random.number(-1, size + 1))),
          number(random.number(1, 3))};
}

Constants narrowed(RandomShapes& random, const Tensor& self) {
  const std::int64_t axis = random.axis(self.ndim());
  const std::int64_t size = length(self, axis);
  const std::int64_t start = random.number(-1, std::max<std::int64_t>(size - 1, 0));
  return {number(axis), number(start),
          number(random.number(0, size - std::max<std::int64_t>(start, 0)))};
}

Constants selected(RandomShapes& random, const Tensor& self) {
  const std::int64_t axis = random.axis(self.ndim());
  return {number(axis),
          number(random.number(-1, std::max<std::int64_t>(length(self, axis) - 1, 0)))};
}

Constants diagonal(RandomShapes& random, const Tensor& self) {
  const std::int64_t first = random.axis(self.ndim());
  return {number(random.number(-1, 1)), number(first), number(random.axis(self.ndim()))};
}

Constants unfolded(RandomShapes& random, const Tensor& self) {
  const std::int64_t axis = random.axis(self.ndim());
  return {number(axis), number(random.number(1, std::max<std::int64_t>(length(self, axis), 1))),
          number(random.number(1, 3))};
}

Constants in_pieces(RandomShapes& random, const Tensor& self) {
  return {number(random.number(1, 3)), number(random.axis(self.ndim()))};
}

Constants in_sizes(RandomShapes& random, const Tensor& self) {
  const std::int64_t axis = random.axis(self.ndim());
  Dims sizes;
  for (std::int64_t left = length(self, axis); left > 0; left -= sizes.back()) {
    sizes.push_back(random.number(0, left));
  }
  return {sizes, number(axis)};
}

Constants one_axis(RandomShapes& random, const Tensor& self) {
  return {number(random.axis(self.ndim()))};
}

Constants flattened(RandomShapes& random, const Tensor& self) {
  return random.chance(50) ? Constants{} : two_axes(random, self);
}

const std::map<std::string, Maker>& makers() {
  static const std::map<std::string, Maker> all{
      {"alias", nothing},
      {"view", [](RandomShapes& random,
                  const Tensor& self) { return Constants{random.sizes_of(self.numel())}; }},
      {"view.dtype", [](RandomShapes& random, const Tensor&) { return Constants{random.dtype()}; }},
      {"view_as_real", nothing},
      {"view_as_complex", nothing},
      {"permute", [](RandomShapes& random,
                     const Tensor& self) { return Constants{random.axes(self.ndim())}; }},
      {"transpose", two_axes},
      {"t", nothing},
      {"movedim", moved},
      {"squeeze", nothing},
      {"squeeze.axis", one_axis},
      {"unsqueeze", one_axis},
      {"flatten", flattened},
      {"expand", expanded},
      {"as_strided", strided},
      {"select", selected},
      {"slice", sliced},
      {"narrow", narrowed},
      {"diagonal", diagonal},
      {"unfold", unfolded},
      {"split", in_pieces},
      {"split.sizes", in_sizes},
      {"chunk", in_pieces},
      {"unbind", one_axis},
      {"proof_corners", nothing}};
  return all;
}

}  // namespace

const std::vector<std::string>& views() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& [name, make] : makers()) {
      all.push_back(name);
    }
    return all;
  }();
  return names;
}

std::vector<StepArgument> constants_of_view(const std::string& name, RandomShapes& random,
                                            const Tensor& self) {
  return makers().at(name)(random, self);
}

}  // namespace byre::test
