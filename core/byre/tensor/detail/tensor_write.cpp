// SPDX-License-Identifier: BSL-1.0
#include <byre/memory/pages.hpp>
#include <byre/tensor/detail/tensor_write.hpp>

namespace byre::inline BYRE_ABI::detail {
namespace {

/// Divides the elements of a view into runs. All elements of a run have equal indices in the
/// dimensions whose strides are larger than a page.
struct Run {
  Layout steps;        ///< the dimensions with strides larger than a page
  std::size_t nbytes;  ///< from the start of the first element of a run to the end of the last

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

/// Calls Storage::mutable_range() for each run of the view. Requires that the storage is
/// materialized. Throws OutOfMemory if memory is exhausted. Readers then observe no change.
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

}  // namespace

TensorWrite::TensorWrite(Tensor& tensor, std::size_t nbytes, CallSite site, bool escapes)
    : tensor_(&tensor),
      access_{site, tensor.sizes(), nbytes == tensor.storage().nbytes(), escapes},
      is_recorded_(tensor.numel() != 0 && (escapes || tensor.is_tracked())) {
  if (is_recorded_) {
    shadow::detail::begin_write(tensor.storage(), tensor.base().shadow.get(), access_);
  }
}

void* TensorWrite::materialize(const Layout* written, Wait wait) {
  Storage& memory = tensor_->base().storage;
  std::byte* const first = memory.mutable_data(wait, access_.site);
  if (written != nullptr && is_in_pages(memory.origin())) [[unlikely]] {
    make_pages_writable(memory, *written, tensor_->itemsize(), access_.site);
  }
  return first == nullptr ? nullptr : first + tensor_->base().byte_offset();
}

void TensorWrite::done() {
  if (is_recorded_) {
    shadow::detail::end_write(tensor_->storage(), tensor_->base().shadow.get(), access_);
  }
}

void* TensorWrite::materialize_all(Tensor& tensor, CallSite site) {
  tensor.realize_to_write(tensor.dtype());
  TensorWrite write(tensor, tensor.nbytes(), site);
  void* const first = write.materialize(&tensor.layout());
  write.done();
  return first;
}

}  // namespace byre::inline BYRE_ABI::detail
