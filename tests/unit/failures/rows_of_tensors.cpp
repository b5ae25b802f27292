// SPDX-License-Identifier: BSL-1.0
// Layouts, views, tensors of their own, operations on elements, and text.
#include <byre/tensor/accessor.hpp>
#include <byre/tensor/devices.hpp>
#include <byre/tensor/elements.hpp>
#include <byre/tensor/view_geometry.hpp>

#include <sstream>

#include "rows.hpp"
#include "support/failing_allocator.hpp"

namespace byre::test {
namespace tensors_rows {

using T = Tensor;

class OtherMemory final : public DeviceSupport {
 public:
  explicit OtherMemory(Device device) : allocator_(device) {}
  Allocator& allocator() noexcept override { return allocator_; }
  void copy_to_host(void* to, const void* from, std::size_t nbytes) override {
    std::memcpy(to, from, nbytes);
  }
  void copy_from_host(void* to, const void* from, std::size_t nbytes) override {
    std::memcpy(to, from, nbytes);
  }
  const char* name() const noexcept override { return "other memory"; }

 private:
  FailingAllocator allocator_;
};

void register_one(Attempt& attempt) {
  const Device device(7, static_cast<std::uint16_t>(attempt.number()));
  auto* const support = new OtherMemory(device);  // devices stay
  attempt([&] { register_device(device, *support); },
          [&] {
            const std::string text = describe(device).chars.data();
            return text.substr(text.find('('));
          });
}

/// A row of what leaves some elements indeterminate.
template <class Function>
Row of_type(const char* name, Function) {
  static_assert(std::is_empty_v<Function>);
  return {name, [](Attempt& attempt) {
            Tensor tensor = deep_tensor();
            attempt([&] { Function()(tensor); },
                    [&] { return described(tensor.sizes()) + name_of(tensor.dtype()); });
          }};
}

void write_to_stream(Attempt& attempt) {
  const Tensor tensor = deep_tensor();
  std::ostringstream stream;
  stream << std::string(1000, ' ');  // room
  stream.seekp(0);
  attempt([&] { stream << tensor; }, [&] { return stream.str(); });
}

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
    of_refusal<ShapeError>("seen_as",
                           [] {
                             const Layout deep = contiguous_layout(deep_sizes, "test");
                             seen_as(views::permute(deep, reversed_axes), all_elements, "test",
                                     "No.");
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

    of_nothing("Tensor::Tensor", [] { return Tensor(Device::cpu()); }),
    of_nothing("Tensor::empty", [] { return Tensor::empty(two_elements, DType::f32).sizes(); }),
    of_nothing("Tensor::zeros", [] { return Tensor::zeros(two_elements, DType::f32); }),
    of_nothing("Tensor::of",
               [] {
                 return Tensor::of<float>(two_elements, {3, 4});
               }),
    of_tensor("Tensor::over",
              [](T& x) { return Tensor::over(x.storage(), two_elements, DType::f32); }),
    of_tensor("Tensor::size", [](T& x) { return std::to_string(x.size(-1)); }),
    of_tensor("Tensor::resize", [](T& x) { return x.resize(two_elements); }),
    of_tensor("Tensor::resize",
              [](T& x) {
                return x.resize({1, 1, 1, 1, 1, 200});
              }),
    of_type("Tensor::realize", [](T& x) { x.realize(DType::i64); }),
    of_tensor("Tensor::free_memory", [](T& x) { return x.free_memory(); }),
    of_tensor("Tensor::reserve", [](T& x) { return x.reserve(sevens); }),
    of_type("Tensor::extend", [](T& x) { x.extend(7); }),
    of_tensor("Tensor::share_data", [](T& x) { return x.share_data(x.clone()); }),
    of_tensor("Tensor::share_external",
              [](T& x) {
                static float elements[12] = {};
                return x.share_external(elements, DType::f32, [](void*) {});
              }),
    of_tensor("Tensor::lazy_clone", [](T& x) { return x.lazy_clone(); }),
    of_tensor("Tensor::writable_clone", [](T& x) { return x.writable_clone(); }),
    of_tensor("Tensor::mutable_data",
              [](T& x) {
                Tensor clone = x.lazy_clone();
                clone.mutable_data<float>()[0] = 9;
                return clone;
              }),
    of_tensor("Tensor::mutable_data_in_parallel",
              [](T& x) {
                Tensor clone = x.lazy_clone();
                clone.mutable_data_in_parallel<float>()[0] = 9;
                return clone;
              }),
    of_tensor("Tensor::mutable_data_in_parallel",
              [](T& x) {
                refused<DTypeError>([&] { x.mutable_data_in_parallel<int>(); });
                Tensor without = x.clone();
                without.free_memory();
                refused<StateError>([&] { without.mutable_data_in_parallel<float>(); });
                return x;
              }),
    of_tensor("Tensor::clone", [](T& x) { return x.transpose(1, 5).clone(); }),
    of_tensor("Tensor::contiguous", [](T& x) { return x.transpose(1, 5).contiguous(); }),
    of_tensor("Tensor::reshape", [](T& x) { return x.reshape(all_elements); }),
    keeping_memory(of_tensor("Tensor::reshape",
                             [](T& x) {
                               const shadow::ReshapeModeScope tracked(shadow::ReshapeMode::warn);
                               return x.reshape(all_elements);
                             })),
    of_tensor("Tensor::reshape_", [](T& x) { return x.reshape_(all_elements); }),
    of_tensor("Tensor::to", [](T& x) { return x.to(Device::cpu()); }),
    of_tensor("Tensor::at",
              [](T& x) {
                x.set_at<float>({0, 1, 0, 1, 0, 2}, 9);
                return std::to_string(x.at<float>({0, 1, 0, 1, 0, 2}));
              }),
    of_tensor("packed", [](T& x) { return packed(x.transpose(1, 5)); }),
    {"register_device", register_one},

    of_nothing("Scalar::to_tensor", [] { return Scalar(3).to_tensor(DType::f32); }),
    of_nothing("Scalar::fitting", [] { return Scalar(3).fitting(DType::f32, "test"); }),
    of_tensor("Scalar::beside", [](T& x) { return Scalar(3).beside(x, "test"); }),
    of_tensor("Scalar::compared_with", [](T& x) { return Scalar(3).compared_with(x, "test"); }),

    of_tensor("fill_", [](T& x) { return fill_(x, 7); }),
    of_tensor("zero_", [](T& x) { return zero_(x); }),
    of_tensor("copy_", [](T& x) { return copy_(x, neg(x.transpose(1, 3))); }),
    of_tensor("add", [](T& x) { return add(x, x.transpose(1, 3)); }),
    of_tensor("add", [](T& x) { return add(x, 1); }),
    of_tensor("add_", [](T& x) { return add_(x, x); }),
    of_tensor("sub", [](T& x) { return sub(1, x); }),
    of_tensor("sub_", [](T& x) { return sub_(x, 1); }),
    of_tensor("mul", [](T& x) { return mul(x, x); }),
    of_tensor("mul_", [](T& x) { return mul_(x, x); }),
    of_tensor("div", [](T& x) { return div(x, 2); }),
    of_tensor("div_", [](T& x) { return div_(x, 2); }),
    of_tensor("neg", [](T& x) { return neg(x); }),
    of_tensor("neg_", [](T& x) { return neg_(x); }),
    of_tensor("relu", [](T& x) { return relu(x); }),
    of_tensor("relu_", [](T& x) { return relu_(x); }),
    of_tensor("exp", [](T& x) { return exp(x); }),
    of_tensor("exp_", [](T& x) { return exp_(x); }),
    of_tensor("eq", [](T& x) { return eq(x, 3); }),
    of_tensor("ge", [](T& x) { return ge(x, x); }),
    of_tensor("where", [](T& x) { return where(ge(x, 3), x, 0); }),
    of_tensor("sum", [](T& x) { return sum(x); }),
    of_tensor("sum", [](T& x) { return sum(x, all_axes, true); }),
    of_tensor("sum",
              [](T& x) {
                Tensor many = x;
                while (many.ndim() < 20) {
                  many = many.unsqueeze(0);
                }
                return sum(many, {1, 2, 3, 15});
              }),
    of_tensor("matmul", [](T& x) { return matmul(x, x.transpose(4, 5)); }),
    of_tensor("cat",
              [](T& x) {
                return cat({x, x}, 1);
              }),
    of_tensor("flip", [](T& x) { return flip(x, all_axes); }),

    of_tensor("to_string", [](T& x) { return to_string(x, {.threshold = 3, .type = true}); }),
    of_tensor("to_string", [](T& x) { return to_string(x.sizes()); }),
    {"operator<<", write_to_stream},
};

}  // namespace tensors_rows

std::span<const Row> rows_of_tensors() {
  return tensors_rows::rows;
}

}  // namespace byre::test
