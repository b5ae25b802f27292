// SPDX-License-Identifier: BSL-1.0
/// Finds the operator that a program means by a name and arguments.
#pragma once

#include "script.hpp"

#include <byre/functional/dispatch/operator.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace examples::functionalize {

struct Given {
  std::string name;  ///< empty: by its place
  byre::functional::Argument value;
  std::size_t position = 0;
};

struct OverloadCall {
  const byre::functional::Operator* op = nullptr;
  byre::functional::Arguments arguments;  ///< all that the schema names, checked
};

/// The first overload of `name`, by names, that takes what is given. Integers that stand one after
/// the other are taken for an int[]: view(x, 1, 2); add and mul may be given the number first: 2 *
/// x. Throws SyntaxError at `position`, or at the argument that nobody takes.
OverloadCall overload_for(const Source& source, const std::string& name, std::size_t position,
                          std::vector<Given> given);

}  // namespace examples::functionalize
