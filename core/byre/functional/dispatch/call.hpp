// SPDX-License-Identifier: BSL-1.0
/// Calls operators. Arguments are checked against the schema, and the call goes to the highest key
/// of its tensors and the thread's guards.
#pragma once

#include <byre/config.hpp>
#include <byre/functional/dispatch/registry.hpp>

#include <concepts>
#include <initializer_list>
#include <span>
#include <string_view>

namespace byre::inline v0::functional {

/// The number or a type of the arguments is wrong, or a handle or program is empty. The text
/// contains the schema if there is one.
class BYRE_API ArgumentError : public Error {
 public:
  using Error::Error;
};

namespace detail {

/// Throws ArgumentError, which names `function`, if a handle is empty. `whose` names the tensors:
/// "the inputs", "the returned tensors".
BYRE_API void expect_tensors(const Tensors& tensors, const char* function, const char* whose);
/// Throws ArgumentError, which names `function`, if `program` is empty.
BYRE_API void expect_program(const Program& program, const char* function);

}  // namespace detail

/// An operator, given as an Operator or by name. Throws DispatchError if the name is unknown.
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
/// Throws ArgumentError if the arguments do not fit the schema; DispatchError if the key has no
/// kernel; OutOfMemory; and the exceptions of the kernel, std::bad_alloc as OutOfMemory.
///
/// Thread-safety: that of the operator's reads and writes of its tensors. Cost: one check per
/// argument, then the kernel.
BYRE_API Tensors call(OperatorRef op, Arguments arguments);
BYRE_API Tensors call(OperatorRef op, std::initializer_list<Argument> arguments);
/// Calls an operator that returns one tensor, and returns this tensor. Also throws ArgumentError if
/// the number of results is not 1.
BYRE_API AnyTensor call_for_one(OperatorRef op, Arguments arguments);
BYRE_API AnyTensor call_for_one(OperatorRef op, std::initializer_list<Argument> arguments);

/// Returns the arguments with defaults added and types converted. Throws ArgumentError if they do
/// not fit the schema; OutOfMemory.
BYRE_API Arguments checked_arguments(const Schema& schema, Arguments arguments);

/// For kernels: calls an operator with checked arguments. The caller still owns the arguments that
/// the kernel did not take over, also after an exception. Throws as call().
BYRE_API Tensors dispatch(const Operator& op, std::span<Argument> arguments);

/// Returns the sizes and dtypes of a pure operator's results: by its meta rule or, without one, by
/// computing on zeros on the CPU. Throws the kernel's errors for such operands; OutOfMemory.
BYRE_API std::vector<TensorMeta> meta_of_results(const Call& call);

/// For kernels that do not support an operator: throws the DispatchError of a call without a
/// kernel.
[[noreturn]] BYRE_API void refuse_missing_kernel(const Operator& op, Key key);

/// Returns the keys of a call: those of its tensors and of the thread's guards, or cpu if they
/// include no backend. Throws ArgumentError if a handle is empty.
BYRE_API KeySet keys_of(std::span<const Argument> arguments);

}  // namespace byre::inline v0::functional
