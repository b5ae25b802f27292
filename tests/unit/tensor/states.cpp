// SPDX-License-Identifier: BSL-1.0
#include "states.hpp"

#include <cstring>
#include <utility>

#include "../support/fake_device.hpp"

namespace byre::test {
namespace {

using Wanted = Dims;

Returned nothing(const Tensor&) {
  return {};
}

Returned one(Tensor tensor) {
  Returned returned;
  returned.tensors.push_back(std::move(tensor));
  return returned;
}

Returned some(std::vector<Tensor> tensors) {
  Returned returned;
  returned.tensors = std::move(tensors);
  return returned;
}

Returned read(const Tensor& tensor, const void* first) {
  Returned returned;
  float value = 0;
  if (tensor.numel() != 0) {
    std::memcpy(&value, first, sizeof value);
  }
  returned.read = static_cast<double>(value);
  return returned;
}

template <class T>
Returned write(const Tensor& tensor, void* first) {
  Returned returned;
  returned.wrote = tensor.numel() != 0;
  if (returned.wrote) {
    *static_cast<T*>(first) = T(7);
  }
  return returned;
}

Tensor with_elements_like(const Tensor& tensor) {
  return tensor.numel() == 0 ? Tensor::empty(tensor.sizes(), DType::f32)
                             : Tensor::of<float>(tensor.sizes(), {1, 2, 3, 4});
}

Returned share_of_another(Tensor& tensor) {
  const Tensor source = with_elements_like(tensor);
  tensor.share_data(source);
  return one(source);
}

Returned share_with_another(Tensor& tensor) {
  Tensor target = Tensor(Device::cpu()).resize(tensor.sizes());
  target.share_data(tensor);
  return one(target);
}

Returned take_foreign(Tensor& tensor) {
  auto* const foreign = new float[4]{1, 2, 3, 4};
  tensor.share_external(foreign, DType::f32,
                        [](void* data) { delete[] static_cast<float*>(data); });
  return {};
}

Returned ask_everything(Tensor& tensor) {
  const Tensor handle = tensor;
  TensorBase* const raw = Tensor(handle).release();
  const Tensor reclaimed = Tensor::reclaim(raw);
  static_cast<void>(handle.size(-1) + handle.numel() + handle.storage_offset());
  static_cast<void>(handle.nbytes() + handle.itemsize() + handle.ndim() + handle.handle_count());
  static_cast<void>(handle.layout() == reclaimed.layout() && handle.is_contiguous());
  static_cast<void>(handle.sizes() == handle.strides() && handle.device() == Device::cpu());
  static_cast<void>(handle.is_dtype_initialized() && handle.is_storage_initialized());
  static_cast<void>(handle.aliases(reclaimed) && handle.dtype() == reclaimed.dtype());
  static_cast<void>(handle.storage() == reclaimed.storage() && bool(handle));
  return {};
}

const std::vector<Operation> views{
    {"alias", [](Tensor& x) { return one(x.alias()); }},
    {"view", [](Tensor& x) { return one(x.view({-1})); }},
    {"as_strided", [](Tensor& x) { return one(x.as_strided(x.sizes(), x.strides())); }},
    {"permute",
     [](Tensor& x) {
       return one(x.permute({1, 0}));
     }},
    {"transpose", [](Tensor& x) { return one(x.transpose(0, 1)); }},
    {"t", [](Tensor& x) { return one(x.t()); }},
    {"movedim", [](Tensor& x) { return one(x.movedim({0}, {1})); }},
    {"squeeze", [](Tensor& x) { return one(x.squeeze()); }},
    {"squeeze_axis", [](Tensor& x) { return one(x.squeeze(0)); }},
    {"unsqueeze", [](Tensor& x) { return one(x.unsqueeze(0)); }},
    {"expand",
     [](Tensor& x) {
       return one(x.expand({3, -1, 2}));
     }},
    {"select", [](Tensor& x) { return one(x.select(1, 1)); }},
    {"slice", [](Tensor& x) { return one(x.slice(1, 0, 1)); }},
    {"narrow", [](Tensor& x) { return one(x.narrow(1, 0, 1)); }},
    {"split", [](Tensor& x) { return some(x.split(1, 1)); }},
    {"split_sizes",
     [](Tensor& x) {
       return some(x.split(Wanted{2, 0}, 1));
     }},
    {"chunk", [](Tensor& x) { return some(x.chunk(2, 1)); }},
    {"unbind", [](Tensor& x) { return some(x.unbind(1)); }},
    {"diagonal", [](Tensor& x) { return one(x.diagonal()); }},
    {"unfold", [](Tensor& x) { return one(x.unfold(1, 2, 1)); }},
    {"flatten", [](Tensor& x) { return one(x.flatten()); }},
};

const Operation dtype_view{"view_dtype", [](Tensor& x) { return one(x.view(DType::u8)); }};
const Operation real_view{"view_as_real", [](Tensor& x) { return one(x.view_as_real()); }};
const Operation complex_view{"view_as_complex", [](Tensor& x) { return one(x.view_as_complex()); }};

const std::vector<Operation> clones{
    {"lazy_clone", [](Tensor& x) { return one(x.lazy_clone()); }},
    {"clone", [](Tensor& x) { return one(x.clone()); }},
    {"reshape", [](Tensor& x) { return one(x.reshape({-1})); }},
    {"reshape_by_copy", [](Tensor& x) { return one(x.t().reshape({-1})); }},
};

const std::vector<Operation> itself{
    {"contiguous", [](Tensor& x) { return one(x.contiguous()); }},
    {"to_its_device", [](Tensor& x) { return one(x.to(x.device())); }},
};

const Operation to_another{"to_another_device",
                           [](Tensor& x) { return one(x.to(FakeDevice::first().device())); }};

const std::vector<Operation> reads{
    {"data", [](Tensor& x) { return read(x, x.data<float>()); }},
    {"raw_data", [](Tensor& x) { return read(x, x.raw_data()); }},
};
const Operation read_other{"data_other", [](Tensor& x) { return read(x, x.data<double>()); }};

const Operation write_same{"mutable_data", [](Tensor& x) {
                             void* const first = x.mutable_data<float>();
                             return write<float>(x, first);
                           }};
const Operation write_other{"mutable_data_other", [](Tensor& x) {
                              void* const first = x.mutable_data<double>();
                              return write<double>(x, first);
                            }};
const Operation write_raw{"mutable_raw_data", [](Tensor& x) {
                            void* const first = x.mutable_raw_data();
                            return write<float>(x, first);
                          }};

const Operation read_element{"at", [](Tensor& x) {
                               Returned returned;
                               returned.read = static_cast<double>(x.at<float>({0, 0}));
                               return returned;
                             }};
const Operation write_element{"set_at", [](Tensor& x) {
                                x.set_at<float>({0, 0}, 7);
                                Returned returned;
                                returned.wrote = true;
                                return returned;
                              }};
const std::vector<Operation> other_elements{
    {"at_other",
     [](Tensor& x) {
       return one(Tensor::of<double>({}, {x.at<double>({0, 0})}));
     }},
    {"set_at_other",
     [](Tensor& x) {
       return x.set_at<double>({0, 0}, 7), nothing(x);
     }},
};

Operation resizing(const char* name, Wanted sizes, OnShrink on_shrink = OnShrink::keep_memory) {
  return {name, [sizes, on_shrink](Tensor& x) { return nothing(x.resize(sizes, on_shrink)); }};
}

Operation resizing_to_the_same() {
  return {"resize_same", [](Tensor& x) { return nothing(x.resize(Wanted(x.sizes()))); }};
}

}  // namespace

// clang-format off
const std::vector<Row>& rows() {
  static const std::vector<Row> table{
      //                                          fresh        sized        freed        full         full, shared    empty           empty, shared
      {"what it is: `sizes()`, `dtype()`, ...; a copied handle; `release`, `reclaim`",
       {{"ask", ask_everything}},                {"as it was", "as it was", "as it was", "as it was", "as it was",    "as it was",    "as it was"}},
      {"views", views,                           {"view",      "no memory", "no memory", "view",      "view",         "view",         "view"}},
      {"`view(dtype)`", {dtype_view},            {"no dtype",  "no memory", "no memory", "view",      "view",         "view",         "view"}},
      {"`view_as_real`", {real_view},            {"no dtype",  "no dtype",  "no memory", "view",      "view",         "view",         "view"}, DType::complex64},
      {"`view_as_complex`", {complex_view},      {"no dtype",  "no dtype",  "no memory", "view",      "view",         "view",         "view"}},
      {"`lazy_clone`, `clone`, `reshape`", clones,
                                                 {"copy",      "no memory", "no memory", "copy",      "copy",         "copy",         "copy"}},
      {"`contiguous`, `to` its device", itself,  {"itself",    "no memory", "no memory", "itself",    "itself",       "itself",       "itself"}},
      {"`to` another device", {to_another},      {"no dtype",  "no memory", "no memory", "copy",      "copy",         "copy",         "copy"}},
      {"`data<T>`, `raw_data`", reads,           {"no dtype",  "no dtype",  "no memory", "reads",     "reads",        "reads",        "reads"}},
      {"`data<Other>`", {read_other},            {"no dtype",  "no dtype",  "dtype",     "dtype",     "dtype",        "dtype",        "dtype"}},
      {"`mutable_data<T>`", {write_same},        {"empty",     "full",      "full",      "writes",    "writes",       "writes",       "writes"}},
      {"`mutable_data<Other>`", {write_other},   {"empty",     "full",      "full",      "anew",      "shared",       "empty",        "shared"}},
      {"`mutable_raw_data`", {write_raw},        {"no dtype",  "no dtype",  "full",      "writes",    "writes",       "writes",       "writes"}},
      {"`at<T>`", {read_element},                {"no element", "no dtype", "no memory", "reads",     "reads",        "no element",   "no element"}},
      {"`set_at<T>`", {write_element},           {"no element", "no dtype", "full",      "writes",    "writes",       "no element",   "no element"}},
      {"`at<Other>`, `set_at<Other>`", other_elements,
                                                 {"no element", "no dtype", "dtype",     "dtype",     "dtype",        "no element",   "no element"}},
      {"`realize(its dtype)`",
       {{"realize", [](Tensor& x) { return nothing(x.realize<float>()); }}},
                                                 {"empty",     "full",      "full",      "as it was", "as it was",    "as it was",    "as it was"}},
      {"`realize(another)`",
       {{"realize_other", [](Tensor& x) { return nothing(x.realize<double>()); }}},
                                                 {"empty",     "full",      "full",      "anew",      "shared",       "empty",        "shared"}},
      {"`free_memory`",
       {{"free_memory", [](Tensor& x) { return nothing(x.free_memory()); }}},
                                                 {"as it was", "as it was", "as it was", "freed",     "shared",       "empty",        "shared"}},
      {"`resize` to the same", {resizing_to_the_same()},
                                                 {"as it was", "as it was", "as it was", "as it was", "as it was",    "as it was",    "as it was"}},
      {"`resize` to fewer", {resizing("resize_fewer", {1, 2})},
                                                 {"-",         "sized",     "freed",     "full",      "full, shared", "-",            "-"}},
      {"`resize` to fewer, freeing", {resizing("resize_fewer_freeing", {1, 2}, OnShrink::free_memory)},
                                                 {"-",         "sized",     "freed",     "freed",     "shared",       "-",            "-"}},
      {"`resize` to none", {resizing("resize_none", {2, 0})},
                                                 {"fresh",     "fresh",     "empty",     "empty",     "empty, shared", "empty",       "empty, shared"}},
      {"`resize` to none, freeing", {resizing("resize_none_freeing", {2, 0}, OnShrink::free_memory)},
                                                 {"fresh",     "fresh",     "empty",     "empty",     "shared",       "empty",        "empty, shared"}},
      {"`resize` to more", {resizing("resize_more", {3, 2})},
                                                 {"sized",     "sized",     "freed",     "freed",     "shared",       "freed",        "shared"}},
      {"`resize` to more, within what is reserved", {resizing("resize_reserved", {3, 2})},
                                                 {"-",         "-",         "-",         "full",      "full, shared", "full",         "full, shared"}, DType::f32, true},
      {"`reserve`", {{"reserve", [](Tensor& x) { return nothing(x.reserve({9, 2})); }}},
                                                 {"no dtype",  "no dtype",  "full",      "full",      "shared",       "empty",        "shared"}},
      {"`extend`", {{"extend", [](Tensor& x) { return nothing(x.extend(1)); }}},
                                                 {"no dtype",  "no memory", "no memory", "full",      "shared",       "full",         "shared"}},
      {"`share_data`, of a full or an empty one", {{"share_data_target", share_of_another}},
                                                 {"empty, shared", "full, shared", "full, shared", "full, shared", "full, shared", "empty, shared", "empty, shared"}},
      {"`share_data`, as its source", {{"share_data_source", share_with_another}},
                                                 {"no dtype",  "no memory", "no memory", "view",      "view",         "view",         "view"}},
      {"`share_external`", {{"share_external", take_foreign}},
                                                 {"empty",     "full",      "full",      "anew",      "anew",         "empty",        "empty"}},
  };
  return table;
}
// clang-format on

}  // namespace byre::test
