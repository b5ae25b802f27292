// SPDX-License-Identifier: BSL-1.0
#include "generate.hpp"

#include <cstdlib>
#include <iterator>

#include "generate_views.hpp"
#include "program_builder.hpp"
#include "user_operators.hpp"

namespace byre::test {
namespace {

using Constants = std::vector<StepArgument>;

class Generator : ProgramBuilder {
 public:
  explicit Generator(std::uint64_t seed) : ProgramBuilder(seed) {}

  Program generated() {
    setup();
    for (std::int64_t steps = random_.number(2, 14); steps > 0; --steps) {
      body_step();
    }
    for (const Ref ref : alive_) {
      if (random_.chance(40)) {
        program_.outputs.push_back(ref);
      }
    }
    if (random_.chance(10) && !alive_.empty()) {
      program_.outputs.push_back(random_.one_of(alive_));
    }
    return std::move(program_);
  }

 private:
  bool add_view(std::vector<Step>& steps, Ref of) {
    std::string name = random_.one_of(views());
    if (name.find("dtype") != std::string::npos || name.starts_with("view_as")) {
      // Inputs that share memory as bools and as another dtype are refused.
      if (&steps == &program_.setup && tensor(of).dtype() == DType::boolean) {
        return false;
      }
      name = tensor(of).dtype() == DType::complex64 ? "view_as_real" : name;
    }
    Constants arguments{of};
    for (StepArgument& constant : constants_of_view(name, random_, tensor(of))) {
      arguments.push_back(std::move(constant));
    }
    return add(steps, name, std::move(arguments));
  }

  void setup() {
    usual_dtype_ = random_.chance(60) ? DType::f32 : random_.dtype();
    for (std::int64_t memories = random_.number(1, 2); memories > 0; --memories) {
      const DType dtype = random_.chance(80) ? usual_dtype_ : random_.dtype();
      const std::int64_t count = random_.one_of({1, 2, 4, 6, 8, 12, 12, 16, 24, 0});
      add(program_.setup, "arange", {Scalar(count), dtype});
      if (count > 1 && random_.chance(70)) {
        add(program_.setup, "view", {alive_.back(), random_.sizes_of(count)});
      }
      if (random_.chance(20)) {
        add(program_.setup, "sub_.scalar", {alive_.back(), Scalar(3)});
      }
    }
    for (std::int64_t more = random_.chance(60) ? random_.number(0, 3) : 0; more > 0; --more) {
      add_view(program_.setup, any());
    }
    for (std::int64_t inputs = random_.number(1, 3); inputs > 0; --inputs) {
      program_.inputs.push_back(random_.chance(60) ? alive_.back() : any());
    }
    alive_ = program_.inputs;
    if (random_.chance(25)) {
      capture();
    }
  }

  /// A tensor that is no input, and shares memory with none.
  void capture() {
    const std::int64_t count = random_.one_of({1, 4, 6, 12});
    add(program_.setup, "arange", {Scalar(count), usual_dtype_});
    if (random_.chance(70) &&
        add(program_.setup, "view", {alive_.back(), random_.sizes_of(count)})) {
      alive_.erase(alive_.end() - 2);
    }
    program_.captured.push_back(alive_.back());
    unsupported_ = Unsupported(program_.captured);
  }

  void body_step() {
    const std::int64_t kind = random_.number(0, 99);
    if (kind < 42) {
      add_view(program_.body, recent());
    } else if (kind < 72) {
      add_write(recent());
    } else if (kind < 82) {
      add_pure(recent());
    } else if (kind < 88) {
      add_out();
    } else if (kind < 95) {
      add_view_in_place(any());
    } else {
      add_factory();
    }
  }

  void add_sum(Ref of) {
    const std::optional<Ref> a = summable(of);
    if (!a) {
      return;
    }
    const Ref out = any();
    switch (random_.number(0, 4)) {
      case 0:
        add(program_.body, "sum", {*a});
        return;
      case 1:
        add(program_.body, "sum.out", {*a, out});
        return;
      case 2:
        add(program_.body, "sum.axes",
            {*a, Dims{random_.axis(tensor(*a).ndim())}, random_.chance(50)});
        return;
      default:
        break;
    }
    const std::optional<Ref> b = summable(any());
    if (b && random_.chance(50)) {
      add(program_.body, "matmul", {*a, *b});
    } else if (b) {
      add(program_.body, "matmul.out", {*a, *b, out});
    }
  }

  /// What keeps bools what they are, seen as another dtype.
  void add_write_to_bools(Ref self) {
    std::vector<Ref> bools;
    std::copy_if(alive_.begin(), alive_.end(), std::back_inserter(bools),
                 [this](Ref ref) { return tensor(ref).dtype() == DType::boolean; });
    if (random_.chance(50) && !bools.empty()) {
      add(program_.body, "copy_", {self, random_.one_of(bools)});
    } else if (random_.chance(70)) {
      add(program_.body, "fill_", {self, Scalar(random_.number(0, 1))});
    } else {
      add(program_.body, "zero_", {self});
    }
  }

  void add_write(Ref self) {
    if (unsupported_.is_of_bools(self)) {
      add_write_to_bools(self);
      return;
    }
    const std::string binary = random_.one_of({"add_", "sub_", "mul_", "div_"});
    switch (random_.number(0, 9)) {
      case 0:
      case 1:
        add(program_.body, binary + ".scalar", {self, scalar()});
        return;
      case 2:
      case 3:
        add(program_.body, binary, {self, beside(self)});
        return;
      case 4:
        add(program_.body, random_.one_of({"neg_", "relu_", "exp_", "proof_double_"}), {self});
        return;
      case 5:
        add(program_.body, "fill_", {self, scalar()});
        return;
      case 6:
        if (random_.chance(50)) {
          add(program_.body, "zero_", {self});
        } else {
          add(program_.body, "proof_exchange_", {self, beside(self)});
        }
        return;
      case 7:
        add(program_.body, random_.chance(70) ? "copy_" : "set_", {self, beside(self)});
        return;
      case 8:
        add(program_.body, "resize_", {self, resized(tensor(self).numel())});
        return;
      default:
        add(program_.body, "copy_", {self, beside(self)});
        return;
    }
  }

