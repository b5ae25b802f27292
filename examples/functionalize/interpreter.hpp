// SPDX-License-Identifier: BSL-1.0
/// Runs programs, on whatever backend and under whatever pass the thread's guards and the inputs
/// say.
#pragma once

#include "script.hpp"

#include <byre/functional/dispatch/operator.hpp>

#include <string>
#include <vector>

namespace examples::functionalize {

struct NamedTensor {
  std::string name;
  byre::functional::AnyTensor tensor;
};

/// Is told of what a program does.
class Observer {
 public:
  virtual void called(const byre::functional::Operator& op,
                      const byre::functional::Arguments& arguments,
                      const byre::functional::Tensors& results) = 0;
  /// A tensor has a name, and perhaps others.
  virtual void named(const byre::functional::AnyTensor& tensor, const std::string& name) = 0;

 protected:
  ~Observer() = default;
};

// Both throw byre::functional::SyntaxError, which points at the place, also for what operators
// throw.

/// The inputs that the program asks for, as named.
std::vector<NamedTensor> make_inputs(const Script& script);

/// Runs it on as many inputs. All tensors that have a name in the end, in the order in which these
/// came up; those of a list are called parts[0] and so on.
std::vector<NamedTensor> run(const Script& script, const byre::functional::Tensors& inputs,
                             Observer* observer = nullptr);

}  // namespace examples::functionalize
