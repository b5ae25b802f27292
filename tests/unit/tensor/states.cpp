// SPDX-License-Identifier: BSL-1.0
#include "states.hpp"

#include <byre/interop/npy.hpp>
#include <byre/interop/safetensors.hpp>
#include <byre/tensor/accessor.hpp>
#include <byre/tensor/elements.hpp>
#include <byre/tensor/print.hpp>

#include <cstring>
#include <memory>
#include <utility>

#include "support/temporary_folder.hpp"
#include "support/tensor/fake_device.hpp"

namespace byre::test {
namespace {

Returned no_result(const Tensor&) {
  return {};
}

Returned results(std::vector<Tensor> tensors) {
  return {.tensors = std::move(tensors)};
}

Returned result(Tensor tensor) {
  return results({std::move(tensor)});
}

Returned read(const Tensor& tensor, const void* first) {
  float value = 0;
  if (tensor.numel() != 0) {
    std::memcpy(&value, first, sizeof value);
  }
  return {.read = static_cast<double>(value)};
}

/// The result of an operation that wrote `value` to the first element, if there are elements.
Returned wrote(const Tensor& tensor, double value) {
  return {.wrote = tensor.numel() != 0 ? std::optional(value) : std::nullopt};
}

template <class T>
Returned write(const Tensor& tensor, T* first) {
  if (tensor.numel() != 0) {
    *first = T(7);
  }
  return wrote(tensor, 7);
}

Returned share_of_another(Tensor& tensor) {
  const Tensor source = tensor.numel() == 0 ? Tensor::empty(tensor.sizes(), DType::f32)
                                            : Tensor::of<float>(tensor.sizes(), {1, 2, 3, 4});
  tensor.share_data(source);
  return result(source);
}

Returned share_with_another(Tensor& tensor) {
  Tensor target = Tensor(Device::cpu()).resize(tensor.sizes());
  target.share_data(tensor);
  return result(target);
}

Returned take_foreign(Tensor& tensor) {
  auto* const foreign = new float[4]{1, 2, 3, 4};
  tensor.share_external(foreign, DType::f32,
                        [](void* data) { delete[] static_cast<float*>(data); });
  return {};
}

Returned call_all_getters(Tensor& tensor) {
  const Tensor same = Tensor::reclaim(Tensor(tensor).release());
  static_cast<void>(same.size(-1) + static_cast<std::int64_t>(same.handle_count() + same.nbytes()) +
                    same.is_contiguous());
  static_cast<void>(same.aliases(tensor) && &same.allocator() == &tensor.allocator());
  return {};
}

Tensor sevens_like(const Tensor& tensor) {
  return fill_(*std::make_unique<Tensor>(Tensor::empty(tensor.sizes(), DType::f32)), 7);
}

Returned copy_from(Tensor& tensor) {
  Tensor target = Tensor(Device::cpu()).resize(tensor.sizes());
  return result(copy_(target, tensor));
}

/// Adds the operand in place to a tensor of sevens. The operand that was read is the sum minus 7.
Returned operand_in_place(Tensor& tensor) {
  Tensor sum = sevens_like(tensor);
  add_(sum, tensor);
  const Tensor difference = sub(sum, 7);
  return read(tensor, difference.data<float>());
}

Returned save_and_load(Tensor& tensor) {
  const TemporaryFolder folder;
  save_npy(folder.path() / "x.npy", tensor);
  return result(load_npy(folder.path() / "x.npy"));
}

Returned save_in_model(Tensor& tensor) {
  const TemporaryFolder folder;
  save_safetensors(folder.path() / "x.safetensors", NamedTensors{{"x", tensor}});
  return result(load_safetensors(folder.path() / "x.safetensors").tensors[0].second);
}

Operation resizing(const char* name, const Dims& sizes,
                   OnShrink on_shrink = OnShrink::keep_memory) {
  return {name, [=](Tensor& x) { return no_result(x.resize(sizes, on_shrink)); }};
}

const Dims axes_swapped{1, 0};
const Dims expanded_sizes{3, -1, 2};
const Dims sizes_2_and_0{2, 0};
const Tensor& two_by_three() {
  static const Tensor matrix = Tensor::zeros({2, 3}, DType::f32);
  return matrix;
}

std::vector<Operation> all_views() {
  return {{"alias", [](Tensor& x) { return result(x.alias()); }},
          {"view", [](Tensor& x) { return result(x.view({-1})); }},
          {"as_strided", [](Tensor& x) { return result(x.as_strided(x.sizes(), x.strides())); }},
          {"permute", [](Tensor& x) { return result(x.permute(axes_swapped)); }},
          {"transpose", [](Tensor& x) { return result(x.transpose(0, 1)); }},
          {"t", [](Tensor& x) { return result(x.t()); }},
          {"movedim", [](Tensor& x) { return result(x.movedim({0}, {1})); }},
          {"squeeze", [](Tensor& x) { return result(x.squeeze()); }},
          {"squeeze_axis", [](Tensor& x) { return result(x.squeeze(0)); }},
          {"unsqueeze", [](Tensor& x) { return result(x.unsqueeze(0)); }},
          {"expand", [](Tensor& x) { return result(x.expand(expanded_sizes)); }},
          {"select", [](Tensor& x) { return result(x.select(1, 1)); }},
          {"slice", [](Tensor& x) { return result(x.slice(1, 0, 1)); }},
          {"narrow", [](Tensor& x) { return result(x.narrow(1, 0, 1)); }},
          {"split", [](Tensor& x) { return results(x.split(1, 1)); }},
          {"split_sizes", [](Tensor& x) { return results(x.split(sizes_2_and_0, 1)); }},
          {"chunk", [](Tensor& x) { return results(x.chunk(2, 1)); }},
          {"unbind", [](Tensor& x) { return results(x.unbind(1)); }},
          {"diagonal", [](Tensor& x) { return result(x.diagonal()); }},
          {"unfold", [](Tensor& x) { return result(x.unfold(1, 2, 1)); }},
          {"flatten", [](Tensor& x) { return result(x.flatten()); }}};
}

std::vector<Operation> computing() {
  return {
      {"add", [](Tensor& x) { return result(add(x, x)); }},
      {"sub", [](Tensor& x) { return result(sub(sevens_like(x), x)); }},
      {"mul", [](Tensor& x) { return result(mul(sevens_like(x), x)); }},
      {"div", [](Tensor& x) { return result(div(x, x)); }},
      {"neg", [](Tensor& x) { return result(neg(x)); }},
      {"relu", [](Tensor& x) { return result(relu(x)); }},
      {"exp", [](Tensor& x) { return result(exp(x)); }},
      {"eq", [](Tensor& x) { return result(eq(x, x)); }},
      {"ge", [](Tensor& x) { return result(ge(x, x)); }},
      {"where", [](Tensor& x) { return result(where(Tensor::zeros({}, DType::boolean), x, x)); }},
      {"sum", [](Tensor& x) { return result(sum(x)); }},
      {"matmul", [](Tensor& x) { return result(matmul(x, two_by_three())); }},
      {"matmul_second",
       [](Tensor& x) { return result(matmul(two_by_three().t().narrow(1, 0, x.size(0)), x)); }},
      {"cat", [](Tensor& x) {
         return result(cat(std::vector{sevens_like(x), x}));
       }}};
}

std::vector<Operation> computing_in_place() {
  return {
      {"add_", [](Tensor& x) { return wrote(add_(x, sevens_like(x)), 8); }},
      {"sub_", [](Tensor& x) { return wrote(sub_(x, sevens_like(x)), -6); }},
      {"mul_", [](Tensor& x) { return wrote(mul_(x, sevens_like(x)), 7); }},
      {"div_", [](Tensor& x) { return wrote(div_(x, sevens_like(x)), double(1.0F / 7.0F)); }},
      {"neg_", [](Tensor& x) { return wrote(neg_(x), -1); }},
      {"relu_",
       [](Tensor& x) { return wrote(fill_(relu_(x), 7), 7); }},  // relu_() alone changes nothing
      {"exp_", [](Tensor& x) { return wrote(fill_(exp_(x), 7), 7); }}};
}

}  // namespace

// clang-format off
const std::vector<Row>& state_rows() {
  static const Operation freeing{"free_memory",
      [](Tensor& x) { return no_result(x.free_memory()); }};
  static const Operation reserving{"reserve",
      [](Tensor& x) { return no_result(x.reserve({9, 2})); }};
  static const Operation extending{"extend", [](Tensor& x) { return no_result(x.extend(1)); }};
  static const Operation resizing_to_the_same{
      "resize_same", [](Tensor& x) { return no_result(x.resize(Dims(x.sizes()))); }};
  static const std::vector not_contiguous{Arrangement::transposed, Arrangement::sliced,
   Arrangement::expanded};
  static const std::vector<Row> all{
      {"queries", {{"getters", call_all_getters}}},
      {"views", all_views()},
      {"`view(dtype)`", {{"view_dtype", [](Tensor& x) { return result(x.view(DType::u8)); }}}},
      {"`view_as_real`", {{"view_as_real",
          [](Tensor& x) { return result(x.view_as_real()); }}}, DType::complex64},
      {"`view_as_complex`", {{"view_as_complex",
          [](Tensor& x) { return result(x.view_as_complex()); }}}},
      {"copies", {{"lazy_clone", [](Tensor& x) { return result(x.lazy_clone()); }},
                  {"writable_clone", [](Tensor& x) { return result(x.writable_clone()); }},
                  {"clone", [](Tensor& x) { return result(x.clone()); }},
                  {"reshape", [](Tensor& x) { return result(x.reshape({-1})); }},
                  {"reshape_by_copy", [](Tensor& x) { return result(x.t().reshape({-1})); }}}},
      {"`contiguous`, `to` its own device", {{"contiguous",
          [](Tensor& x) { return result(x.contiguous()); }},
                                         {"to_its_device",
                                             [](Tensor& x) { return result(x.to(x.device())); }}}},
      {"`to` another device",
       {{"to_another_device",
           [](Tensor& x) { return result(x.to(FakeDevice::first().device())); }}}},
      {"`data<T>`, `raw_data`, `accessor<T>`",
       {{"data", [](Tensor& x) { return read(x, x.data<float>()); }},
        {"raw_data", [](Tensor& x) { return read(x, x.raw_data()); }},
        {"accessor", [](Tensor& x) { return read(x, byre::accessor<float, 2>(x).data()); }}}},
      {"`data<Other>`, `accessor<Other>`",
       {{"data_other", [](Tensor& x) { return read(x, x.data<double>()); }},
        {"accessor_other",
            [](Tensor& x) { return read(x, byre::accessor<double, 2>(x).data()); }}}},
      {"`mutable_data<T>`, `mutable_accessor<T>`",
       {{"mutable_data", [](Tensor& x) { return write(x, x.mutable_data<float>()); }},
        {"mutable_accessor",
            [](Tensor& x) { return write(x, byre::mutable_accessor<float, 2>(x).data()); }}}},
      {"`mutable_data<Other>`",
       {{"mutable_data_other", [](Tensor& x) { return write(x, x.mutable_data<double>()); }}}},
      {"`mutable_accessor<Other>`",
       {{"mutable_accessor_other",
           [](Tensor& x) { return write(x, byre::mutable_accessor<double, 2>(x).data()); }}}},
      {"`mutable_raw_data`",
       {{"mutable_raw_data",
           [](Tensor& x) { return write(x, static_cast<float*>(x.mutable_raw_data())); }}}},
      {"`at<T>`", {{"at",
          [](Tensor& x) { return Returned{.read = double(x.at<float>({0, 0}))}; }}}},
      {"`set_at<T>`", {{"set_at",
          [](Tensor& x) { return x.set_at<float>({0, 0}, 7), wrote(x, 7); }}}},
      {"`at<Other>`, `set_at<Other>`",
       {{"at_other", [](Tensor& x) { return x.at<double>({0, 0}), no_result(x); }},
        {"set_at_other", [](Tensor& x) { return x.set_at<double>({0, 0}, 7), no_result(x); }}}},
      {"`realize(its dtype)`", {{"realize",
          [](Tensor& x) { return no_result(x.realize<float>()); }}}},
      {"`realize(another)`", {{"realize_other",
          [](Tensor& x) { return no_result(x.realize<double>()); }}}},
      {"`free_memory`", {freeing}},
      {"`resize` to the same sizes", {resizing_to_the_same}},
      {"`resize` to fewer", {resizing("resize_fewer", {1, 2})}},
      {"`resize` to fewer, freeing", {resizing("resize_fewer_freeing", {1, 2},
       OnShrink::free_memory)}},
      {"`resize` to none", {resizing("resize_none", {2, 0})}},
      {"`resize` to none, freeing", {resizing("resize_none_freeing", {2, 0},
       OnShrink::free_memory)}},
      {"`resize` to more", {resizing("resize_more", {3, 2})}},
      {"`resize` to more, within the reserved memory",
       {resizing("resize_reserved", {3, 2})}, DType::f32, {Arrangement::reserved}},
      {"`resize` to the same sizes, not contiguous", {resizing_to_the_same}, DType::f32,
       not_contiguous},
      {"`resize` to other sizes, not contiguous",
       {resizing("resize_fewer", {1, 2}), resizing("resize_fewer_freeing", {1, 2},
        OnShrink::free_memory),
        resizing("resize_none", {2, 0}), resizing("resize_more", {3, 2})}, DType::f32,
         not_contiguous},
      {"`free_memory`, not contiguous", {freeing}, DType::f32, not_contiguous},
      {"`reserve`, not contiguous", {reserving}, DType::f32, not_contiguous},
      {"`extend`, not contiguous", {extending}, DType::f32, not_contiguous},
      {"`reserve`", {reserving}},
      {"`extend`", {extending}},
      {"`share_data` from a full or an empty tensor", {{"share_data_target", share_of_another}}},
      {"`share_data` by another tensor from this one", {{"share_data_source", share_with_another}}},
      {"`share_external`", {{"share_external", take_foreign}}},
      {"`fill_`, `zero_`", {{"fill_", [](Tensor& x) { return wrote(fill_(x, 7), 7); }},
                            {"zero_", [](Tensor& x) { return wrote(zero_(x), 0); }}}},
      {"`copy_` to this tensor", {{"copy_to",
          [](Tensor& x) { return wrote(copy_(x, sevens_like(x)), 7); }}}},
      {"`copy_` from this tensor", {{"copy_from", copy_from}}},
      {"computations", computing()},
      {"computations in place", computing_in_place()},
      {"as the other operand of a computation in place", {{"add_operand", operand_in_place}}},
      {"`save_npy`, `save_safetensors`", {{"save_npy", save_and_load}, {"save_safetensors",
       save_in_model}}},
      {"`to_string`", {{"to_string",
          [](Tensor& x) { return static_cast<void>(to_string(x)), no_result(x); }}}},
  };
  return all;
}
// clang-format on

}  // namespace byre::test
