// SPDX-License-Identifier: BSL-1.0
/// Functions that call operators. A call checks its arguments against the operator's schema. Then
/// it runs the kernel for the highest key of its tensors and of the thread's guards (see
/// guards.hpp).
#pragma once

#include <byre/config.hpp>
#include <byre/functional/dispatch/registry.hpp>

#include <concepts>
#include <initializer_list>
#include <span>
#include <string_view>

namespace byre::inline BYRE_ABI::functional {

/// The number or a type of the arguments is wrong, or a handle or program is empty. The message
/// contains the schema if the call of an operator failed.
class BYRE_API ArgumentError : public Error {
 public:
  using Error::Error;
};

namespace detail {

/// Throws ArgumentError, which names `function`, if a handle is empty. `whose` describes the
/// tensors in the message, such as "the inputs" or "the returned tensors".
BYRE_API void expect_tensors(const Tensors& tensors, const char* function, const char* whose);
/// Throws ArgumentError, which names `function`, if `program` is empty.
BYRE_API void expect_program(const Program& program, const char* function);

}  // namespace detail

/// An operator, given as an Operator or by name. The constructor throws DispatchError if the name
/// is unknown.
class OperatorRef {
 public:
  OperatorRef(const Operator& op) noexcept : op_(op) {}  // NOLINT: implicit, here and below
  template <std::convertible_to<std::string_view> Name>
  OperatorRef(const Name& name) : op_(find(name)) {}         // NOLINT
  operator const Operator&() const noexcept { return op_; }  // NOLINT

 private:
  const Operator& op_;
};

/// Calls `op` and returns its results. Trailing arguments with defaults may be omitted.
///
/// Throws ArgumentError if the arguments do not fit the schema, DispatchError if the operator has
/// no kernel for the key or if the kernel's results do not fit the schema, OutOfMemory, or the
/// exceptions of the kernel. A std::bad_alloc of the kernel becomes OutOfMemory.
///
/// Thread-safety: threads may call operators concurrently. For the tensors that the operator reads
/// and writes, the rules of AnyTensor hold. Cost: one check per argument, then the kernel.
BYRE_API Tensors call(OperatorRef op, Arguments arguments);
BYRE_API Tensors call(OperatorRef op, std::initializer_list<Argument> arguments);
/// Calls an operator that returns one tensor, and returns this tensor. Also throws ArgumentError if
/// the number of results is not 1.
BYRE_API AnyTensor call_for_one(OperatorRef op, Arguments arguments);
BYRE_API AnyTensor call_for_one(OperatorRef op, std::initializer_list<Argument> arguments);

/// Returns the arguments with defaults added and types converted. Throws ArgumentError if the
/// arguments do not fit the schema, or OutOfMemory.
BYRE_API Arguments checked_arguments(const Schema& schema, Arguments arguments);

/// For kernels: calls an operator with checked arguments. The caller still owns the arguments that
/// the kernel did not take over, also after an exception. Throws the errors of call().
BYRE_API Tensors dispatch(const Operator& op, std::span<Argument> arguments);

/// Returns the sizes and dtypes of a pure operator's results. Applies the operator's meta rule, or
/// computes on zeros on the CPU if there is no meta rule. Throws the errors of the kernel for
/// arguments of these sizes and dtypes, or OutOfMemory.
BYRE_API std::vector<TensorMeta> meta_of_results(const Call& call);

/// For fallbacks that do not support an operator: throws the DispatchError of a call for which no
/// kernel is registered.
[[noreturn]] BYRE_API void refuse_missing_kernel(const Operator& op, Key key);

/// Returns the keys of a call: the keys of its tensors and the keys that the thread's guards
/// include, without the keys that they exclude. Adds cpu if none of these is the key of a backend.
/// Throws ArgumentError if a handle is empty.
BYRE_API KeySet keys_of(std::span<const Argument> arguments);

}  // namespace byre::inline BYRE_ABI::functional
