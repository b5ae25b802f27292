// SPDX-License-Identifier: BSL-1.0
/// Script: a program over tensors, as text. README.md has its form. It is run while it is read, on the backend and
/// under the pass that the thread's guards and the inputs choose.
#pragma once

#include <byre/functional/dispatch/any_tensor.hpp>
#include <byre/functional/dispatch/scanner.hpp>

#include <string>
#include <vector>

namespace examples::functionalize {

struct NamedTensor {
  std::string name;
  byre::functional::AnyTensor tensor;
};

class Script {
 public:
  // All throw byre::functional::SyntaxError, which points at the place, also for errors of operators.

  /// Reads the inputs, which stand first. `name` is what errors call the text.
  Script(std::string text, std::string name);
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;

  /// The inputs that the program asks for, made anew on the CPU.
  std::vector<NamedTensor> make_inputs() const;
  /// Runs it on as many inputs. All tensors that have a name in the end, in the order of their names' first use; those
  /// of a list are called parts[0] and so on.
  std::vector<NamedTensor> run(const byre::functional::Tensors& inputs) const;

 private:
  std::string text_;
  std::string name_;
  std::vector<std::string> inputs_;
  byre::functional::Scanner after_inputs_;
};

}  // namespace examples::functionalize
