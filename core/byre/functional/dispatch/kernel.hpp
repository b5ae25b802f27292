// SPDX-License-Identifier: BSL-1.0
/// Kernels from plain functions: boxed() takes a function of what the schema names and makes a
/// kernel of it, so that nobody unpacks arguments by hand. What it takes and returns its types say,
/// and that is held against the schema where it is registered.
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

namespace byre::inline v0::functional {

/// What a kernel takes for one argument.
struct KernelParameter {
  Type type = Type::tensor;
  bool is_optional = false;  ///< takes none, too
};

/// How many tensors a kernel returns, as its type says.
enum class KernelResult : std::uint8_t { nothing, one, any_number };

/// A kernel, and what it takes and returns if boxed() made it.
struct TypedKernel {
  /// Unchecked, as a Kernel is.
  template <std::convertible_to<Kernel> Function>
  TypedKernel(Function function) : kernel(std::move(function)) {}  // NOLINT
  TypedKernel(Kernel boxed, std::vector<KernelParameter> takes, KernelResult returns) noexcept
      : kernel(std::move(boxed)), parameters(std::move(takes)), result(returns) {}

  Kernel kernel;
  std::optional<std::vector<KernelParameter>> parameters;
  KernelResult result = KernelResult::any_number;
};

/// How an argument becomes a parameter of type T. Backends add their own tensors, as cpu_tensor.hpp
/// does: what has no `parameter` is a tensor.
template <class T>
struct Unboxed;

namespace detail {

/// By a function of Argument.
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

/// How a result becomes what a call returns: one AnyTensor, or Tensors, which are counted when the
/// kernel is called. Backends add their own.
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

/// A kernel from a function or a lambda, whose parameters are, in the schema's order: of a Tensor
/// const AnyTensor& (or const byre::Tensor&, for cpu), AnyTensor& to take it over, of a Tensor[]
/// const Tensors&, of an int or an Axis std::int64_t, of an int[] or an Axis[] const Dims&, of a
/// Scalar const Scalar&, bool, DType, and std::optional of each, where the schema has a `?`. It
/// returns one tensor, some, or, having written, nothing. Where these are not the schema's, whoever
/// registers it throws DispatchError; a Scalar may stand for an int, and what is optional for what
/// is not.
template <class Function>
TypedKernel boxed(Function function) try {
  using Signature = decltype(std::function(function));
  return detail::boxed_as(std::move(function), static_cast<const Signature*>(nullptr));
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("boxed");
}

}  // namespace byre::inline v0::functional
