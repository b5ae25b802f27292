// SPDX-License-Identifier: BSL-1.0
#include "generate.hpp"

#include <cstdlib>

#include "arguments.hpp"

namespace byre::test {
namespace {

/// Makes a program step by step. Also runs each step on plain tensors, to know which tensors exist.
class Generator {
 public:
  Generator(std::uint64_t seed, Flavor flavor)
      : random_(seed), flavor_(flavor), kinds_(kinds_of(flavor)) {
    usual_dtype_ = random_.chance(60) ? DType::f32 : dtype();
  }

  /// A program that makes a view, writes through the view, and then reads and writes the viewed
  /// memory.
  Program pair(const std::string& view, const std::string& write) {
    usual_dtype_ = view == "view_as_real"      ? DType::complex64
                   : view == "view_as_complex" ? DType::f32
                                               : usual_dtype_;
    setup();
    if (random_.chance(20)) {
      add(program_.body, "arange", {Scalar(12), usual_dtype_});  // a tensor that the body creates
      add(program_.body, "view", {alive_.back(), random_.sizes_of(12)});
    }
    const std::size_t before = alive_.size();
    for (int tries = 0; tries < 5 && alive_.size() == before; ++tries) {
      add_call(program_.body, view, any());
    }
    if (alive_.size() == before) {
      return std::move(program_);
    }
    const Ref seen = alive_[before + random_.below(alive_.size() - before)];
    add_call(program_.body, "slice", any());
    const Ref other = alive_.back();
    add(program_.body, "add.scalar", {seen, Scalar(true)});
    add(program_.body, "ge.scalar", {seen, Scalar(3)});
    out_ = seen;
    add_call(program_.body, write, write.ends_with(".out") ? any() : seen);
    for (const Ref ref : {program_.inputs[0], seen, other}) {
      add(program_.body, "clone", {ref});
    }
    add(program_.body, "fill_", {other, Scalar(1)});
    add(program_.body, "mul_.scalar", {seen, Scalar(2)});
    add(program_.body, "zero_", {other});
    add(program_.body, "clone", {seen});
    program_.outputs = alive_;
    return std::move(program_);
  }

  Program generated() {
    setup();
    for (std::int64_t steps = random_.number(2, 14); steps > 0; --steps) {
      const Kind& kind = random_.one_by_weight(kinds_);
      add_call(program_.body, random_.one_of(kind.operators),
               flavor_ == Flavor::anything && random_.chance(13) ? any() : recent());
    }
    for (const Ref ref : alive_) {
      if (random_.chance(40)) {
        program_.outputs.push_back(ref);
      }
    }
    if (random_.chance(10)) {
      program_.outputs.push_back(any());
    }
    return std::move(program_);
  }

 private:
  void setup() {
    for (std::int64_t memories = random_.number(1, 2); memories > 0; --memories) {
      add_memory(random_.one_of({1, 2, 4, 6, 8, 12, 12, 16, 24, 0}),
                 random_.chance(80) ? usual_dtype_ : dtype());
      if (random_.chance(20)) {
        add(program_.setup, "sub_.scalar", {alive_.back(), Scalar(3)});
      }
    }
    for (std::int64_t more = random_.chance(60) ? random_.number(0, 3) : 0; more > 0; --more) {
      add_call(program_.setup, random_.one_of(kinds_of(Flavor::views).front().operators), any());
    }
    for (std::int64_t inputs = random_.number(1, 3); inputs > 0; --inputs) {
      program_.inputs.push_back(random_.chance(60) ? alive_.back() : any());
    }
    alive_ = program_.inputs;
    if (flavor_ == Flavor::anything && random_.chance(25)) {
      // A captured tensor gets new memory, because it must not share memory with an input.
      if (add_memory(random_.one_of({1, 4, 6, 12}), usual_dtype_)) {
        alive_.erase(alive_.end() - 2);
      }
      program_.captured.push_back(alive_.back());
      unsupported_ = Unsupported(program_.captured);
    }
  }

