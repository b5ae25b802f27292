// SPDX-License-Identifier: BSL-1.0
#include "interpreter.hpp"

#include "expression_reader.hpp"
#include "failure.hpp"

#include <utility>

namespace examples::functionalize {
namespace {

namespace functional = byre::functional;

using functional::AnyTensor;
using functional::Argument;
using functional::Scanner;
using functional::Tensors;

/// Reads and runs statements.
class Interpreter : private ExpressionReader {
 public:
  using ExpressionReader::assign;

  explicit Interpreter(const Scanner& at) : ExpressionReader(at) {}

  const Scanner& at() const noexcept { return at_; }

  /// Reads the input statements, "input x = ...".
  std::vector<NamedTensor> inputs() {
    std::vector<NamedTensor> made;
    for (;;) {
      const Scanner before = at_;
      if (!at_.is_at_identifier() || at_.identifier("a name") != "input" ||
          !at_.is_at_identifier()) {
        at_ = before;  // a variable may be called input as well
        return made;
      }
      const std::size_t position = at_.position();
      const std::string name = at_.identifier("a name");
      at_.expect("=");
      const Argument value = expression();
      if (value.get<AnyTensor>() == nullptr) {
        at_.refuse("an input is a tensor, not " + functional::describe(value), position);
      }
      assign(name, value);
      made.push_back({name, value.tensor()});
      end_line();
    }
  }

  void run() {
    while (!at_.is_at_end()) {
      throw_if_interrupted();
      statement();
      end_line();
    }
  }

  std::vector<NamedTensor> tensors() const {
    std::vector<NamedTensor> all;
    for (const auto& [name, value] : variables_) {
      if (value.get<AnyTensor>() != nullptr) {
        all.push_back({name, value.tensor()});
      } else if (const Tensors* const several = value.get<Tensors>()) {
        for (std::size_t index = 0; index < several->size(); ++index) {
          all.push_back({name + "[" + std::to_string(index) + "]", (*several)[index]});
        }
      }
    }
    return all;
  }

 private:
  void statement() {
    const std::size_t position = at_.position();
    if (const std::string name = name_if_any(); !name.empty()) {
      assign(name, expression());
      return;
    }
    const Argument target = expression();
    const bool is_place = ended_with_brackets_;
    for (const auto& [sign, name] :
         {std::pair("+=", "add_"), {"-=", "sub_"}, {"*=", "mul_"}, {"/=", "div_"}}) {
      if (at_.accept(sign)) {
        call(name, position, {target, expression()});
        return;
      }
    }
    if (at_.is_at("=")) {
      if (!is_place) {
        at_.refuse("what stands left of = is a name, or a place such as x[0]", position);
      }
      at_.expect("=");
      const Argument value = expression();
      call(value.get<AnyTensor>() == nullptr ? "fill_" : "copy_", position, {target, value});
    }
  }

  void end_line() {
    if (!at_.is_at_end() && at_.peek() != '\n') {
      at_.expected("an operator or the end of the line");
    }
    at_.skip_lines();
  }

  /// "name =", which it passes; nothing if the statement begins in another way.
  std::string name_if_any() {
    const Scanner before = at_;
    if (at_.is_at_identifier()) {
      std::string name = at_.identifier("a name");
      if (at_.accept("=")) {
        return name;
      }
    }
    at_ = before;
    return "";
  }
};

}  // namespace

Script::Script(std::string text, std::string name)
    : text_(std::move(text)), name_(std::move(name)), after_inputs_(text_, name_, true) {
  after_inputs_.skip_lines();
  Interpreter interpreter(after_inputs_);
  for (const NamedTensor& input : interpreter.inputs()) {
    inputs_.push_back(input.name);
  }
  after_inputs_ = interpreter.at();
}

std::vector<NamedTensor> Script::make_inputs() const {
  Scanner begin(text_, name_, true);
  begin.skip_lines();
  return Interpreter(begin).inputs();
}

std::vector<NamedTensor> Script::run(const Tensors& inputs) const {
  Interpreter interpreter(after_inputs_);
  for (std::size_t index = 0; index < inputs_.size(); ++index) {
    interpreter.assign(inputs_[index], inputs.at(index));
  }
  interpreter.run();
  return interpreter.tensors();
}

}  // namespace examples::functionalize
