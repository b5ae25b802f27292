// SPDX-License-Identifier: BSL-1.0
/// The operations that the table of states has rows of. For states.cpp.
#pragma once

#include <byre/interop/npy.hpp>
#include <byre/interop/safetensors.hpp>
#include <byre/tensor/accessor.hpp>
#include <byre/tensor/elements.hpp>
#include <byre/tensor/print.hpp>

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "states.hpp"
#include "support/temporary_folder.hpp"
#include "support/tensor/fake_device.hpp"

namespace byre::test {

using Wanted = Dims;

inline Returned nothing(const Tensor&) {
  return {};
}

inline Returned one(Tensor tensor) {
  return {.tensors = {std::move(tensor)}};
}

inline Returned some(std::vector<Tensor> tensors) {
  return {.tensors = std::move(tensors)};
}

inline Returned read(const Tensor& tensor, const void* first) {
  float value = 0;
  if (tensor.numel() != 0) {
    std::memcpy(&value, first, sizeof value);
  }
  return {.read = static_cast<double>(value)};
}

/// Of an operation that wrote to the first element, if there is one.
inline Returned wrote(const Tensor& tensor, double value) {
  return {.wrote = tensor.numel() != 0 ? std::optional(value) : std::nullopt};
}

template <class T>
inline Returned write(const Tensor& tensor, void* first) {
  if (tensor.numel() != 0) {
    *static_cast<T*>(first) = T(7);
  }
  return wrote(tensor, 7);
}

inline Tensor with_elements_like(const Tensor& tensor) {
  return tensor.numel() == 0 ? Tensor::empty(tensor.sizes(), DType::f32)
                             : Tensor::of<float>(tensor.sizes(), {1, 2, 3, 4});
}

inline Returned share_of_another(Tensor& tensor) {
  const Tensor source = with_elements_like(tensor);
  tensor.share_data(source);
  return one(source);
}

inline Returned share_with_another(Tensor& tensor) {
  Tensor target = Tensor(Device::cpu()).resize(tensor.sizes());
  target.share_data(tensor);
  return one(target);
}

inline Returned take_foreign(Tensor& tensor) {
  auto* const foreign = new float[4]{1, 2, 3, 4};
  tensor.share_external(foreign, DType::f32,
                        [](void* data) { delete[] static_cast<float*>(data); });
  return {};
}

inline Returned ask_everything(Tensor& tensor) {
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

inline const std::vector<Operation> views{
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

inline const Operation dtype_view{"view_dtype", [](Tensor& x) { return one(x.view(DType::u8)); }};
inline const Operation real_view{"view_as_real", [](Tensor& x) { return one(x.view_as_real()); }};
inline const Operation complex_view{"view_as_complex",
                                    [](Tensor& x) { return one(x.view_as_complex()); }};

inline const std::vector<Operation> clones{
    {"lazy_clone", [](Tensor& x) { return one(x.lazy_clone()); }},
    {"writable_clone", [](Tensor& x) { return one(x.writable_clone()); }},
    {"clone", [](Tensor& x) { return one(x.clone()); }},
    {"reshape", [](Tensor& x) { return one(x.reshape({-1})); }},
    {"reshape_by_copy", [](Tensor& x) { return one(x.t().reshape({-1})); }},
};

inline const std::vector<Operation> itself{
    {"contiguous", [](Tensor& x) { return one(x.contiguous()); }},
    {"to_its_device", [](Tensor& x) { return one(x.to(x.device())); }},
};

inline const Operation to_another{
    "to_another_device", [](Tensor& x) { return one(x.to(FakeDevice::first().device())); }};

inline const std::vector<Operation> reads{
    {"data", [](Tensor& x) { return read(x, x.data<float>()); }},
    {"raw_data", [](Tensor& x) { return read(x, x.raw_data()); }},
    {"accessor", [](Tensor& x) { return read(x, byre::accessor<float, 2>(x).data()); }},
};
inline const std::vector<Operation> reads_other{
    {"data_other", [](Tensor& x) { return read(x, x.data<double>()); }},
    {"accessor_other", [](Tensor& x) { return read(x, byre::accessor<double, 2>(x).data()); }},
};

inline const std::vector<Operation> writes_same{
    {"mutable_data",
     [](Tensor& x) {
       void* const first = x.mutable_data<float>();
       return write<float>(x, first);
     }},
    {"mutable_accessor",
     [](Tensor& x) {
       void* const first = byre::mutable_accessor<float, 2>(x).data();
       return write<float>(x, first);
     }},
};
inline const Operation write_accessor_other{"mutable_accessor_other", [](Tensor& x) {
                                              void* const first =
                                                  byre::mutable_accessor<double, 2>(x).data();
                                              return write<double>(x, first);
                                            }};
inline const Operation write_other{"mutable_data_other", [](Tensor& x) {
                                     void* const first = x.mutable_data<double>();
                                     return write<double>(x, first);
                                   }};
inline const Operation write_raw{"mutable_raw_data", [](Tensor& x) {
                                   void* const first = x.mutable_raw_data();
                                   return write<float>(x, first);
                                 }};

inline const Operation read_element{"at", [](Tensor& x) {
                                      Returned returned;
                                      returned.read = static_cast<double>(x.at<float>({0, 0}));
                                      return returned;
                                    }};
inline const Operation write_element{"set_at", [](Tensor& x) {
                                       x.set_at<float>({0, 0}, 7);
                                       return wrote(x, 7);
                                     }};
inline const std::vector<Operation> other_elements{
    {"at_other",
     [](Tensor& x) {
       return one(Tensor::of<double>({}, {x.at<double>({0, 0})}));
     }},
    {"set_at_other",
     [](Tensor& x) {
       return x.set_at<double>({0, 0}, 7), nothing(x);
     }},
};

inline Tensor sevens_like(const Tensor& tensor) {
  return fill_(*std::make_unique<Tensor>(Tensor::empty(tensor.sizes(), DType::f32)), 7);
}

inline const std::vector<Operation> fills{
    {"fill_", [](Tensor& x) { return wrote(fill_(x, 7), 7); }},
    {"zero_", [](Tensor& x) { return wrote(zero_(x), 0); }},
};
inline const Operation copy_to{"copy_to",
                               [](Tensor& x) { return wrote(copy_(x, sevens_like(x)), 7); }};
inline const Operation copy_from{"copy_from", [](Tensor& x) {
                                   Tensor target = Tensor(Device::cpu()).resize(x.sizes());
                                   return one(copy_(target, x));
                                 }};

inline const std::vector<Operation> computations{
    {"add", [](Tensor& x) { return one(add(x, x)); }},
    {"sub", [](Tensor& x) { return one(sub(sevens_like(x), x)); }},
    {"mul", [](Tensor& x) { return one(mul(sevens_like(x), x)); }},
    {"div", [](Tensor& x) { return one(div(x, x)); }},
    {"neg", [](Tensor& x) { return one(neg(x)); }},
    {"relu", [](Tensor& x) { return one(relu(x)); }},
    {"exp", [](Tensor& x) { return one(exp(x)); }},
    {"eq", [](Tensor& x) { return one(eq(x, x)); }},
    {"ge", [](Tensor& x) { return one(ge(x, x)); }},
    {"where", [](Tensor& x) { return one(where(Tensor::zeros({}, DType::boolean), x, x)); }},
    {"sum", [](Tensor& x) { return one(sum(x)); }},
    {"matmul",
     [](Tensor& x) {
       return one(matmul(x, Tensor::zeros({2, 3}, DType::f32)));
     }},
    {"matmul_second",
     [](Tensor& x) {
       return one(matmul(Tensor::zeros({3, x.size(0)}, DType::f32), x));
     }},
    {"cat",
     [](Tensor& x) {
       return one(cat({sevens_like(x), x}));
     }},
};

inline const std::vector<Operation> computations_in_place{
    {"add_", [](Tensor& x) { return wrote(add_(x, sevens_like(x)), 8); }},
    {"sub_", [](Tensor& x) { return wrote(sub_(x, sevens_like(x)), -6); }},
    {"mul_", [](Tensor& x) { return wrote(mul_(x, sevens_like(x)), 7); }},
    {"div_", [](Tensor& x) { return wrote(div_(x, sevens_like(x)), double(1.0F / 7.0F)); }},
    {"neg_", [](Tensor& x) { return wrote(neg_(x), -1); }},
    {"relu_", [](Tensor& x) { return wrote(fill_(relu_(x), 7), 7); }},  // positive as they are
    {"exp_", [](Tensor& x) { return wrote(fill_(exp_(x), 7), 7); }},
};
inline const Operation operand_in_place{"add_operand", [](Tensor& x) {
                                          Tensor sum = sevens_like(x);
                                          add_(sum, x);
                                          const Tensor difference = sub(sum, 7);
                                          return read(x, difference.data<float>());
                                        }};

inline const Operation save{"save_npy", [](Tensor& x) {
                              const TemporaryFolder folder;
                              save_npy(folder.path() / "x.npy", x);
                              return one(load_npy(folder.path() / "x.npy"));
                            }};

inline const Operation save_in_model{
    "save_safetensors", [](Tensor& x) {
      const TemporaryFolder folder;
      save_safetensors(folder.path() / "x.safetensors", NamedTensors{{"x", x}});
      return one(load_safetensors(folder.path() / "x.safetensors").tensors[0].second);
    }};

inline Operation resizing(const char* name, Wanted sizes,
                          OnShrink on_shrink = OnShrink::keep_memory) {
  return {name, [sizes, on_shrink](Tensor& x) { return nothing(x.resize(sizes, on_shrink)); }};
}

inline Operation resizing_to_the_same() {
  return {"resize_same", [](Tensor& x) { return nothing(x.resize(Wanted(x.sizes()))); }};
}

inline const std::vector<Operation> resizes{
    resizing("resize_fewer", {1, 2}),
    resizing("resize_fewer_freeing", {1, 2}, OnShrink::free_memory),
    resizing("resize_none", {2, 0}),
    resizing("resize_more", {3, 2}),
};
inline const std::vector<Arrangement> not_contiguous{Arrangement::transposed, Arrangement::sliced,
                                                     Arrangement::expanded};

}  // namespace byre::test
