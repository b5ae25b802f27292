// SPDX-License-Identifier: BSL-1.0
/// Argument: a value that is passed to an operator: a tensor, a list of tensors, or a constant.
/// Unless a member says otherwise: Throws nothing. Cost: O(1).
#pragma once

#include <byre/config.hpp>
#include <byre/functional/dispatch/any_tensor.hpp>
#include <byre/tensor/scalar.hpp>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace byre::inline BYRE_ABI::functional {

/// A kernel read an argument as the wrong type. dispatch() turns this error into a plain
/// DispatchError that names the operator and the key.
class BYRE_API MisreadArgument : public DispatchError {
 public:
  using DispatchError::DispatchError;
};

/// The value of an omitted argument. The parameter must have an optional type such as `int?`.
struct NoValue {
  friend constexpr bool operator==(NoValue, NoValue) noexcept = default;
};

/// A value of any argument type except tensors. Numbers are Scalars; the schema decides which of
/// them must be integers.
using Constant = std::variant<NoValue, bool, Scalar, Dims, DType>;

/// An argument whose tensors are of type TensorRef: handles in a call, value numbers in a graph.
template <class TensorRef>
using BasicArgument =
    std::variant<NoValue, bool, Scalar, Dims, DType, TensorRef, std::vector<TensorRef>>;

namespace detail {

/// Calls `function(TensorRef&)` for each tensor that an argument holds.
template <class TensorRef, class Function>
void for_each_tensor_of(BasicArgument<TensorRef>& argument, Function&& function) {
  if (auto* const one = std::get_if<TensorRef>(&argument)) {
    function(*one);
  } else if (auto* const several = std::get_if<std::vector<TensorRef>>(&argument)) {
    for (TensorRef& each : *several) {
      function(each);
    }
  }
}

}  // namespace detail

/// A value of any argument type. It converts implicitly from each of them.
class BYRE_API Argument {
 public:
  using Held = BasicArgument<AnyTensor>;

  Argument() noexcept = default;
  Argument(NoValue) noexcept {}                             // NOLINT: implicit, here and below
  Argument(bool flag) noexcept : held_(flag) {}             // NOLINT
  Argument(Scalar number) noexcept : held_(number) {}       // NOLINT
  Argument(DType dtype) noexcept : held_(dtype) {}          // NOLINT
  Argument(Dims dims) noexcept : held_(std::move(dims)) {}  // NOLINT
  Argument(AnyTensor tensor) noexcept : held_(std::move(tensor)) {}  // NOLINT
  Argument(Tensors tensors) noexcept : held_(std::move(tensors)) {}  // NOLINT
  Argument(std::initializer_list<std::int64_t> dims) : held_(Dims(dims)) {}
  template <class Number>
  requires(std::is_arithmetic_v<Number> && !std::same_as<Number, bool>)
      Argument(Number number)  // NOLINT
      : held_(Scalar(number)) {}
  template <class Constants>
  requires(std::same_as<Constants, Constant>) explicit Argument(const Constants& constant)
      : held_(std::visit([](const auto& value) { return Held(value); }, constant)) {}

  const Held& held() const noexcept { return held_; }
  template <class T>
  const T* get() const noexcept {
    return std::get_if<T>(&held_);
  }
  template <class T>
  T* get() noexcept {
    return std::get_if<T>(&held_);
  }
  bool is_none() const noexcept { return std::holds_alternative<NoValue>(held_); }

  // Typed access. These members throw MisreadArgument, which is a DispatchError, if the argument
  // holds another type. Arguments from checked_arguments() have the types of the schema.
  AnyTensor& tensor() { return const_cast<AnyTensor&>(std::as_const(*this).tensor()); }
  const AnyTensor& tensor() const { return *read(get<AnyTensor>(), "a Tensor"); }
  const Tensors& tensors() const { return *read(get<Tensors>(), "a Tensor[]"); }
  const Dims& dims() const { return *read(get<Dims>(), "an int[]"); }
  const Scalar& scalar() const { return *read(get<Scalar>(), "a Scalar"); }
  std::int64_t integer() const {
    const auto* const number = get<Scalar>();
    return *read(number == nullptr ? nullptr : number->as_integer(), "an int");
  }
  std::int64_t integer_or(std::int64_t other) const { return is_none() ? other : integer(); }
  bool flag() const { return *read(get<bool>(), "a bool"); }
  DType dtype() const { return *read(get<DType>(), "a DType"); }

  /// Calls `function(AnyTensor&)` for each tensor that the argument holds.
  template <class Function>
  void for_each_tensor(Function&& function) {
    detail::for_each_tensor_of<AnyTensor>(held_, function);
  }
  template <class Function>
  void for_each_tensor(Function&& function) const {
    const_cast<Argument*>(this)->for_each_tensor(
        [&function](const AnyTensor& tensor) { function(tensor); });
  }

 private:
  template <class T>
  const T* read(const T* found, const char* as) const {
    if (found == nullptr) {
      refuse_to_read(as);
    }
    return found;
  }
  [[noreturn, gnu::cold]] void refuse_to_read(const char* as) const;

  Held held_;
};

using Arguments = std::vector<Argument>;

/// Returns the value in the notation of graphs and schemas: "[2, 3]", "1.5", "true", "f32", "none".
/// Throws OutOfMemory.
BYRE_API std::string to_string(const Constant& constant);
BYRE_API std::string to_string(const Scalar& number);
/// Returns type and value, for error messages: "Tensor f32[2, 3]", "int 3", "int[] [2, 3]". Throws
/// OutOfMemory.
BYRE_API std::string describe(const Argument& argument);
/// Returns dtype and sizes, such as "f32[2, 3]", or "no tensor" if the handle is empty. Throws
/// OutOfMemory.
BYRE_API std::string describe(const AnyTensor& tensor);

}  // namespace byre::inline BYRE_ABI::functional
