// SPDX-License-Identifier: BSL-1.0
/// Variants of an operator, which its name tells apart: add_ is add in place, add.out is add into a
/// tensor that is there, transpose_ is the view transpose in place. The functional variant, add,
/// writes nothing.
#pragma once

#include <byre/functional/dispatch/operator.hpp>

#include <optional>
#include <string>
#include <vector>

namespace byre::inline v0::functional::detail {

/// The name of the functional variant, or of the view: of "add_.scalar" and of "add.scalar_out",
/// "add.scalar"; of "add.out", "add". Nothing for a name of neither form.
std::optional<std::string> name_of_variant(const Schema& schema);

/// The other way round: of "add.scalar", "add_.scalar" and "add.scalar_out".
std::vector<std::string> names_of_writing_variants(const Schema& schema);

/// Whether `variant`, which has the right name, is what `op` has for a functional variant or a
/// view: a pure operator of the same parameters, without the `out` that an out= variant does not
/// read, or a view of one result.
bool is_variant_of(const Operator& variant, const Operator& op);

/// A functional variant for an operator that writes and has none registered: its kernel, for the CPU,
/// writes copies. Thread-safe: the first that several threads make is kept.
BYRE_API const Operator& generate_variant_of(const Operator& op);

/// The functional variant of an operator that writes, which is generated if none is registered. It
/// returns what `op` returns anew, then what it writes, in the order of the parameters. Thread-safe;
/// wait-free but for the first call.
inline const Operator& functional_variant_of(const Operator& op) {
  const Operator* const registered = op.functional_variant();
  const Operator* const known = registered != nullptr ? registered : op.generated_.get();
  return known != nullptr ? *known : generate_variant_of(op);
}

/// The parameters that are written, by index.
std::vector<std::size_t> written_parameters(const Schema& schema);

/// Whether this is an out= variant, which does not read the tensor that it writes.
bool is_out_variant(const Schema& schema);

}  // namespace byre::inline v0::functional::detail
