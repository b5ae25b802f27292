// SPDX-License-Identifier: BSL-1.0
/// DType: the type of a tensor's elements. This header also declares the C++ type, the size, the
/// alignment and the name of each dtype. All tables are derived from one list of types.
///
/// Unless a function says otherwise: constant time, throws nothing, thread-safe.
#pragma once

#include <byre/config.hpp>
#include <byre/error/error.hpp>
#include <byre/tensor/half.hpp>

#include <array>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

namespace byre::inline BYRE_ABI {

/// The dtypes, in the order of detail::ElementTypes.
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
  uninitialized,  ///< the tensor has no dtype; see Tensor
};

/// Thrown if an operation does not support a dtype, or if it requires two equal dtypes (of two
/// tensors, or of a tensor and a C++ type) and they differ.
class BYRE_API DTypeError : public Error {
 public:
  using Error::Error;
};

namespace detail {

/// Tables that are derived from `T...`, the C++ types in the order of DType.
template <class... T>
struct ListOfElements {
  static constexpr std::size_t count = sizeof...(T);
  static constexpr std::array<std::size_t, count + 1> itemsizes{sizeof(T)..., 0};
  static constexpr std::array<std::size_t, count + 1> alignments{alignof(T)..., 1};

  template <class Wanted>
  static consteval DType dtype_of() {
    std::size_t index = 0;
    for (const bool is_wanted : {std::is_same_v<Wanted, T>...}) {
      if (is_wanted) {
        break;
      }
      ++index;
    }
    return static_cast<DType>(index);
  }

  template <class Result, class Function>
  static Result call(DType dtype, Function& function) {
    constexpr std::array<Result (*)(Function&), count> calls{&call_for<T, Result, Function>...};
    return calls[static_cast<std::size_t>(dtype)](function);
  }

 private:
  template <class Type, class Result, class Function>
  static Result call_for(Function& function) {
    static_assert(std::is_same_v<decltype(function.template operator()<Type>()), Result>,
                  "the function has to return one type for all dtypes");
    return function.template operator()<Type>();
  }
};

using ElementTypes =
    ListOfElements<bool, std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                   Float16, BFloat16, float, double, std::complex<float>>;
inline constexpr std::size_t dtype_count = ElementTypes::count;
static_assert(dtype_count == static_cast<std::size_t>(DType::uninitialized));

inline constexpr std::array<const char*, dtype_count + 1> dtype_names{
    "bool", "u8",   "i8",  "i16", "i32",       "i64",
    "f16",  "bf16", "f32", "f64", "complex64", "uninitialized"};

[[noreturn]] BYRE_API void refuse_uninitialized_dtype(const char* operation, DType dtype);

/// Throws DTypeError, which names `operation`, if `dtype` is DType::uninitialized.
inline void expect_dtype_named(DType dtype, const char* operation) {
  if (dtype >= DType::uninitialized) [[unlikely]] {
    refuse_uninitialized_dtype(operation, dtype);
  }
}

}  // namespace detail

/// The dtype of a C++ type; DType::uninitialized if tensors cannot have elements of the type.
template <class T>
inline constexpr DType dtype_of = detail::ElementTypes::dtype_of<std::remove_cv_t<T>>();

/// True for the C++ types of tensor elements, one for each DType.
template <class T>
concept Element = dtype_of<T>
!= DType::uninitialized;

/// Bytes of one element; 0 for DType::uninitialized.
constexpr std::size_t itemsize(DType dtype) noexcept {
  return detail::ElementTypes::itemsizes[static_cast<std::size_t>(dtype)];
}

/// The alignment of elements in bytes; 1 for DType::uninitialized.
constexpr std::size_t alignment(DType dtype) noexcept {
  return detail::ElementTypes::alignments[static_cast<std::size_t>(dtype)];
}

/// The name in messages: "f32", "bool", ..., "uninitialized".
constexpr const char* name_of(DType dtype) noexcept {
  return detail::dtype_names[static_cast<std::size_t>(dtype)];
}

constexpr bool is_floating(DType dtype) noexcept {
  return dtype >= DType::f16 && dtype <= DType::f64;
}
constexpr bool is_integral(DType dtype) noexcept {
  return dtype >= DType::u8 && dtype <= DType::i64;
}

/// Returns `function.template operator()<T>()` for the C++ type T of `dtype`. Requires that the
/// function returns one type for all T. Throws DTypeError, which names `operation`, if `dtype` is
/// DType::uninitialized, and the exceptions of the function.
template <class Function>
decltype(auto) visit(DType dtype, const char* operation, Function&& function) {
  detail::expect_dtype_named(dtype, operation);
  using Result = decltype(function.template operator()<bool>());
  return detail::ElementTypes::call<Result>(dtype, function);
}

}  // namespace byre::inline BYRE_ABI
