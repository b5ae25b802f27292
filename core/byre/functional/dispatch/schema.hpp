// SPDX-License-Identifier: BSL-1.0
/// Schema: the parameters, results, aliases and writes of an operator, in PyTorch's notation:
///
///   add_.scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
///   split(Tensor(a) self, int size, Axis axis=0) -> Tensor(a)[]
///   add.out(Tensor a, Tensor b, *, Tensor(a!) out) -> Tensor(a!)
///
/// - Types are Tensor, Tensor[], int, int[], Axis, Axis[], Scalar, bool and DType. A `?` after a
///   type allows the value none.
/// - An Axis is an int that names a dimension of the tensors. Negative values count from the last
///   dimension.
/// - `(a)` names a set of tensors that alias each other. `(a!)` names a set that is written.
/// - Parameters after `*` are passed by name in textual notations of calls. call() takes them by
///   position, like all other parameters.
/// - `()` means no result.
#pragma once

#include <byre/config.hpp>
#include <byre/error/error.hpp>
#include <byre/functional/dispatch/argument.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace byre::inline BYRE_ABI::functional {

/// A schema contradicts itself. The message contains the schema.
class BYRE_API SchemaError : public Error {
 public:
  using Error::Error;
};

enum class Type : std::uint8_t {
  tensor,
  tensors,
  integer,
  integers,
  axis,
  axes,
  scalar,
  boolean,
  dtype,
};

/// Returns the type in the notation of schemas, such as "Tensor[]".
BYRE_API const char* name_of(Type type) noexcept;

/// The alias set of a tensor, and whether the operator writes it.
struct AliasSet {
  char name = 0;  ///< 0 if the tensor aliases nothing
  bool is_written = false;

  explicit operator bool() const noexcept { return name != 0; }
  friend bool operator==(const AliasSet&, const AliasSet&) = default;
};

struct Parameter {
  std::string name;
  Type type = Type::tensor;
  bool is_optional = false;
  AliasSet alias;
  std::optional<Constant> default_value;
  bool is_by_name = false;  ///< declared after `*`

  bool is_tensor() const noexcept { return type <= Type::tensors; }
};

struct Return {
  Type type = Type::tensor;
  AliasSet alias;
};

/// What an operator does to the tensors that it takes.
enum class Effect : std::uint8_t {
  none,   ///< pure: writes nothing, and the results alias nothing
  view,   ///< writes nothing, and the results alias the first argument
  write,  ///< writes at least one argument
};

struct BYRE_API Schema {
  std::string name;      ///< "add_"
  std::string overload;  ///< "scalar", or empty
  std::vector<Parameter> parameters;
  std::vector<Return> returns;

  /// Returns a name such as "add_.scalar". Throws OutOfMemory.
  std::string full_name() const;
  Effect effect() const noexcept;
  bool is_pure() const noexcept { return effect() == Effect::none; }
  bool returns_list() const noexcept {
    return returns.size() == 1 && returns.front().type == Type::tensors;
  }
  /// Returns the number of tensors that a kernel returns. These are the results except the written
  /// arguments, which dispatch() adds. Requires a schema that returns no list.
  std::size_t new_count() const noexcept;
  /// Returns the index of the parameter with that name or alias set, or the number of parameters if
  /// there is no such parameter.
  std::size_t index_of(std::string_view parameter) const noexcept;
  std::size_t index_of(AliasSet set) const noexcept;
};

namespace detail {
/// Converts the argument to the parameter's type if possible. Returns whether the argument then has
/// that type. Defined in call.cpp, so that the compiler can inline it into calls.
bool conform(Argument& argument, const Parameter& parameter);
}  // namespace detail

/// Parses a schema. Throws SyntaxError, which states the position, if the text is malformed,
/// SchemaError if the schema contradicts itself, or OutOfMemory. Cost: O(length).
BYRE_API Schema parse_schema(std::string_view text);

/// Returns the schema as text, which parse_schema() accepts. Throws OutOfMemory.
BYRE_API std::string to_string(const Schema& schema);

}  // namespace byre::inline BYRE_ABI::functional
