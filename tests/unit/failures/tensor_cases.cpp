// SPDX-License-Identifier: BSL-1.0
// Cases of layouts, views, tensors, operations on elements, and text.
#include <byre/tensor/accessor.hpp>
#include <byre/tensor/devices.hpp>
#include <byre/tensor/elements.hpp>
#include <byre/tensor/view_geometry.hpp>

#include <sstream>

#include "cases.hpp"
#include "support/failing_allocator.hpp"

namespace byre::test {
namespace tensor_table {

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
  auto* const support = new OtherMemory(device);  // devices are never unregistered
  attempt([&] { register_device(device, *support); },
          [&] {
            const std::string text = describe(device).chars.data();
            return text.substr(text.find('('));
          });
}

/// A case: `Function` leaves some elements indeterminate, so only sizes and dtype are compared.
template <class Function>
Case shape_case(const char* name, Function) {
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
  stream << std::string(1000, ' ');  // reserves capacity
  stream.seekp(0);
  attempt([&] { stream << tensor; }, [&] { return stream.str(); });
}

/// A layout whose last dimension is two.
Layout pairs() {
  return contiguous_layout({1, 1, 1, 1, 3, 2}, "test");
}

const Case cases[] = {
    call_case("Dims::Dims", [] { return Dims{1, 2, 3, 4, 5, 6}; }),
    tensor_case("Dims::Dims", [](T& x) { return Dims(x.sizes()); }),
    tensor_case("Dims::without",
                [](T& x) { return views::unsqueeze(x.layout(), 0).sizes.without(1); }),
    tensor_case("Dims::resize",
                [](T& x) {
                  Dims sizes(x.sizes());
                  sizes.resize(9, 7);
                  return sizes;
                }),
    tensor_case("Dims::insert",
                [](T& x) {
                  Dims sizes(x.sizes());
                  sizes.insert(sizes.begin() + 1, 7);
                  return sizes;
                }),
    call_case("contiguous_layout", [] { return contiguous_layout(deep_sizes, "test"); }),
    tensor_case("contiguous_view",
                [](T& x) { return contiguous_view(x.layout(), all_elements, "test"); }),
    tensor_case("viewed_as", [](T& x) { return viewed_as(x.layout(), all_elements, "test"); }),
    tensor_case("viewed_as",
                [](T& x) {
                  const Layout seven = views::unsqueeze(x.layout(), 0);
                  const Layout apart = views::expand(seven, {2, 2, 2, 2, 2, 2, 3});
                  return viewed_as(apart, {1, 2, 2, 2, 2, 2, 2, 3}, "test");
                }),
    refusal_case<ShapeError>("viewed_as_or_throw",
                             [] {
                               const Layout deep = contiguous_layout(deep_sizes, "test");
                               viewed_as_or_throw(views::permute(deep, reversed_axes), all_elements,
                                                  "test", "No.");
                             }),
    call_case("inferred_sizes", [] { return inferred_sizes(all_elements, 12, "test"); }),
    tensor_case("element_at",
                [](T& x) { return std::to_string(element_at(x.layout(), last_element, "test")); }),
    tensor_case("may_overlap_itself",
                [](T& x) { return std::string(may_overlap_itself(x.layout()) ? "yes" : "no"); }),
    call_case("views::t",
              [] {
                return views::t(contiguous_layout({2, 3}, "test"));
              }),
    tensor_case("views::split",
                [](T& x) {
                  return views::split(x.layout(), {1, 0, 0, 1, 0, 0, 1}, 5);
                }),
    call_case("views::with_itemsize", [] { return views::with_itemsize(pairs(), 4, 2); }),
    call_case("views::as_real", [] { return views::as_real(pairs()); }),
    call_case("views::as_complex", [] { return views::as_complex(pairs()); }),

    tensor_case("Tensor::alias", [](T& x) { return x.alias(); }),
    tensor_case("Tensor::view", [](T& x) { return x.view(twelve_elements); }),
    tensor_case("Tensor::view", [](T& x) { return x.view(DType::i32); }),
    tensor_case("Tensor::as_strided", [](T& x) { return x.as_strided(two_elements, last_steps); }),
    tensor_case("Tensor::permute", [](T& x) { return x.permute(reversed_axes); }),
    tensor_case("Tensor::transpose", [](T& x) { return x.transpose(0, 5); }),
    tensor_case("Tensor::movedim",
                [](T& x) {
                  return x.movedim({0, 1}, {4, 5});
                }),
    tensor_case("Tensor::squeeze", [](T& x) { return x.squeeze(); }),
    tensor_case("Tensor::unsqueeze", [](T& x) { return x.unsqueeze(0); }),
    tensor_case("Tensor::expand", [](T& x) { return x.expand(sevens); }),
    tensor_case("Tensor::select", [](T& x) { return x.select(1, 1); }),
    tensor_case("Tensor::slice", [](T& x) { return x.slice(1, 1); }),
    tensor_case("Tensor::narrow", [](T& x) { return x.narrow(1, 1, 1); }),
    tensor_case("Tensor::split", [](T& x) { return x.split(1, 5); }),
    tensor_case("Tensor::chunk", [](T& x) { return x.chunk(3, 5); }),
    tensor_case("Tensor::unbind", [](T& x) { return x.unbind(5); }),
    tensor_case("Tensor::diagonal", [](T& x) { return x.diagonal(0, 1, 3); }),
    tensor_case("Tensor::unfold", [](T& x) { return x.unfold(5, 2, 1); }),
    tensor_case("Tensor::flatten", [](T& x) { return x.flatten(4, 5); }),
    call_case("Tensor::view_as_real",
              [] { return Tensor::zeros(two_elements, DType::complex64).view_as_real(); }),
    call_case("Tensor::view_as_complex",
              [] { return Tensor::zeros(two_elements, DType::f32).view_as_complex(); }),
    tensor_case("geometry_of", [](T& x) { return geometry_of(x).layout; }),
    tensor_case("view_of", [](T& x) { return view_of(x, geometry_of(x)); }),
    tensor_case("accessor",
                [](T& x) {
                  const bool is_there = accessor<float, 6>(x)(0, 1, 0, 1, 0, 2) == 11 &&
                                        mutable_accessor<float, 6>(x)(0, 1, 0, 1, 0, 2) == 11;
                  return x.select(5, is_there ? 1 : 0);
                }),

    call_case("Tensor::Tensor", [] { return Tensor(Device::cpu()); }),
    call_case("Tensor::empty", [] { return Tensor::empty(two_elements, DType::f32).sizes(); }),
    call_case("Tensor::zeros", [] { return Tensor::zeros(two_elements, DType::f32); }),
    call_case("Tensor::of",
              [] {
                return Tensor::of<float>(two_elements, {3, 4});
              }),
    tensor_case("Tensor::over",
                [](T& x) { return Tensor::over(x.storage(), two_elements, DType::f32); }),
    tensor_case("Tensor::size", [](T& x) { return std::to_string(x.size(-1)); }),
    tensor_case("Tensor::resize", [](T& x) { return x.resize(two_elements); }),
    tensor_case("Tensor::resize",
                [](T& x) {
                  return x.resize({1, 1, 1, 1, 1, 200});
                }),
    shape_case("Tensor::realize", [](T& x) { x.realize(DType::i64); }),
    tensor_case("Tensor::free_memory", [](T& x) { return x.free_memory(); }),
    tensor_case("Tensor::reserve", [](T& x) { return x.reserve(sevens); }),
    shape_case("Tensor::extend", [](T& x) { x.extend(7); }),
    tensor_case("Tensor::share_data", [](T& x) { return x.share_data(x.clone()); }),
    tensor_case("Tensor::share_external",
                [](T& x) {
                  static float elements[12] = {};
                  return x.share_external(elements, DType::f32, [](void*) {});
                }),
    tensor_case("Tensor::lazy_clone", [](T& x) { return x.lazy_clone(); }),
    tensor_case("Tensor::writable_clone", [](T& x) { return x.writable_clone(); }),
    tensor_case("Tensor::mutable_data",
                [](T& x) {
                  Tensor clone = x.lazy_clone();
                  clone.mutable_data<float>()[0] = 9;
                  return clone;
                }),
    tensor_case("Tensor::mutable_data_in_parallel",
                [](T& x) {
                  Tensor clone = x.lazy_clone();
                  clone.mutable_data_in_parallel<float>()[0] = 9;
                  return clone;
                }),
    tensor_case("Tensor::mutable_data_in_parallel",
                [](T& x) {
                  catch_refusal<DTypeError>([&] { x.mutable_data_in_parallel<int>(); });
                  Tensor without = x.clone();
                  without.free_memory();
                  catch_refusal<StateError>([&] { without.mutable_data_in_parallel<float>(); });
                  return x;
                }),
    tensor_case("Tensor::clone", [](T& x) { return x.transpose(1, 5).clone(); }),
    tensor_case("Tensor::contiguous", [](T& x) { return x.transpose(1, 5).contiguous(); }),
    tensor_case("Tensor::reshape", [](T& x) { return x.reshape(all_elements); }),
    retaining_memory(tensor_case("Tensor::reshape",
                                 [](T& x) {
                                   const shadow::ReshapeModeScope tracked(
                                       shadow::ReshapeMode::warn);
                                   return x.reshape(all_elements);
                                 })),
    tensor_case("Tensor::reshape_", [](T& x) { return x.reshape_(all_elements); }),
    tensor_case("Tensor::to", [](T& x) { return x.to(Device::cpu()); }),
    tensor_case("Tensor::at",
                [](T& x) {
                  x.set_at<float>({0, 1, 0, 1, 0, 2}, 9);
                  return std::to_string(x.at<float>({0, 1, 0, 1, 0, 2}));
                }),
    tensor_case("packed", [](T& x) { return packed(x.transpose(1, 5)); }),
    {"register_device", register_one},

    call_case("Scalar::to_tensor", [] { return Scalar(3).to_tensor(DType::f32); }),
    call_case("Scalar::fitting", [] { return Scalar(3).fitting(DType::f32, "test"); }),
    tensor_case("Scalar::operand_for", [](T& x) { return Scalar(3).operand_for(x, "test"); }),
    tensor_case("Scalar::compared_with", [](T& x) { return Scalar(3).compared_with(x, "test"); }),

    tensor_case("fill_", [](T& x) { return fill_(x, 7); }),
    tensor_case("zero_", [](T& x) { return zero_(x); }),
    tensor_case("copy_", [](T& x) { return copy_(x, neg(x.transpose(1, 3))); }),
    tensor_case("add", [](T& x) { return add(x, x.transpose(1, 3)); }),
    tensor_case("add", [](T& x) { return add(x, 1); }),
    tensor_case("add_", [](T& x) { return add_(x, x); }),
    tensor_case("sub", [](T& x) { return sub(1, x); }),
    tensor_case("sub_", [](T& x) { return sub_(x, 1); }),
    tensor_case("mul", [](T& x) { return mul(x, x); }),
    tensor_case("mul_", [](T& x) { return mul_(x, x); }),
    tensor_case("div", [](T& x) { return div(x, 2); }),
    tensor_case("div_", [](T& x) { return div_(x, 2); }),
    tensor_case("neg", [](T& x) { return neg(x); }),
    tensor_case("neg_", [](T& x) { return neg_(x); }),
    tensor_case("relu", [](T& x) { return relu(x); }),
    tensor_case("relu_", [](T& x) { return relu_(x); }),
    tensor_case("exp", [](T& x) { return exp(x); }),
    tensor_case("exp_", [](T& x) { return exp_(x); }),
    tensor_case("eq", [](T& x) { return eq(x, 3); }),
    tensor_case("ge", [](T& x) { return ge(x, x); }),
    tensor_case("where", [](T& x) { return where(ge(x, 3), x, 0); }),
    tensor_case("sum", [](T& x) { return sum(x); }),
    tensor_case("sum", [](T& x) { return sum(x, all_axes, true); }),
    tensor_case("sum",
                [](T& x) {
                  Tensor many = x;
                  while (many.ndim() < 20) {
                    many = many.unsqueeze(0);
                  }
                  return sum(many, {1, 2, 3, 15});
                }),
    tensor_case("matmul", [](T& x) { return matmul(x, x.transpose(4, 5)); }),
    tensor_case("cat",
                [](T& x) {
                  return cat({x, x}, 1);
                }),
    tensor_case("flip", [](T& x) { return flip(x, all_axes); }),

    tensor_case("to_string", [](T& x) { return to_string(x, {.threshold = 3, .type = true}); }),
    tensor_case("to_string", [](T& x) { return to_string(x.sizes()); }),
    {"operator<<", write_to_stream},
};

}  // namespace tensor_table

std::span<const Case> tensor_cases() {
  return tensor_table::cases;
}

}  // namespace byre::test
