// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/backends/texture_sampler.hpp>

#include <algorithm>

namespace byre::inline v0::functional {

void Sampler::element(std::int64_t number, std::byte* to) const noexcept {
  const std::int64_t texel = number / elements_per_texel;
  const auto from = static_cast<std::int64_t>(byre::itemsize(texture_.dtype()));
  TexelBytes fetched;
  texture_.fetch(texel % texture_.width(), texel / texture_.width(), fetched.bytes.data());
  convert_(to, itemsize_, fetched.bytes.data() + number % elements_per_texel * from, from, 1);
}

void Sampler::texel(const Fragment& at, std::byte* to) const noexcept {
  TexelBytes fetched;
  texture_.fetch(at.x, at.y, fetched.bytes.data());
  convert_(to, itemsize_, fetched.bytes.data(),
           static_cast<std::int64_t>(byre::itemsize(texture_.dtype())), at.count);
}

std::int64_t number_in(const Layout& layout, std::int64_t element) noexcept {
  std::int64_t number = layout.offset;
  for (std::size_t axis = layout.ndim(); axis-- > 0; element /= layout.sizes[axis]) {
    number += element % layout.sizes[axis] * layout.strides[axis];
  }
  return number;
}

InverseLayout::InverseLayout(const Layout& layout)
    : offset_(layout.offset), is_empty_(layout.numel() == 0) {
  std::int64_t weight = 1;
  for (std::size_t axis = layout.ndim(); axis-- > 0; weight *= layout.sizes[axis]) {
    if (layout.sizes[axis] > 1) {
      runs_.push_back({layout.strides[axis], layout.sizes[axis], weight});
    }
  }
  std::sort(runs_.begin(), runs_.end(),
            [](const Run& a, const Run& b) { return a.stride > b.stride; });
}

std::int64_t InverseLayout::element_of(std::int64_t number) const noexcept {
  std::int64_t left = number - offset_;
  std::int64_t element = 0;
  if (is_empty_ || left < 0) {
    return -1;
  }
  for (const Run& run : runs_) {
    const std::int64_t index = std::min(left / run.stride, run.size - 1);
    element += index * run.weight;
    left -= index * run.stride;
  }
  return left == 0 ? element : -1;
}

}  // namespace byre::inline v0::functional