  Dims resized(std::int64_t numel) {
    return random_.sizes_of(
        std::max<std::int64_t>(0, numel + random_.number(-3, random_.chance(30) ? 3 : 0)));
  }

  void add_pure(Ref a) {
    switch (random_.number(0, 6)) {
      case 0:
        add(program_.body, random_.one_of({"add", "sub", "mul", "div", "eq", "ge"}),
            {a, beside(a)});
        return;
      case 6:
        add_along_axes(a);
        return;
      case 1:
        add(program_.body, random_.one_of({"add.scalar", "mul.scalar", "ge.scalar"}),
            {a, scalar()});
        return;
      case 2:
        add(program_.body,
            random_.one_of({"neg", "relu", "exp", "clone", "contiguous", "proof_halves"}), {a});
        return;
      case 3:
        add_sum(a);
        return;
      case 4:
        add(program_.body, "to", {a, random_.chance(60) ? usual_dtype_ : random_.dtype()});
        return;
      default:
        add_of_other_sizes(a);
        return;
    }
  }

  /// Operators along axes, by their schemas: of a tensor and axes.
  void add_along_axes(Ref a) {
    static const std::vector<const functional::Operator*> all = operators_along_axes();
    const functional::Operator& op = *random_.one_of(all);
    Constants arguments{a};
    for (const functional::Parameter& parameter : op.schema().parameters) {
      if (parameter.type == functional::Type::axis) {
        arguments.emplace_back(number(random_.axis(tensor(a).ndim())));
      } else if (parameter.type == functional::Type::axes) {
        Dims axes = random_.axes(tensor(a).ndim());
        axes.resize(static_cast<std::size_t>(random_.number(0, std::ssize(axes))));
        arguments.emplace_back(std::move(axes));
      }
    }
    add(program_.body, op.name(), std::move(arguments));
  }

  static std::vector<const functional::Operator*> operators_along_axes() {
    using functional::Type;
    std::vector<const functional::Operator*> all;
    for (const functional::Operator* const op : functional::operators()) {
      const auto& parameters = op->schema().parameters;
      const bool is_of_a_tensor_and_axes =
          op->has(functional::Tag::axis_shift) && parameters.front().type == Type::tensor &&
          std::all_of(parameters.begin() + 1, parameters.end(), [](const auto& parameter) {
            return parameter.type == Type::axis || parameter.type == Type::axes;
          });
      if (is_of_a_tensor_and_axes) {
        all.push_back(op);
      }
    }
    return all;
  }

  void add_of_other_sizes(Ref a) {
    if (random_.chance(50)) {
      add(program_.body, "cat",
          {std::vector<Ref>{a, beside(a)}, Scalar(random_.axis(tensor(a).ndim()))});
    } else {
      add(program_.body, "reshape", {a, random_.sizes_of(tensor(a).numel())});
    }
  }

  void add_out() {
    const Ref a = recent();
    const Ref out = random_.chance(80) ? beside(a) : any();
    switch (random_.number(0, 5)) {
      case 0:
        add_sum(a);
        return;
      case 1:
        add(program_.body, "where.out", {any(), a, beside(a), out});
        return;
      case 2:
        add(program_.body, random_.one_of({"neg.out", "relu.out", "exp.out"}), {a, out});
        return;
      case 3:
        add(program_.body, "cat.out",
            {std::vector<Ref>{a}, Scalar(random_.axis(tensor(a).ndim())), out});
        return;
      default:
        add(program_.body, random_.one_of({"add.out", "sub.out", "mul.out", "div.out"}),
            {a, beside(a), out});
        return;
    }
  }

  void add_view_in_place(Ref self) {
    const std::string view = random_.one_of({"permute", "transpose", "t", "movedim", "squeeze",
                                             "squeeze.axis", "unsqueeze", "as_strided"});
    Constants arguments{self};
    for (StepArgument& constant : constants_of_view(view, random_, tensor(self))) {
      arguments.push_back(std::move(constant));
    }
    const std::size_t end = std::min(view.find('.'), view.size());
    add(program_.body, view.substr(0, end) + "_" + view.substr(end), std::move(arguments));
  }

  void add_factory() {
    const Dims sizes = random_.sizes_of(random_.one_of({0, 1, 4, 6, 12}));
    const std::size_t negative =
        static_cast<std::size_t>(std::find(sizes.begin(), sizes.end(), -1) - sizes.begin());
    Dims whole = sizes;
    if (negative < whole.size()) {
      whole[negative] = 2;
    }
    if (random_.chance(50)) {
      add(program_.body, random_.one_of({"zeros", "ones"}), {whole, usual_dtype_});
    } else {
      add(program_.body, "arange", {Scalar(random_.number(0, 12)), usual_dtype_});
    }
  }
};

}  // namespace

Program generate(std::uint64_t seed) {
  define_user_operators();
  return Generator(seed).generated();
}

std::size_t program_count() {
  const char* const given = std::getenv("BYRE_FUNCTIONALIZATION_PROGRAMS");
  return given != nullptr ? static_cast<std::size_t>(std::strtoull(given, nullptr, 10)) : 20'000;
}

}  // namespace byre::test
