// SPDX-License-Identifier: BSL-1.0
/// Schema: what an operator takes, returns, aliases and writes. The notation is the usual one:
///
///   add_.scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
///   split(Tensor(a) self, int size, Axis axis=0) -> Tensor(a)[]
///   add.out(Tensor a, Tensor b, *, Tensor(a!) out) -> Tensor(a!)
///
/// Types are Tensor, Tensor[], int, int[], Axis, Axis[], Scalar, bool and DType; a ? behind one
/// allows none. An Axis is an int that names a dimension of the tensors, counted from either end.
/// (a) names a set of tensors that alias, (a!) one that is written. What stands behind * is given
/// by name in text, and in order in a call. Nothing is returned as ().
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

namespace byre::inline v0::functional {

/// A schema that cannot be read, or contradicts itself. The text points at the place.
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

/// "Tensor[]".
BYRE_API const char* name_of(Type type) noexcept;

/// Of a tensor: which set it aliases, and whether that is written.
struct AliasSet {
  char name = 0;  ///< 0: none, it aliases nothing
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
  bool is_by_name = false;  ///< stands behind *

  bool is_tensor() const noexcept { return type <= Type::tensors; }
};

struct Return {
  Type type = Type::tensor;
  AliasSet alias;
};

/// What is done to the tensors that an operator takes.
enum class Effect : std::uint8_t {
  none,   ///< a pure operator: returns what aliases nothing
  view,   ///< returns what aliases its first argument, and writes nothing
  write,  ///< writes at least one argument
};

struct BYRE_API Schema {
  std::string name;      ///< "add_"
  std::string overload;  ///< "scalar", or nothing
  std::vector<Parameter> parameters;
  std::vector<Return> returns;

  /// Throws OutOfMemory.
  std::string full_name() const;
  Effect effect() const noexcept;
  bool is_pure() const noexcept { return effect() == Effect::none; }
  bool returns_list() const noexcept {
    return returns.size() == 1 && returns.front().type == Type::tensors;
  }
  /// How many tensors a kernel returns, of a schema that returns no list: what it writes is filled
  /// in.
  std::size_t new_count() const noexcept;
  /// The parameter of that name or alias set, or the number of parameters.
  std::size_t index_of(std::string_view parameter) const noexcept;
  std::size_t index_of(AliasSet set) const noexcept;
};

namespace detail {
/// Whether the argument is of the parameter's type, or was made so. In call.cpp: calls inline it.
bool conform(Argument& argument, const Parameter& parameter);
}  // namespace detail

/// Throws SchemaError.
BYRE_API Schema parse_schema(std::string_view text);

/// As it is parsed.
BYRE_API std::string to_string(const Schema& schema);

}  // namespace byre::inline v0::functional
