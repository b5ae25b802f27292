// SPDX-License-Identifier: BSL-1.0
/// boxed() makes a kernel of a plain C++ function, so the function needs no code to unpack
/// arguments. Registration compares the function's parameter and result types with the operator's
/// schema.
#pragma once

#include <byre/config.hpp>
#include <byre/functional/dispatch/operator.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace byre::inline BYRE_ABI::functional {

/// The type of one kernel parameter.
struct KernelParameter {
  Type type = Type::tensor;
  bool is_optional = false;  ///< accepts none
};

/// The number of tensors that a kernel returns, from its C++ type.
enum class KernelResult : std::uint8_t { nothing, one, any_number };

/// A kernel. If boxed() made the kernel, its parameter and result types are known.
struct TypedKernel {
  /// An unchecked kernel: registration cannot compare its types with the schema.
  template <std::convertible_to<Kernel> Function>
  TypedKernel(Function function) : kernel(std::move(function)) {}  // NOLINT
  TypedKernel(Kernel boxed, std::vector<KernelParameter> takes, KernelResult returns) noexcept
      : kernel(std::move(boxed)), parameters(std::move(takes)), result(returns) {}

  Kernel kernel;
  std::optional<std::vector<KernelParameter>> parameters;
  KernelResult result = KernelResult::any_number;
};

/// Converts an argument to a kernel parameter of type T. Backends specialize this template for
/// their tensors, as cpu_tensor.hpp does. A specialization without a member `parameter` converts a
/// Tensor argument.
template <class T>
struct Unboxed;

namespace detail {

/// Reads an argument by a member function of Argument.
template <Type Of, auto Read>
struct ReadAs {
  static constexpr KernelParameter parameter{Of, false};
  static decltype(auto) from(Argument& argument) { return (argument.*Read)(); }
};

template <class T>
constexpr KernelParameter parameter_of() noexcept {
  if constexpr (requires { Unboxed<T>::parameter; }) {
    return Unboxed<T>::parameter;
  } else {
    return {};
  }
}

}  // namespace detail

template <>
struct Unboxed<AnyTensor> {
  static AnyTensor& from(Argument& argument) { return argument.tensor(); }
};
template <>
struct Unboxed<Tensors> : detail::ReadAs<Type::tensors, &Argument::tensors> {};
template <>
struct Unboxed<std::int64_t> : detail::ReadAs<Type::integer, &Argument::integer> {};
template <>
struct Unboxed<bool> : detail::ReadAs<Type::boolean, &Argument::flag> {};
template <>
struct Unboxed<Scalar> : detail::ReadAs<Type::scalar, &Argument::scalar> {};
template <>
struct Unboxed<Dims> : detail::ReadAs<Type::integers, &Argument::dims> {};
template <>
struct Unboxed<DType> : detail::ReadAs<Type::dtype, &Argument::dtype> {};
template <class T>
struct Unboxed<std::optional<T>> {
  static constexpr KernelParameter parameter{detail::parameter_of<T>().type, true};
  static std::optional<T> from(Argument& argument) {
    return argument.is_none() ? std::nullopt : std::optional<T>(Unboxed<T>::from(argument));
  }
};

/// Converts a kernel's result to an AnyTensor or to Tensors. Each call checks the number of
/// Tensors. Backends specialize this template for their tensors.
template <class T>
struct Boxed;

template <>
struct Boxed<AnyTensor> {
  static AnyTensor from(AnyTensor result) { return result; }
};
template <>
struct Boxed<Tensors> {
  static Tensors from(Tensors results) { return results; }
};

namespace detail {

template <class Result>
constexpr KernelResult result_of() noexcept {
  if constexpr (std::is_void_v<Result>) {
    return KernelResult::nothing;
  } else {
    using Returned = decltype(Boxed<std::remove_cvref_t<Result>>::from(std::declval<Result>()));
    return std::same_as<Returned, AnyTensor> ? KernelResult::one : KernelResult::any_number;
  }
}

template <class Function, class Result, class... Parameters>
TypedKernel boxed_as(Function function, const std::function<Result(Parameters...)>*) {
  Kernel kernel = [stored = std::move(function)](const Call& call) -> Tensors {
    BYRE_ASSERT(call.arguments.size() == sizeof...(Parameters),
                "the parameters of an unchecked kernel differ from its schema");
    const auto compute = [&]<std::size_t... Index>(std::index_sequence<Index...>)->Result {
      return stored(Unboxed<std::remove_cvref_t<Parameters>>::from(call.arguments[Index])...);
    };
    constexpr auto indices = std::index_sequence_for<Parameters...>();
    if constexpr (std::is_void_v<Result>) {
      compute(indices);
      return {};
    } else {
      return {Boxed<std::remove_cvref_t<Result>>::from(compute(indices))};
    }
  };
  return {
      std::move(kernel), {parameter_of<std::remove_cvref_t<Parameters>>()...}, result_of<Result>()};
}

}  // namespace detail

/// Makes a kernel of a function or a lambda. The function's parameters are in the order of the
/// schema and have these types:
///
/// - Tensor: `const AnyTensor&`, or `AnyTensor&` to take the tensor over; on cpu also `const
///   byre::Tensor&`
/// - Tensor[]: `const Tensors&`
/// - int, Axis: `std::int64_t`; an int also `const Scalar&`
/// - int[], Axis[]: `const Dims&`
/// - Scalar, bool, DType: `const Scalar&`, `bool`, `DType`
/// - with a `?`: `std::optional` of these. Any parameter may be a std::optional.
///
/// The function returns one tensor, several tensors, or void if it only writes. The registration of
/// the kernel throws DispatchError if the types do not fit the schema. boxed() itself throws
/// OutOfMemory.
template <class Function>
TypedKernel boxed(Function function) try {
  using Signature = decltype(std::function(function));
  return detail::boxed_as(std::move(function), static_cast<const Signature*>(nullptr));
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("boxed");
}

}  // namespace byre::inline BYRE_ABI::functional
