// SPDX-License-Identifier: BSL-1.0
// Layouts, and tensors that see the memory of others.
#include <byre/tensor/accessor.hpp>
#include <byre/tensor/view_geometry.hpp>

#include "rows.hpp"

namespace byre::test {
namespace views_rows {

using T = Tensor;

/// A last dimension of two.
Layout pairs() {
  return contiguous_layout({1, 1, 1, 1, 3, 2}, "test");
}

const Row rows[] = {
    of_nothing("Dims::Dims", [] { return Dims{1, 2, 3, 4, 5, 6}; }),
    of_tensor("Dims::Dims", [](T& x) { return Dims(x.sizes()); }),
    of_tensor("Dims::without",
              [](T& x) { return views::unsqueeze(x.layout(), 0).sizes.without(1); }),
    of_tensor("Dims::resize",
              [](T& x) {
                Dims sizes(x.sizes());
                sizes.resize(9, 7);
                return sizes;
              }),
    of_tensor("Dims::insert",
              [](T& x) {
                Dims sizes(x.sizes());
                sizes.insert(sizes.begin() + 1, 7);
                return sizes;
              }),
    of_nothing("contiguous_layout", [] { return contiguous_layout(deep_sizes, "test"); }),
    of_tensor("contiguous_view",
              [](T& x) { return contiguous_view(x.layout(), all_elements, "test"); }),
    of_tensor("viewed_as", [](T& x) { return viewed_as(x.layout(), all_elements, "test"); }),
    of_tensor("viewed_as",
              [](T& x) {
                const Layout seven = views::unsqueeze(x.layout(), 0);
                const Layout apart = views::expand(seven, {2, 2, 2, 2, 2, 2, 3});
                return viewed_as(apart, {1, 2, 2, 2, 2, 2, 2, 3}, "test");
              }),
    of_nothing("inferred_sizes", [] { return inferred_sizes(all_elements, 12, "test"); }),
    of_tensor("element_at",
              [](T& x) { return std::to_string(element_at(x.layout(), last_element, "test")); }),
    of_tensor("may_overlap_itself",
              [](T& x) { return std::string(may_overlap_itself(x.layout()) ? "yes" : "no"); }),
    of_nothing("views::t",
               [] {
                 return views::t(contiguous_layout({2, 3}, "test"));
               }),
    of_tensor("views::split",
              [](T& x) {
                return views::split(x.layout(), {1, 0, 0, 1, 0, 0, 1}, 5);
              }),
    of_nothing("views::with_itemsize", [] { return views::with_itemsize(pairs(), 4, 2); }),
    of_nothing("views::as_real", [] { return views::as_real(pairs()); }),
    of_nothing("views::as_complex", [] { return views::as_complex(pairs()); }),

    of_tensor("Tensor::alias", [](T& x) { return x.alias(); }),
    of_tensor("Tensor::view", [](T& x) { return x.view(twelve_elements); }),
    of_tensor("Tensor::view", [](T& x) { return x.view(DType::i32); }),
    of_tensor("Tensor::as_strided", [](T& x) { return x.as_strided(two_elements, last_steps); }),
    of_tensor("Tensor::permute", [](T& x) { return x.permute(reversed_axes); }),
    of_tensor("Tensor::transpose", [](T& x) { return x.transpose(0, 5); }),
    of_tensor("Tensor::movedim",
              [](T& x) {
                return x.movedim({0, 1}, {4, 5});
              }),
    of_tensor("Tensor::squeeze", [](T& x) { return x.squeeze(); }),
    of_tensor("Tensor::unsqueeze", [](T& x) { return x.unsqueeze(0); }),
    of_tensor("Tensor::expand", [](T& x) { return x.expand(sevens); }),
    of_tensor("Tensor::select", [](T& x) { return x.select(1, 1); }),
    of_tensor("Tensor::slice", [](T& x) { return x.slice(1, 1); }),
    of_tensor("Tensor::narrow", [](T& x) { return x.narrow(1, 1, 1); }),
    of_tensor("Tensor::split", [](T& x) { return x.split(1, 5); }),
    of_tensor("Tensor::chunk", [](T& x) { return x.chunk(3, 5); }),
    of_tensor("Tensor::unbind", [](T& x) { return x.unbind(5); }),
    of_tensor("Tensor::diagonal", [](T& x) { return x.diagonal(0, 1, 3); }),
    of_tensor("Tensor::unfold", [](T& x) { return x.unfold(5, 2, 1); }),
    of_tensor("Tensor::flatten", [](T& x) { return x.flatten(4, 5); }),
    of_nothing("Tensor::view_as_real",
               [] { return Tensor::zeros(two_elements, DType::complex64).view_as_real(); }),
    of_nothing("Tensor::view_as_complex",
               [] { return Tensor::zeros(two_elements, DType::f32).view_as_complex(); }),
    of_tensor("geometry_of", [](T& x) { return geometry_of(x).layout; }),
    of_tensor("view_of", [](T& x) { return view_of(x, geometry_of(x)); }),
    of_tensor("accessor",
              [](T& x) {
                const bool is_there = accessor<float, 6>(x)(0, 1, 0, 1, 0, 2) == 11 &&
                                      mutable_accessor<float, 6>(x)(0, 1, 0, 1, 0, 2) == 11;
                return x.select(5, is_there ? 1 : 0);
              }),
};

}  // namespace views_rows

std::span<const Row> rows_of_views() {
  return views_rows::rows;
}

}  // namespace byre::test