  /// Adds a tensor with new memory, and perhaps a view of the tensor. Returns whether it added a
  /// view.
  bool add_memory(std::int64_t count, DType dtype) {
    add(program_.setup, "arange", {Scalar(count), dtype});
    return count > 1 && random_.chance(70) &&
           add(program_.setup, "view", {alive_.back(), random_.sizes_of(count)});
  }

  /// A random dtype. Excludes bf16 and bool in programs of views: NumPy lacks bf16, and does not
  /// define the bytes of bools.
  DType dtype() {
    const DType drawn = random_.dtype();
    const bool is_known = drawn != DType::bf16 && drawn != DType::boolean;
    return flavor_ == Flavor::views && !is_known ? DType::i16 : drawn;
  }

  /// Runs a step and adds it to `steps`. Returns whether the step succeeded.
  bool add(std::vector<Step>& steps, std::string op, std::vector<StepArgument> arguments) {
    Step step{next_++, std::move(op), std::move(arguments)};
    if (unsupported_.applies_to(step, values_)) {
      return false;
    }
    const bool is_done = run_step(step, values_) == StepResult::done;
    if (is_done) {
      unsupported_.record(step, values_);
    }
    for (auto made = values_.lower_bound({step.number, 0}); made != values_.end(); ++made) {
      alive_.push_back(made->first);
    }
    steps.push_back(std::move(step));
    return is_done;
  }

  /// Adds a call of the operator `name` on `first`. Draws the other arguments by the operator's
  /// schema. Returns whether the call succeeded.
  bool add_call(std::vector<Step>& steps, std::string name, Ref first) {
    if (unsupported_.is_of_bools(first) && functional::find(name).effect() == Effect::write) {
      // Only these writes can be limited to 0 and 1.
      name = random_.one_of({"copy_", "fill_", "zero_"});
    }
    // The functionalization pass rejects inputs that share memory as bools and as another dtype.
    if (&steps == &program_.setup && tensor(first).dtype() == DType::boolean &&
        (name.find("dtype") != std::string::npos || name.starts_with("view_as"))) {
      return false;
    }
    if (name == "view.dtype" && tensor(first).dtype() == DType::complex64) {
      name = "view_as_real";
    }
    const functional::Operator& op = functional::find(name);
    const bool is_sum = name.starts_with("sum.") || name == "sum" || name.starts_with("matmul");
    const std::optional<Ref> self = is_sum ? summable(first) : first;
    if (!self) {
      return false;
    }
    const Constants constants = random_.constants(op, byre::geometry_of(tensor(*self)));
    auto constant = constants.begin();
    std::vector<StepArgument> arguments;
    for (const functional::Parameter& parameter : op.schema().parameters) {
      if (parameter.type == functional::Type::tensors) {
        arguments.push_back(random_.chance(60) ? std::vector{*self, partner_of(*self)}
                                               : std::vector{*self});
      } else if (!parameter.is_tensor()) {
        if (constant == constants.end()) {
          break;  // the remaining parameters have defaults
        }
        std::visit([&](const auto& held) { arguments.emplace_back(held); }, *constant++);
      } else if (parameter.name == "out" && out_) {
        arguments.push_back(*out_);
      } else if (parameter.name == "out") {
        arguments.push_back(random_.chance(70) ? partner_of(*self) : any());
      } else if (parameter.name == "condition") {
        const bool is_made = add(steps, "ge.scalar", {partner_of(*self), random_.scalar()});
        arguments.push_back(is_made ? alive_.back() : any());
      } else if (arguments.empty() || parameter.name == "a") {
        arguments.push_back(*self);
      } else if (const std::optional<Ref> other = name.ends_with("_scatter")
                                                      ? part_of(*self, name, constants)
                                                  : is_sum ? summable(any())
                                                           : partner_of(*self)) {
        arguments.push_back(*other);
      } else {
        return false;
      }
    }
    if (flavor_ == Flavor::views && name == "copy_" &&
        tensor(std::get<Ref>(arguments[1])).dtype() != tensor(first).dtype()) {
      return false;
    }
    return add(steps, std::move(name), std::move(arguments));
  }

