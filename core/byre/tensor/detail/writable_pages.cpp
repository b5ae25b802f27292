// SPDX-License-Identifier: BSL-1.0
#include <byre/memory/pages.hpp>
#include <byre/tensor/detail/writable_pages.hpp>

namespace byre::inline v0::detail {
namespace {

/// Elements of one index of the dimensions that step over whole pages: they are in one run of pages.
struct Run {
  Layout steps;        ///< of those dimensions
  std::size_t nbytes;  ///< from the first element of a run to the end of its last

  Run(const Layout& layout, std::size_t itemsize) : nbytes(itemsize) {
    for (std::size_t dim = 0; dim < layout.ndim(); ++dim) {
      const std::size_t step = static_cast<std::size_t>(layout.strides[dim]) * itemsize;
      if (step > page_nbytes) {
        steps.sizes.push_back(layout.sizes[dim]);
        steps.strides.push_back(layout.strides[dim]);
      } else {
        nbytes += static_cast<std::size_t>(layout.sizes[dim] - 1) * step;
      }
    }
  }
};

}  // namespace

void make_pages_writable(Storage& storage, const Layout& layout, std::size_t itemsize,
                         CallSite site) {
  if (layout.numel() == 0) {
    return;
  }
  const Run run(layout, itemsize);
  const Layout& steps = run.steps;
  Dims index(steps.ndim(), 0);
  for (std::int64_t left = steps.numel(), element = layout.offset; left != 0; --left) {
    storage.mutable_range(static_cast<std::size_t>(element) * itemsize, run.nbytes, Wait::allowed,
                          site);
    for (std::size_t dim = steps.ndim(); dim-- != 0;) {
      element += steps.strides[dim];
      if (++index[dim] != steps.sizes[dim]) {
        break;
      }
      element -= steps.strides[dim] * steps.sizes[dim];
      index[dim] = 0;
    }
  }
}

}  // namespace byre::inline v0::detail
