// SPDX-License-Identifier: BSL-1.0
/// Calling operators: arguments are checked against the schema, and the call goes to the highest
/// key that its tensors and the thread's guards have.
#pragma once

#include <byre/config.hpp>
#include <byre/functional/dispatch/registry.hpp>

#include <concepts>
#include <initializer_list>
#include <span>
#include <string_view>

namespace byre::inline v0::functional {

/// Too many arguments, too few, or one of the wrong type. The text has the schema.
class BYRE_API ArgumentError : public Error {
 public:
  using Error::Error;
};

namespace detail {

/// Throws ArgumentError, which names `function`, for a handle without a tensor among them, which are its
/// "inputs", or what "the program" returned.
BYRE_API void expect_tensors(const Tensors& tensors, const char* function, const char* whose);
/// The same for a program that there is not.
BYRE_API void expect_program(const Program& program, const char* function);

}  // namespace detail

/// An operator, or the one of that name: throws what find() throws.
class OperatorRef {
 public:
  OperatorRef(const Operator& op) noexcept : op_(op) {}  // NOLINT: implicit, here and below
  template <std::convertible_to<std::string_view> Name>
  OperatorRef(const Name& name) : op_(find(name)) {}         // NOLINT
  operator const Operator&() const noexcept { return op_; }  // NOLINT

 private:
  const Operator& op_;
};

/// Calls `op`. Arguments that have defaults may be left out at the end. Throws ArgumentError;
/// DispatchError if nothing is registered for the key; OutOfMemory; and whatever the kernel throws,
/// std::bad_alloc as OutOfMemory.
/// Thread-safety: as of what the operator does to its tensors.
BYRE_API Tensors call(OperatorRef op, Arguments arguments);
BYRE_API Tensors call(OperatorRef op, std::initializer_list<Argument> arguments);
/// The same of an operator that returns one tensor.
BYRE_API AnyTensor call_for_one(OperatorRef op, Arguments arguments);
BYRE_API AnyTensor call_for_one(OperatorRef op, std::initializer_list<Argument> arguments);

/// The arguments as the schema says, with defaults. Throws ArgumentError.
BYRE_API Arguments checked_arguments(const Schema& schema, Arguments arguments);

/// For kernels: calls on with arguments that were checked, which stay the caller's: what a kernel
/// did not take over is still there, also after an exception.
BYRE_API Tensors dispatch(const Operator& op, std::span<Argument> arguments);

/// What a pure operator returns, without its elements: by its meta rule, or, where it has none, by
/// computing on zeros, on the CPU. Throws whatever the kernel throws for such operands.
BYRE_API std::vector<TensorMeta> meta_of_results(const Call& call);

/// For kernels that cannot serve: throws DispatchError, as a call without a kernel does.
[[noreturn]] BYRE_API void refuse_missing_kernel(const Operator& op, Key key);

/// The keys that a call would go to, highest first.
BYRE_API KeySet keys_of(std::span<const Argument> arguments);

}  // namespace byre::inline v0::functional
