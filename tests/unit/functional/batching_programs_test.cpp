// SPDX-License-Identifier: BSL-1.0
// Random programs of pure operators under a vmap within a vmap, within the pass or not, compared
// with the loops they stand for.
#include "random_calls.hpp"
#include "tensors.hpp"

namespace byre::test {
namespace {

/// Makes one more tensor of those there are.
using Step = std::function<AnyTensor(const Tensors&)>;

/// Of i64, whose arithmetic is exact whatever the order.
class RandomPureProgram {
 public:
  RandomPureProgram(RandomCalls& random, Tensors samples)
      : random_(random), samples_(std::move(samples)) {
    while (steps_.size() < 8) {
      add_step();
    }
  }

  /// All that it makes of the inputs.
  Tensors operator()(Tensors tensors) const {
    for (const Step& step : steps_) {
      tensors.push_back(step(tensors));
    }
    return tensors;
  }
  const std::string& text() const { return text_; }

 private:
  /// Unless the tensors there are do not allow it.
  void add_step() {
    const auto [name, step] = any_step();
    try {
      AnyTensor made = step(samples_);
      if (made.numel() > 100 || made.ndim() > 5) {
        return;
      }
      samples_.push_back(std::move(made));
    } catch (const Error&) {
      return;
    }
    steps_.push_back(step);
    text_ += name + "; ";
  }

  std::size_t any_tensor() {
    return static_cast<std::size_t>(random_.number(0, std::ssize(samples_) - 1));
  }

  std::pair<std::string, Step> of_one(std::string name, Arguments others) {
    const std::size_t self = any_tensor();
    std::string text = name + "(#" + std::to_string(self);
    for (const Argument& other : others) {
      text += ", " + functional::describe(other);
    }
    return {text + ")", [=](const Tensors& tensors) {
              Arguments arguments{tensors[self]};
              arguments.insert(arguments.end(), others.begin(), others.end());
              return call_for_one(name, arguments);
            }};
  }

  std::pair<std::string, Step> of_two(std::string name, Arguments others = {}) {
    const std::size_t a = any_tensor();
    const std::size_t b = any_tensor();
    return {name + "(#" + std::to_string(a) + ", #" + std::to_string(b) + ", ...)",
            [=](const Tensors& tensors) {
              Arguments arguments{tensors[a], tensors[b]};
              if (name == "cat") {
                arguments = {Tensors{tensors[a], tensors[b]}};
              }
              arguments.insert(arguments.end(), others.begin(), others.end());
              return call_for_one(name, arguments);
            }};
  }

  std::pair<std::string, Step> any_step() {
    const std::int64_t axis = random_.number(-2, 2);
    const std::int64_t index = random_.number(-2, 2);
    switch (random_.number(0, 12)) {
      case 0:
        return of_two("matmul");
      case 1:
        return of_two("cat", {axis});
      case 2:
        return of_two("select_scatter", {axis, index});
      case 3:
        return of_two("slice_scatter", {axis, index, functional::NoValue(), 1});
      case 4:
        return of_one("select_copy", {axis, index});
      case 5:
        return of_one("slice_copy", {axis, index, functional::NoValue(), 2});
      case 6:
        return of_one("permute_copy", {random_.flag() ? Dims{1, 0} : Dims{2, 0, 1}});
      case 7:
        return of_one("expand_copy", {Dims{2, random_.number(-1, 3), -1}});
      case 8:
        return of_one("sum.axes", {Dims{axis}, random_.flag()});
      case 9:
        return of_one("reshape", {random_.flag() ? Dims{-1, 1} : Dims{1, -1}});
      case 10:
        return of_one("diagonal_copy", {random_.number(-1, 1), 0, 1});
      default:
        return of_two(random_.flag() ? "sub" : "mul");
    }
  }

  RandomCalls& random_;
  Tensors samples_;
  std::vector<Step> steps_;
  std::string text_;
};

/// An input that may depend on the outer batch, the inner one, both or none.
struct Input {
  Tensor tensor;
  bool is_of_outer;
  bool is_of_inner;

  AnyTensor at(std::int64_t outer, std::int64_t inner) const {
    Tensor one = is_of_outer ? tensor.select(0, outer) : tensor;
    return from_cpu(is_of_inner ? one.select(0, inner) : one);
  }
};

constexpr std::int64_t outer_size = 2;
constexpr std::int64_t inner_size = 3;

Input random_input(RandomCalls& random, const Dims& sizes, bool outer, bool inner) {
  Dims all = sizes;
  if (inner) {
    all.insert(all.begin(), inner_size);
  }
  if (outer) {
    all.insert(all.begin(), outer_size);
  }
  return {random.elements(all, DType::i64), outer, inner};
}

const Way ways[] = {
    {"plain", untransformed}, {"functionalized", without_views}, {"captured", by_graph}};

Tensors by_vmaps(const RandomPureProgram& program, const std::vector<Input>& inputs,
                 const Way& way) {
  Tensors tensors;
  BatchAxes outer;
  BatchAxes inner;
  const auto axis_if = [](bool is_there) {
    return is_there ? std::optional<std::int64_t>(0) : std::nullopt;
  };
  for (const Input& input : inputs) {
    tensors.push_back(from_cpu(input.tensor));
    outer.push_back(axis_if(input.is_of_outer));
    inner.push_back(axis_if(input.is_of_inner));
  }
  return way.transform(vmap(vmap(program, inner), outer))(tensors);
}

TEST(RandomPrograms, under_vmaps_compute_what_loops_compute) {
  RandomCalls random(seed());
  for (int round = 0; round < 500; ++round) {
    std::vector<Input> inputs;
    Tensors samples;
    for (int count = 0; count < 3; ++count) {
      const bool is_both = count == 0;
      inputs.push_back(random_input(random, random.sizes(0, 3), is_both || random.flag(),
                                    is_both || random.flag()));
      samples.push_back(inputs.back().at(0, 0));
    }
    const RandomPureProgram program(random, samples);
    const Way& way = ways[round % 3];
    const Tensors batched = by_vmaps(program, inputs, way);
    for (std::int64_t outer = 0; outer < outer_size; ++outer) {
      for (std::int64_t inner = 0; inner < inner_size; ++inner) {
        Tensors each;
        for (const Input& input : inputs) {
          each.push_back(input.at(outer, inner));
        }
        const Tensors expected = program(each);
        ASSERT_EQ(expected.size(), batched.size());
        for (std::size_t made = 0; made < expected.size(); ++made) {
          const Tensor got = to_cpu(batched[made]).select(0, outer).select(0, inner);
          ASSERT_TRUE(are_same(got, to_cpu(expected[made])))
              << program.text() << " at #" << made << ", " << way.name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace byre::test
