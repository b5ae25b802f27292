// SPDX-License-Identifier: BSL-1.0
/// What a tensor's elements are. One list names every dtype, its C++ type and its spelling; all
/// else is derived from it.
#pragma once

#include <byre/config.hpp>
#include <byre/error/error.hpp>
#include <byre/tensor/half.hpp>

#include <array>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace byre::inline v0 {

enum class DType : std::uint8_t {
  boolean,
  u8,
  i8,
  i16,
  i32,
  i64,
  f16,
  bf16,
  f32,
  f64,
  complex64,      ///< two f32: real, imaginary
  uninitialized,  ///< of a tensor that was not yet told; see Tensor
};

/// Two tensors, or a tensor and a C++ type, that should have the same dtype and do not; or a dtype
/// that an operation has no meaning for.
class BYRE_API DTypeError : public Error {
 public:
  using Error::Error;
};

namespace detail {

/// In the order of DType.
using ElementTypes =
    std::tuple<bool, std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, Float16,
               BFloat16, float, double, std::complex<float>>;
inline constexpr std::size_t dtype_count = std::tuple_size_v<ElementTypes>;
static_assert(dtype_count == static_cast<std::size_t>(DType::uninitialized));

inline constexpr std::array<const char*, dtype_count + 1> dtype_names{
    "bool", "u8",   "i8",  "i16", "i32",       "i64",
    "f16",  "bf16", "f32", "f64", "complex64", "uninitialized"};

template <class T, std::size_t... Index>
consteval DType dtype_at(std::index_sequence<Index...>) {
  DType found = DType::uninitialized;
  ((std::is_same_v<T, std::tuple_element_t<Index, ElementTypes>>
        ? void(found = static_cast<DType>(Index))
        : void()),
   ...);
  return found;
}

template <std::size_t... Index>
consteval auto itemsizes_of(std::index_sequence<Index...>) {
  return std::array<std::size_t, dtype_count + 1>{
      sizeof(std::tuple_element_t<Index, ElementTypes>)..., 0};
}

template <std::size_t... Index>
consteval auto alignments_of(std::index_sequence<Index...>) {
  return std::array<std::size_t, dtype_count + 1>{
      alignof(std::tuple_element_t<Index, ElementTypes>)..., 1};
}

// Tables of their own and not of the functions that look into them, which would make them anew.
inline constexpr auto itemsizes = itemsizes_of(std::make_index_sequence<dtype_count>{});
inline constexpr auto alignments = alignments_of(std::make_index_sequence<dtype_count>{});

[[noreturn]] BYRE_API void no_such_dtype(const char* operation, DType dtype);

}  // namespace detail

/// The dtype of a C++ type; DType::uninitialized for a type that is no element.
template <class T>
inline constexpr DType dtype_of =
    detail::dtype_at<std::remove_cv_t<T>>(std::make_index_sequence<detail::dtype_count>{});

/// A type that tensors have elements of.
template <class T>
concept Element = dtype_of<T>
!= DType::uninitialized;

/// Bytes of one element; 0 for DType::uninitialized.
constexpr std::size_t itemsize(DType dtype) noexcept {
  return detail::itemsizes[static_cast<std::size_t>(dtype)];
}

/// What addresses of elements are multiples of; 1 for DType::uninitialized.
constexpr std::size_t alignment(DType dtype) noexcept {
  return detail::alignments[static_cast<std::size_t>(dtype)];
}

/// "f32", "bool".
constexpr const char* name_of(DType dtype) noexcept {
  return detail::dtype_names[static_cast<std::size_t>(dtype)];
}

constexpr bool is_floating(DType dtype) noexcept {
  return dtype >= DType::f16 && dtype <= DType::f64;
}
constexpr bool is_integral(DType dtype) noexcept {
  return dtype >= DType::u8 && dtype <= DType::i64;
}

/// Calls `function.template operator()<T>()` for the C++ type T of `dtype`. Throws DTypeError, which
/// names `operation`, for DType::uninitialized.
template <class Function>
decltype(auto) visit(DType dtype, const char* operation, Function&& function) {
  switch (dtype) {
    case DType::boolean:
      return function.template operator()<bool>();
    case DType::u8:
      return function.template operator()<std::uint8_t>();
    case DType::i8:
      return function.template operator()<std::int8_t>();
    case DType::i16:
      return function.template operator()<std::int16_t>();
    case DType::i32:
      return function.template operator()<std::int32_t>();
    case DType::i64:
      return function.template operator()<std::int64_t>();
    case DType::f16:
      return function.template operator()<Float16>();
    case DType::bf16:
      return function.template operator()<BFloat16>();
    case DType::f32:
      return function.template operator()<float>();
    case DType::f64:
      return function.template operator()<double>();
    case DType::complex64:
      return function.template operator()<std::complex<float>>();
    case DType::uninitialized:
      break;
  }
  detail::no_such_dtype(operation, dtype);
}

}  // namespace byre::inline v0
