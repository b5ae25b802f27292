// SPDX-License-Identifier: BSL-1.0
/// ProgramBuilder: writes a program down while it runs on plain tensors, and so knows what there
/// is.
#pragma once

#include <utility>

#include "program.hpp"
#include "random_shapes.hpp"
#include "unsupported.hpp"

namespace byre::test {

class ProgramBuilder {
 protected:
  explicit ProgramBuilder(std::uint64_t seed) : random_(seed) {}

  const Tensor& tensor(Ref ref) const { return to_cpu(values_.at(ref)); }
  Ref any() { return random_.one_of(alive_); }
  /// Mostly the latest.
  Ref recent() {
    const std::int64_t last = std::ssize(alive_) - 1;
    return alive_[static_cast<std::size_t>(
        random_.chance(60) ? random_.number(std::max<std::int64_t>(0, last - 3), last)
                           : random_.number(0, last))];
  }
  /// One of equal sizes, if there is one, or a smaller one.
  Ref beside(Ref self) {
    std::vector<Ref> alike;
    for (const Ref ref : alive_) {
      if (tensor(ref).sizes() == tensor(self).sizes() ||
          (tensor(ref).numel() <= 1 && random_.chance(30))) {
        alike.push_back(ref);
      }
    }
    return alike.empty() || random_.chance(5) ? any() : random_.one_of(alike);
  }
  Scalar scalar() {
    return random_.chance(85) ? Scalar(random_.number(-2, 7))
                              : random_.one_of({Scalar(0.5), Scalar(true)});
  }

  /// Takes the step; what it returns is alive if `is_kept`.
  bool add(std::vector<Step>& steps, std::string op, std::vector<StepArgument> arguments) {
    Step step{next_++, std::move(op), std::move(arguments)};
    if (unsupported_.is_done_by(step, values_)) {
      return false;
    }
    const bool is_done = take(step, values_) == Happened::done;
    if (is_done) {
      unsupported_.follow(step, values_);
    }
    for (auto made = values_.lower_bound({step.number, 0}); made != values_.end(); ++made) {
      alive_.push_back(made->first);
    }
    steps.push_back(std::move(step));
    return is_done;
  }

  /// `a`, or a tensor made of it, whose sums do not depend on the order: that is the one of the
  /// strides. Of integers; of bools; or of eighths below 16 in a float, whose sums and products are
  /// exact.
  std::optional<Ref> summable(Ref a) {
    const DType dtype = tensor(a).dtype();
    if (dtype < DType::f16) {
      return a;
    }
    if (random_.chance(60)) {
      const bool is_made =
          add(program_.body, "to", {a, DType::i8}) &&
          add(program_.body, "to", {alive_.back(), random_.one_of({DType::f32, DType::f64})}) &&
          add(program_.body, "mul.scalar", {alive_.back(), Scalar(0.125)});
      return is_made ? std::optional(alive_.back()) : std::nullopt;
    }
    const bool is_made = add(program_.body, "ge.scalar", {a, scalar()}) &&
                         add(program_.body, "to", {alive_.back(), DType::i32});
    return is_made ? std::optional(alive_.back()) : std::nullopt;
  }

  RandomShapes random_;
  Program program_;
  Values values_;
  Unsupported unsupported_{{}};
  std::vector<Ref> alive_;
  DType usual_dtype_ = DType::f32;
  int next_ = 0;
};

}  // namespace byre::test
