// SPDX-License-Identifier: BSL-1.0
/// Kernels from plain functions: boxed() takes a function of what the schema names and makes a Kernel of
/// it, so that nobody unpacks arguments by hand.
#pragma once

#include <byre/functional/dispatch/operator.hpp>

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

namespace byre::inline v0::functional {

/// How an argument becomes a parameter of type T. Backends add their own tensors, as cpu.hpp does.
template <class T>
struct Unboxed;

template <>
struct Unboxed<AnyTensor> {
  static AnyTensor& from(Argument& argument) { return argument.tensor(); }
};
template <>
struct Unboxed<Tensors> {
  static const Tensors& from(Argument& argument) { return argument.tensors(); }
};
template <>
struct Unboxed<std::int64_t> {
  static std::int64_t from(Argument& argument) { return argument.integer(); }
};
template <>
struct Unboxed<bool> {
  static bool from(Argument& argument) { return argument.flag(); }
};
template <>
struct Unboxed<Scalar> {
  static const Scalar& from(Argument& argument) { return argument.scalar(); }
};
template <>
struct Unboxed<Dims> {
  static const Dims& from(Argument& argument) { return argument.dims(); }
};
template <>
struct Unboxed<DType> {
  static DType from(Argument& argument) { return argument.dtype(); }
};
template <class T>
struct Unboxed<std::optional<T>> {
  static std::optional<T> from(Argument& argument) {
    return argument.is_none() ? std::nullopt : std::optional<T>(Unboxed<T>::from(argument));
  }
};

/// How a result becomes what a call returns. Backends add their own.
template <class T>
struct Boxed;

template <>
struct Boxed<AnyTensor> {
  static Tensors from(AnyTensor result) { return {std::move(result)}; }
};
template <>
struct Boxed<Tensors> {
  static Tensors from(Tensors results) { return results; }
};

namespace detail {

template <class Function>
struct SignatureOf : SignatureOf<decltype(&Function::operator())> {};
template <class Result, class... Parameters>
struct SignatureOf<Result (*)(Parameters...)> {
  template <class Function>
  static Tensors call(const Function& function, std::span<Argument> arguments) {
    return call(function, arguments, std::index_sequence_for<Parameters...>());
  }

 private:
  template <class Function, std::size_t... Index>
  static Tensors call(const Function& function, std::span<Argument> arguments,
                      std::index_sequence<Index...>) {
    BYRE_ASSERT(arguments.size() == sizeof...(Parameters),
                "a kernel has another number of parameters than its operator's schema");
    const auto compute = [&]() -> Result {
      return function(Unboxed<std::remove_cvref_t<Parameters>>::from(arguments[Index])...);
    };
    if constexpr (std::is_void_v<Result>) {
      compute();
      return {};
    } else {
      return Boxed<std::remove_cvref_t<Result>>::from(compute());
    }
  }
};
template <class Class, class Result, class... Parameters>
struct SignatureOf<Result (Class::*)(Parameters...) const>
    : SignatureOf<Result (*)(Parameters...)> {};

}  // namespace detail

/// A kernel from a function or a lambda, whose parameters are, in the schema's order: of a Tensor const
/// AnyTensor& (or const byre::Tensor&, for cpu), AnyTensor& to take it over, of a Tensor[] const
/// Tensors&, of an int std::int64_t, of an int[] const Dims&, of a Scalar const Scalar&, bool, DType,
/// and std::optional of each. It returns one tensor, some, or, having written, nothing.
template <class Function>
Kernel boxed(Function function) {
  return [function = std::move(function)](const Call& call) {
    return detail::SignatureOf<Function>::call(function, call.arguments);
  };
}

}  // namespace byre::inline v0::functional
