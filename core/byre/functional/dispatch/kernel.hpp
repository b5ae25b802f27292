// SPDX-License-Identifier: BSL-1.0
/// Kernels from plain functions: boxed() takes a function of what the schema names and makes a
/// kernel of it, so that nobody unpacks arguments by hand. What it takes and returns its types say,
/// and that is held against the schema where it is registered.
#pragma once

#include <byre/config.hpp>
#include <byre/functional/dispatch/operator.hpp>

#include <cstdint>
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

/// A kernel that says what it takes and returns.
struct TypedKernel {
  Kernel kernel;
  std::vector<KernelParameter> parameters;
  KernelResult result = KernelResult::any_number;
};

namespace detail {
/// By a function of Argument.
template <Type Of, auto Read>
struct ReadAs {
  static constexpr Type type = Of;
  static decltype(auto) from(Argument& argument) { return (argument.*Read)(); }
};
}  // namespace detail

/// How an argument becomes a parameter of type T. Backends add their own tensors, as cpu_tensor.hpp
/// does: what has no `type` is a tensor.
template <class T>
struct Unboxed;

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
  static std::optional<T> from(Argument& argument) {
    return argument.is_none() ? std::nullopt : std::optional<T>(Unboxed<T>::from(argument));
  }
};

/// How a result becomes what a call returns. Backends add their own: what has no `returns` is of
/// any number of tensors, which are counted when it is called.
template <class T>
struct Boxed;

template <>
struct Boxed<AnyTensor> {
  static constexpr KernelResult returns = KernelResult::one;
  static Tensors from(AnyTensor result) { return {std::move(result)}; }
};
template <>
struct Boxed<Tensors> {
  static Tensors from(Tensors results) { return results; }
};

namespace detail {

template <class T>
struct ParameterOf {
  static constexpr KernelParameter parameter() noexcept {
    if constexpr (requires { Unboxed<T>::type; }) {
      return {Unboxed<T>::type, false};
    }
    return {};
  }
};
template <class T>
struct ParameterOf<std::optional<T>> {
  static constexpr KernelParameter parameter() noexcept {
    return {ParameterOf<T>::parameter().type, true};
  }
};

template <class T>
constexpr KernelResult result_of() noexcept {
  if constexpr (std::is_void_v<T>) {
    return KernelResult::nothing;
  } else if constexpr (requires { Boxed<T>::returns; }) {
    return Boxed<T>::returns;
  } else {
    return KernelResult::any_number;
  }
}

template <class Function>
struct SignatureOf : SignatureOf<decltype(&Function::operator())> {};
template <class Result, class... Parameters>
struct SignatureOf<Result (*)(Parameters...)> {
  static std::vector<KernelParameter> parameters() {
    return {ParameterOf<std::remove_cvref_t<Parameters>>::parameter()...};
  }
  static constexpr KernelResult result = result_of<std::remove_cvref_t<Result>>();

  template <class Function>
  static Tensors call(const Function& function, std::span<Argument> arguments) {
    return call(function, arguments, std::index_sequence_for<Parameters...>());
  }

 private:
  template <class Function, std::size_t... Index>
  static Tensors call(const Function& function, std::span<Argument> arguments,
                      std::index_sequence<Index...>) {
    BYRE_ASSERT(arguments.size() == sizeof...(Parameters),
                "a kernel that was registered unchecked has other parameters than the schema");
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

/// Throws DispatchError for a kernel that `op` cannot call; `what` names it, as "the kernel for
/// cpu".
BYRE_API void expect_fits(const TypedKernel& kernel, const Operator& op, const char* what);

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
  using Signature = detail::SignatureOf<Function>;
  return {[kept = std::move(function)](const Call& call) {
            return Signature::call(kept, call.arguments);
          },
          Signature::parameters(), Signature::result};
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("boxed");
}

}  // namespace byre::inline v0::functional
