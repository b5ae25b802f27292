// SPDX-License-Identifier: BSL-1.0
// vmap of every pure operator, on each backend that computes at once, compared with a loop over the
// batch.
#include "random_calls.hpp"
#include "support/functional/opaque_backend.hpp"
#include "tensors.hpp"

namespace byre::test {
namespace {

enum class On : bool { cpu, opaque };

AnyTensor put(const Tensor& tensor, On on) {
  return on == On::cpu ? from_cpu(tensor) : to_opaque(tensor);
}

Tensor fetched(const AnyTensor& tensor, On on) {
  return on == On::cpu ? to_cpu(tensor) : from_opaque(tensor);
}

/// A call whose tensors are parted from the rest, so that a batch of each can be given.
class BatchOfCalls {
 public:
  /// The tensors of `arguments` say of what sizes each of the batch is.
  BatchOfCalls(RandomCalls& random, std::string name, Arguments arguments, std::int64_t size)
      : random_(random), name_(std::move(name)), arguments_(std::move(arguments)), size_(size) {
    for (Argument& argument : arguments_) {
      argument.for_each_tensor([this](AnyTensor& tensor) { add_input(to_cpu(tensor)); });
    }
    if (std::none_of(axes_.begin(), axes_.end(), [](const auto& axis) { return bool(axis); })) {
      axes_[0] = 0;
      inputs_[0] = random_.elements(with_batch(inputs_[0].sizes(), 0), inputs_[0].dtype());
    }
  }

  Tensor by_vmap(On on) const {
    Tensors inputs;
    for (const Tensor& input : inputs_) {
      inputs.push_back(put(input, on));
    }
    const auto batched = vmap([this](const Tensors& each) { return Tensors{of(each)}; }, axes_);
    const AnyTensor result = batched(inputs).front();
    EXPECT_EQ(result.keys(), functional::KeySet(on == On::cpu ? Key::cpu : opaque_backend()));
    return fetched(result, on);
  }

  Tensor by_loop() const {
    std::vector<Tensor> results;
    for (std::int64_t index = 0; index < size_; ++index) {
      Tensors each;
      for (std::size_t input = 0; input < inputs_.size(); ++input) {
        each.push_back(
            from_cpu(axes_[input] ? inputs_[input].select(*axes_[input], index) : inputs_[input]));
      }
      results.push_back(to_cpu(of(each)).unsqueeze(0));
    }
    return cat(results, 0);
  }

  std::string text() const {
    std::string text = name_;
    for (std::size_t input = 0; input < inputs_.size(); ++input) {
      text += " " + functional::describe(from_cpu(inputs_[input])) + " batch " +
              (axes_[input] ? std::to_string(*axes_[input]) : "none");
    }
    for (const Argument& argument : arguments_) {
      text += "; " + functional::describe(argument);
    }
    return text;
  }

 private:
  Dims with_batch(Dims sizes, std::int64_t axis) const {
    sizes.insert(sizes.begin() + (axis < 0 ? std::ssize(sizes) + 1 + axis : axis), size_);
    return sizes;
  }

  void add_input(const Tensor& one) {
    if (random_.number(0, 2) == 0) {
      axes_.push_back(std::nullopt);
      inputs_.push_back(one);
      return;
    }
    const std::int64_t ndim = std::ssize(one.sizes());
    axes_.push_back(random_.number(-ndim - 1, ndim));
    inputs_.push_back(random_.elements(with_batch(one.sizes(), *axes_.back()), one.dtype()));
  }

  AnyTensor of(const Tensors& each) const {
    Arguments arguments = arguments_;
    auto next = each.begin();
    for (Argument& argument : arguments) {
      argument.for_each_tensor([&next](AnyTensor& tensor) { tensor = *next++; });
    }
    return call_for_one(name_, arguments);
  }

  RandomCalls& random_;
  const std::string name_;
  Arguments arguments_;
  const std::int64_t size_;
  std::vector<Tensor> inputs_;
  BatchAxes axes_;
};

class RandomBatches : public testing::TestWithParam<On> {};

TEST_P(RandomBatches, of_each_operator_are_what_a_loop_over_them_computes) {
  RandomCalls random(seed());
  for (const std::string& name : random.names()) {
    for (int round = 0; round < 200; ++round) {
      const BatchOfCalls calls(random, name, random.arguments_of(name), random.number(1, 4));
      const Tensor computed = calls.by_vmap(GetParam());
      ASSERT_TRUE(are_same(computed, calls.by_loop())) << calls.text() << "\n"
                                                       << byre::to_string(computed) << "\nand not\n"
                                                       << byre::to_string(calls.by_loop());
    }
  }
}

TEST_P(RandomBatches, of_none_have_the_sizes_of_one) {
  RandomCalls random(seed());
  for (const std::string& name : random.names()) {
    for (int round = 0; round < 30; ++round) {
      const Arguments arguments = random.arguments_of(name);
      const AnyTensor one = call_for_one(name, arguments);
      Dims sizes = one.sizes();
      sizes.insert(sizes.begin(), 0);
      const BatchOfCalls calls(random, name, arguments, 0);
      const Tensor computed = calls.by_vmap(GetParam());
      ASSERT_EQ(computed.sizes(), sizes) << calls.text();
      ASSERT_EQ(computed.dtype(), one.dtype()) << calls.text();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, RandomBatches, testing::Values(On::cpu, On::opaque),
                         [](const auto& on) { return on.param == On::cpu ? "cpu" : "opaque"; });

}  // namespace
}  // namespace byre::test
