// SPDX-License-Identifier: BSL-1.0
/// Twins: how operators that write are told from their names: add_ is add in place, transpose_ is the
/// view transpose in place, add.out is add into a tensor there is already.
#pragma once

#include <byre/functional/dispatch/operator.hpp>

#include <optional>
#include <string>
#include <vector>

namespace byre::inline v0::functional {

/// Of "add_.scalar", "add.scalar"; of "add.out", "add"; of "add.scalar_out", "add.scalar". Nothing for
/// a name that does not say that it writes.
std::optional<std::string> name_of_twin(const Schema& schema);

/// The same backwards: of "add.scalar", "add_.scalar" and "add.scalar_out".
std::vector<std::string> names_of_writers(const Schema& schema);

/// Whether `twin`, of the name that says so, is the view that `op` makes in place, or the pure operator
/// that takes what `op` takes, without what is written and not read in an out= form.
bool is_twin_of(const Operator& twin, const Operator& op);

/// The view that an operator such as transpose_ makes of its first argument in place; or null.
inline const Operator* view_of_in_place(const Operator& op) noexcept {
  const Operator* const twin = op.twin();
  return twin != nullptr && twin->effect() == Effect::view ? twin : nullptr;
}

/// The pure operator that computes what `op`, which writes, does; or null.
inline const Operator* pure_twin(const Operator& op) noexcept {
  const Operator* const twin = op.twin();
  return twin != nullptr && twin->effect() == Effect::none ? twin : nullptr;
}

/// The same, and where there is none, one that is derived: its CPU kernel writes copies. It returns what
/// `op` makes anew, then what it writes, in the order of the parameters. Thread-safe; wait-free but for
/// the first call.
const Operator& pure_form(const Operator& op);

/// The parameters that are written, by index.
std::vector<std::size_t> written_parameters(const Schema& schema);

/// Whether this is an out= form, of which the tensor that is written is not read.
bool is_out_form(const Schema& schema);

}  // namespace byre::inline v0::functional