  /// Returns `a`, or a tensor computed from `a`, whose sums are exact. Inexact sums would depend on
  /// the order of summation, which follows the strides. The elements of the result are integers,
  /// bools, or floats that are multiples of 1/8 below 16. Returns nothing if a step fails.
  std::optional<Ref> summable(Ref a) {
    if (tensor(a).dtype() < DType::f16) {
      return a;
    }
    const auto made = [this](const char* op, std::vector<StepArgument> arguments) {
      return add(program_.body, op, std::move(arguments));
    };
    const bool is_made =
        random_.chance(60)
            ? made("to", {a, DType::i8}) &&
                  made("to", {alive_.back(), random_.one_of({DType::f32, DType::f64})}) &&
                  made("mul.scalar", {alive_.back(), Scalar(0.125)})
            : made("ge.scalar", {a, random_.scalar()}) && made("to", {alive_.back(), DType::i32});
    return is_made ? std::optional(alive_.back()) : std::nullopt;
  }

  /// A source for the operator `scatter`, which writes the source to a view of a copy of `self`.
  /// The source has the elements of the view, doubled. Returns nothing if a step fails.
  std::optional<Ref> part_of(Ref self, const std::string& scatter, const Constants& constants) {
    std::vector<StepArgument> arguments{self};
    for (const functional::Constant& constant : constants) {
      std::visit([&](const auto& held) { arguments.emplace_back(held); }, constant);
    }
    const bool is_made = add(program_.body, stem_of(scatter) + "_copy", std::move(arguments)) &&
                         add(program_.body, "add", {alive_.back(), alive_.back()});
    return is_made ? std::optional(alive_.back()) : std::nullopt;
  }

  const Tensor& tensor(Ref ref) const { return to_cpu(values_.at(ref)); }
  Ref any() { return random_.one_of(alive_); }
  /// A random tensor; in most cases one of the last four.
  Ref recent() {
    const std::int64_t last = std::ssize(alive_) - 1;
    return alive_[static_cast<std::size_t>(
        random_.chance(60) ? random_.number(std::max<std::int64_t>(0, last - 3), last)
                           : random_.number(0, last))];
  }
  /// In most cases a tensor with the sizes of `self` or with at most one element; otherwise any
  /// tensor.
  Ref partner_of(Ref self) {
    std::vector<Ref> alike;
    for (const Ref ref : alive_) {
      if (tensor(ref).sizes() == tensor(self).sizes() ||
          (tensor(ref).numel() <= 1 && random_.chance(30))) {
        alike.push_back(ref);
      }
    }
    return alike.empty() || random_.chance(5) ? any() : random_.one_of(alike);
  }

  RandomArguments random_;
  const Flavor flavor_;
  const std::vector<Kind>& kinds_;
  Program program_;
  Values values_;
  Unsupported unsupported_{{}};
  std::vector<Ref> alive_;
  std::optional<Ref> out_;  ///< the tensor that all out= variants write; if empty, a random tensor
  DType usual_dtype_ = DType::f32;
  int next_ = 0;
};

}  // namespace

Program generate(std::uint64_t seed, Flavor flavor) {
  return Generator(seed, flavor).generated();
}

Program generate_pair(std::uint64_t seed, const std::string& view, const std::string& write) {
  return Generator(seed, Flavor::anything).pair(view, write);
}

std::size_t program_count() {
  const char* const given = std::getenv("BYRE_FUNCTIONALIZATION_PROGRAMS");
  return given != nullptr ? static_cast<std::size_t>(std::strtoull(given, nullptr, 10)) : 20'000;
}

}  // namespace byre::test
