// SPDX-License-Identifier: BSL-1.0
/// Variants of an operator, which are recognized by their names: add_ adds in place, add.out adds
/// into an existing tensor, transpose_ applies the view transpose in place. The functional variant
/// of add_ and add.out is add, which writes nothing.
#pragma once

#include <byre/functional/dispatch/operator.hpp>

#include <optional>
#include <string>
#include <vector>

namespace byre::inline BYRE_ABI::functional::detail {

/// Returns the name of the functional variant or view: "add.scalar" for "add_.scalar" and
/// "add.scalar_out", "add" for "add.out". Empty if the name has neither form.
std::optional<std::string> name_of_variant(const Schema& schema);

/// Returns the names of the writing variants: "add_.scalar" and "add.scalar_out" for "add.scalar".
std::vector<std::string> names_of_writing_variants(const Schema& schema);

/// Returns whether `variant` fits `op`. Requires that `variant` has the name of the variant of
/// `op`. A variant fits if it is a pure operator of the same parameters (without the `out` of an
/// out= variant), or a view with one result.
bool is_variant_of(const Operator& variant, const Operator& op);

/// Generates the functional variant of an operator that writes and for which no variant is
/// registered. The generated kernel, for the CPU, calls the operator on copies. Thread-safe: if
/// several threads call this, the first result is used.
BYRE_API const Operator& generate_variant_of(const Operator& op);

/// Returns the functional variant of an operator that writes; generates it if none is registered.
/// The variant returns the new results of `op`, then the written values in parameter order.
/// Thread-safe; wait-free except for the first call.
inline const Operator& functional_variant_of(const Operator& op) {
  const Operator* const registered = op.functional_variant();
  const Operator* const known = registered != nullptr ? registered : op.generated_.get();
  return known != nullptr ? *known : generate_variant_of(op);
}

/// Returns the indices of the written parameters.
std::vector<std::size_t> written_parameters(const Schema& schema);

/// Returns whether this is an out= variant, which does not read the tensor that it writes.
bool is_out_variant(const Schema& schema);

}  // namespace byre::inline BYRE_ABI::functional::detail
