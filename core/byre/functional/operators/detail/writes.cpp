// SPDX-License-Identifier: BSL-1.0
/// Defines operators that overwrite a whole tensor, or change which elements it has.
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/dispatch/detail/builtin.hpp>
#include <byre/functional/operators/detail/operators.hpp>
#include <byre/tensor/elements.hpp>

#include <algorithm>

namespace byre::inline BYRE_ABI::functional {
namespace {

/// Resizes within the storage if the storage suffices. Otherwise allocates memory, copies the
/// elements and fills the rest with zeros.
void resize_in_memory(Tensor& self, const Dims& sizes) {
  const Layout layout = detail::resized(self.layout(), sizes);
  if (byre::detail::byte_count(layout.end(), self.itemsize(), "resize_") <=
      self.storage().nbytes()) {
    self = self.as_strided(layout.sizes, layout.strides, layout.offset);
    return;
  }
  if (self.storage().handle_count() > 1 || self.handle_count() > 1) {
    detail::refuse_to_grow(sizes);
  }
  Tensor larger = Tensor::zeros(sizes, self.dtype());
  Tensor kept = larger.as_strided({self.numel()}, {1}, 0);
  copy_(kept, self.view({-1}));
  self = std::move(larger);
}

}  // namespace

Layout detail::resized(const Layout& before, const Dims& sizes) {
  Layout layout = contiguous_layout(sizes, "resize_");
  if (!before.is_contiguous()) {
    throw ShapeError(format_text(
        "resize_: the tensor, of sizes %s and strides %s, must be contiguous. Call clone() on it "
        "first.",
        byre::to_string(before.sizes).c_str(), byre::to_string(before.strides).c_str()));
  }
  layout.offset = before.offset;
  return layout;
}

void detail::refuse_to_grow(const Dims& sizes) {
  throw StateError(
      format_text("resize_: cannot grow to sizes %s beyond the storage: other views would keep the "
                  "old storage. Call clone() on it first.",
                  byre::to_string(sizes).c_str()));
}

void detail::define_writes() {
  define("fill_(Tensor(a!) self, Scalar value) -> Tensor(a!)")
      .cpu([](Tensor& self, const Scalar& value) { byre::fill_(self, value); });
  define("zero_(Tensor(a!) self) -> Tensor(a!)").cpu([](Tensor& self) { byre::zero_(self); });
  define("copy_(Tensor(a!) self, Tensor source) -> Tensor(a!)")
      .cpu([](Tensor& self, const Tensor& source) { byre::copy_(self, source); });
  define("resize_(Tensor(a!) self, int[] sizes) -> Tensor(a!)").cpu(resize_in_memory);
  define("set_(Tensor(a!) self, Tensor(b) source) -> Tensor(a!)")
      .cpu([](Tensor& self, const Tensor& source) { self = source.alias(); });
}

}  // namespace byre::inline BYRE_ABI::functional
