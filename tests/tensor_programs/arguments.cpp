// SPDX-License-Identifier: BSL-1.0
#include "arguments.hpp"

#include <algorithm>

namespace byre::test {

using functional::Constant;
using functional::NoValue;
using functional::Type;

std::int64_t RandomArguments::axis(std::size_t ndim) {
  const auto count = static_cast<std::int64_t>(ndim);
  return chance(2) ? count + 1 : count == 0 ? 0 : number(-count, count - 1);
}

Dims RandomArguments::axes(std::size_t ndim) {
  Dims all;
  for (std::size_t axis = 0; axis < ndim; ++axis) {
    all.insert(all.begin() + number(0, std::ssize(all)), static_cast<std::int64_t>(axis));
  }
  return all;
}

Dims RandomArguments::sizes_of(std::int64_t numel) {
  Dims sizes;
  for (const std::int64_t factor : {2, 3, 2, 5}) {
    if (numel % factor == 0 && numel > factor && chance(60)) {
      sizes.insert(sizes.begin() + number(0, std::ssize(sizes)), factor);
      numel /= factor;
    }
  }
  sizes.insert(sizes.begin() + number(0, std::ssize(sizes)), chance(20) ? -1 : numel);
  if (chance(15)) {
    sizes.insert(sizes.begin() + number(0, std::ssize(sizes)), 1);
  }
  return sizes;
}

DType RandomArguments::dtype() {
  return one_of({DType::f32, DType::f32, DType::f64, DType::i64, DType::i32, DType::i16, DType::u8,
                 DType::i8, DType::f16, DType::bf16, DType::complex64, DType::boolean});
}

Scalar RandomArguments::scalar() {
  return chance(85) ? Scalar(number(-2, 7)) : one_of({Scalar(0.5), Scalar(true)});
}

Dims RandomArguments::expanded(const Dims& sizes) {
  Dims wanted = sizes;
  for (std::int64_t& size : wanted) {
    size = size == 1 ? number(chance(10) ? 0 : 1, 3) : chance(20) ? -1 : size + (chance(2) ? 1 : 0);
  }
  if (chance(50)) {
    wanted.insert(wanted.begin(), number(chance(10) ? 0 : 1, 2));
  }
  return wanted;
}

/// Random windows of the storage, which may have gaps, overlap, or extend beyond the elements of
/// `self`.
Constants RandomArguments::strided(const ViewGeometry& self) {
  const auto count = static_cast<std::int64_t>(self.storage_nbytes / itemsize(self.dtype));
  Dims sizes;
  Dims strides;
  std::int64_t left = std::max<std::int64_t>(count, 1);
  std::int64_t offset = number(0, std::min<std::int64_t>(left - 1, 4));
  left -= offset;
  for (std::int64_t ndim = number(0, 3); ndim > 0; --ndim) {
    const std::int64_t stride = chance(5) ? 0 : number(1, std::max<std::int64_t>(left / 2, 1));
    const std::int64_t most = stride == 0 ? 2 : (left - 1) / stride + 1;
    sizes.push_back(number(1, std::min<std::int64_t>(most, 4)));
    strides.push_back(stride);
    left -= (sizes.back() - 1) * stride;
  }
  if (chance(3)) {
    sizes.push_back(chance(50) ? count + 1 : 0);
    strides.push_back(1);
    offset += chance(30) ? 1000 : 0;  // beyond the end
  }
  return {sizes, strides, chance(70) ? Constant(Scalar(offset)) : Constant(NoValue())};
}

std::int64_t RandomArguments::bound(std::int64_t least, std::int64_t most) {
  return chance(6) ? number(-length_ - 2, length_ + 2) : number(least, most);
}

Dims RandomArguments::parts_of(std::int64_t length) {
  Dims parts;
  for (; length > 0; length -= parts.back()) {
    parts.push_back(number(0, length));
  }
  return parts;
}

Constants RandomArguments::constants(const functional::Operator& op, const ViewGeometry& self) {
  const Dims& sizes = self.layout.sizes;
  const auto ndim = static_cast<std::int64_t>(sizes.size());
  axis_ = axis(sizes.size());
  const bool is_there = axis_ >= -ndim && axis_ < ndim;
  length_ = is_there ? sizes[static_cast<std::size_t>(axis_ < 0 ? axis_ + ndim : axis_)] : 1;
  start_ = bound(-1, length_);
  const std::string stem = stem_of(op.name());
  if (stem == "as_strided") {
    return strided(self);
  }
  if (stem == "movedim") {
    Dims from = axes(sizes.size());
    Dims to = axes(sizes.size());
    const std::size_t count = below(from.size() + 1);
    from.resize(count);
    to.resize(count);
    return {from, to};
  }
  Constants all;
  for (const functional::Parameter& parameter : op.schema().parameters) {
    if (parameter.is_tensor()) {
      continue;
    }
    if (parameter.default_value && chance(10)) {
      break;  // this and all later parameters get their defaults
    }
    all.push_back(constant(op, parameter, self));
  }
  return all;
}

Constant RandomArguments::constant(const functional::Operator& op,
                                   const functional::Parameter& parameter,
                                   const ViewGeometry& self) {
  const std::string& name = parameter.name;
  const std::string stem = stem_of(op.name());
  const std::size_t ndim = self.layout.ndim();
  switch (parameter.type) {
    case Type::axis:
      return Scalar(name == "axis" ? axis_ : axis(ndim));
    case Type::axes: {
      Dims some = axes(ndim);
      some.resize(stem == "permute" ? some.size() : below(some.size() + 1));
      return some;
    }
    case Type::integers:
      return stem == "expand"        ? expanded(self.layout.sizes)
             : stem == "split.sizes" ? parts_of(length_)
             : stem == "resize"      ? sizes_of(std::max<std::int64_t>(
                                      0, self.layout.numel() + number(-3, chance(30) ? 3 : 0)))
                                     : sizes_of(self.layout.numel());
    case Type::scalar:
      return scalar();
    case Type::boolean:
      return flag();
    case Type::dtype:
      return dtype();
    default:
      break;
  }
  if (name == "end" && chance(50)) {
    return NoValue();
  }
  return Scalar(name == "axis"     ? axis(ndim + 1)  // unsqueeze: up to ndim
                : name == "start"  ? start_
                : name == "end"    ? bound(-1, length_ + 1)
                : name == "step"   ? number(1, 3)
                : name == "index"  ? bound(-1, std::max<std::int64_t>(length_ - 1, 0))
                : name == "offset" ? bound(-1, 1)
                : name == "size"   ? number(chance(5) ? 0 : 1, std::max<std::int64_t>(length_, 1))
                : name == "length"
                    ? number(0, length_ - std::clamp<std::int64_t>(start_, 0, length_))
                : stem == "chunk" ? number(1, 3)
                                  : number(0, 12));
}

std::string stem_of(std::string_view op) {
  std::string stem(op.substr(0, op.find('.')));
  const std::string overload(op.substr(stem.size()));
  for (const std::string_view suffix : {"_copy", "_scatter", "_"}) {
    if (stem.ends_with(suffix)) {
      stem.resize(stem.size() - suffix.size());
    }
  }
  return overload == ".out" ? stem : stem + overload;
}

}  // namespace byre::test
