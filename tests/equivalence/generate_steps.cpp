// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <span>

#include "model.hpp"
#include "tensor_programs/arguments.hpp"

namespace byre::test {
namespace {

const Dims sizes_of_made[] = {{6}, {2, 3}, {4}, {2, 2}, {8}, {2, 4}, {1}, {2, 1, 3}, {0, 2}};
const Dims sizes_of_larger[] = {{}, {3, 4}, {2, 5, 3}, {1, 2, 1, 2, 2, 2}, {5, 0, 2}, {4, 5, 4}};

/// Generates steps that the model accepts.
class StepGenerator {
 public:
  StepGenerator(std::uint64_t seed, Kind kind) : random_(seed), kind_(kind) {
    for (Operation operation : operations) {
      operation.weight = operation.weights[static_cast<std::size_t>(kind)];
      operations_.push_back(operation);
    }
  }

  Program program() {
    add(made());
    const std::size_t length = kind_ == Kind::copies ? 20 + random_.below(std::size_t{80})
                               : is_whole()          ? 6 + random_.below(std::size_t{18})
                                                     : 6 + random_.below(std::size_t{24});
    while (program_.body.size() < length) {
      add(step());
    }
    if (kind_ == Kind::copies) {
      for (const auto& [name, tensor] : model_.tensors()) {
        add({0, "read", {name}});
      }
    }
    return program_;
  }

 private:
  bool is_whole() const { return kind_ == Kind::whole_and_unique; }
  void add(Step step) {
    step.number = ++last_number_;
    if (model_.run(step) != StepResult::skipped) {
      program_.body.push_back(std::move(step));
    }
  }
  bool is_rare(unsigned one_in) { return random_.below(one_in) == 0; }
  /// If values must be unique, no other step stores this value or the values directly above it.
  Scalar value() {
    return is_whole()              ? Scalar(next_value_ += 10 + random_.below(5))
           : kind_ == Kind::copies ? Scalar(next_value_ += 1000)
                                   : Scalar(random_.below(std::int64_t{3}));
  }

  Step made() {
    const std::span<const Dims> all(sizes_of_made);
    const std::span<const Dims> some = is_whole() ? all.first(7) : all;
    return {0,
            "make",
            {kind_ == Kind::copies && random_.flag() ? random_.one_of(sizes_of_larger)
                                                     : random_.one_of(some),
             value()}};
  }

  /// The names of the tensors for which `fits` returns true.
  template <class Fits>
  std::vector<Ref> names_that(const Fits& fits) const {
    std::vector<Ref> names;
    for (const auto& [name, tensor] : model_.tensors()) {
      if (fits(name, tensor)) {
        names.push_back(name);
      }
    }
    return names;
  }

  /// Some of these steps are impossible: the model rejects them.
  Step step() {
    std::string op = random_.one_by_weight(operations_).name;
    const bool is_alone =
        (op == "extend" || op == "resize" || op == "free_memory") && random_.flag();
    const std::vector<Ref> names = names_that([&](Ref name, const Model::Tensor& tensor) {
      return (op != "write_kept" || model_.may_write_kept(name)) &&
             (!is_alone || !model_.shares_memory(tensor)) &&
             (op != "any view" || (tensor.places.size() <= 200 && tensor.layout.ndim() <= 6));
    });
    if (op == "make" || names.empty()) {
      return made();
    }
    const Ref self = random_.one_of(names);
    const Model::Tensor& tensor = model_.tensors().at(self);
    if (kind_ == Kind::copies && (names.size() > 14 || (op == "drop" && names.size() < 4))) {
      op = names.size() > 14 ? "drop" : "read";
    }
    Step next{0, op == "any view" ? any_view() : op, {self}};
    add_arguments(next, tensor);
    next.place.is_in_scope = kind_ == Kind::anything && is_rare(12);
    next.place.is_in_file = kind_ == Kind::anything && is_rare(12);
    if (op == "reshape" || op == "reshape_") {
      next.place.mode = mode();
    }
    if (is_rare(4)) {
      // The line of an earlier step, as if both steps were in a loop, or as if one line contained
      // several steps.
      const Step& earlier = random_.one_of(program_.body);
      next.place.is_in_file = earlier.place.is_in_file;
      next.place.line = earlier.place.line != 0 ? earlier.place.line : earlier.number;
    }
    return next;
  }

  /// Often nullopt, which stands for the mode of the run.
  std::optional<shadow::ReshapeMode> mode() {
    using shadow::ReshapeMode;
    if (kind_ == Kind::copies) {
      return ReshapeMode::copy;
    }
    const unsigned choice = random_.below(10U);
    return choice < 2 ? std::optional(ReshapeMode::error)
           : choice < 4 && !is_whole()
               ? std::optional(choice == 2 ? ReshapeMode::alias : ReshapeMode::copy)
               : std::nullopt;
  }

  const std::string& any_view() {
    static const std::vector<std::string> all = views_of_the_dtype();
    return random_.one_of(all);
  }

  /// Adds all arguments after the first.
  void add_arguments(Step& step, const Model::Tensor& self) {
    const auto add = [&](StepArgument argument) { step.arguments.push_back(std::move(argument)); };
    const std::string& op = step.op;
    if (is_view(step)) {
      const std::size_t nbytes = self.family->memory->cells.size() * sizeof(std::int64_t);
      for (const functional::Constant& constant :
           random_.constants(functional::find(op), {self.layout, DType::i64, nbytes})) {
        std::visit([&](const auto& held) { add(held); }, constant);
      }
    } else if (op.starts_with("reshape")) {
      add(random_.sizes_of(self.layout.numel()));
    } else if (op == "over") {
      add(random_.sizes_of(1 + random_.below(std::int64_t{8})));
    } else if (op == "resize") {
      add(Dims{1 + random_.below(std::int64_t{4}), 1 + random_.below(std::int64_t{6})});
    } else if (op == "extend") {
      add(Scalar(random_.below(std::int64_t{3})));
      add(Scalar(random_.below(std::int64_t{80})));
    } else if (op == "read_at" || op == "set_at") {
      Dims index;
      for (const std::int64_t size : self.layout.sizes) {
        index.push_back(random_.below(size));
      }
      add(index);
    } else if (op == "share_data" || op == "add_" || op == "copy_") {
      const std::vector<Ref> others = names_that([&](Ref name, const Model::Tensor& tensor) {
        return name != std::get<Ref>(step.arguments[0]) &&
               (tensor.layout.sizes == self.layout.sizes ||
                (op == "share_data" && tensor.layout.numel() == self.layout.numel()));
      });
      add(others.empty() || (op == "share_data" && is_rare(10))
              ? step.arguments[0]
              : StepArgument(random_.one_of(others)));
    }
    if (op == "resize" || op == "extend" || op == "free_memory" || op == "fill_" ||
        op == "set_at" || op.starts_with("write")) {
      add(value());
    }
    if (op == "resize") {
      add(random_.flag());
    }
  }

  RandomArguments random_;
  const Kind kind_;
  std::vector<Operation> operations_;
  Model model_;
  Program program_;
  int last_number_ = 0;
  std::int64_t next_value_ = 0;
};

}  // namespace

std::vector<std::string> views_of_the_dtype() {
  return operators_that([](const functional::Operator& op) {
    const bool keeps_dtype = op.name() != "view.dtype" && !op.name().starts_with("view_as");
    return op.effect() == Effect::view && keeps_dtype;
  });
}

Program generate_steps(std::uint64_t seed, Kind kind) {
  return StepGenerator(seed, kind).program();
}

}  // namespace byre::test
