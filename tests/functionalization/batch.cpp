// SPDX-License-Identifier: BSL-1.0
#include "batch.hpp"

#include <byre/functional/backends/cpu.hpp>
#include <byre/functional/batching/vmap.hpp>
#include <byre/functional/functionalize/transform.hpp>
#include <byre/tensor/elements.hpp>
#include <byre/tensor/print.hpp>

#include <algorithm>

#include "outcome.hpp"

namespace byre::test {
namespace {

using functional::AnyTensor;
using functional::BatchAxes;
using functional::from_cpu;
using functional::Tensors;
using functional::to_cpu;

constexpr std::int64_t members = 3;

/// `tensor`, of another content for each member.
Tensor member_of(const Tensor& tensor, std::int64_t member) {
  if (tensor.dtype() == DType::boolean) {
    return member % 2 == 0 ? tensor.clone() : eq(tensor, Scalar(false));
  }
  return add(tensor, Scalar(member)).clone();
}

/// All members of one input, and the axis that is the batch's.
struct Batch {
  Tensor all;
  std::int64_t axis = 0;

  Batch(const Tensor& tensor, std::int64_t at) : axis(at) {
    Dims sizes = tensor.sizes();
    sizes.insert(sizes.begin() + axis, members);
    all = Tensor::zeros(sizes, tensor.dtype());
    for (std::int64_t member = 0; member < members; ++member) {
      Tensor part = all.select(axis, member);
      copy_(part, member_of(tensor, member));
    }
  }
  Tensor member(std::int64_t which) const { return all.select(axis, which); }
};

class BatchRun {
 public:
  explicit BatchRun(const Program& program) : program_(program), before_(set_up(program)) {
    std::int64_t turn = 0;
    for (const Ref input : program.inputs) {
      if (before_.contains(input)) {
        const Tensor& tensor = to_cpu(before_.at(input));
        names_.push_back(input);
        batches_.try_emplace(input, tensor, turn++ % (std::ssize(tensor.sizes()) + 1));
      }
    }
  }

  BatchOutcome outcome(Nesting nesting) {
    std::vector<OfOne> expected;
    for (std::int64_t member = 0; member < members; ++member) {
      expected.push_back(run_alone(member));
      if (expected.back().trace.happened != expected.front().trace.happened) {
        return {"", "what a member decides"};
      }
    }
    Tensors inputs;
    BatchAxes axes;
    for (const Ref name : names_) {
      inputs.push_back(given_[name] ? given_[name]
                                    : given_[name] = from_cpu(batches_.at(name).all));
      axes.push_back(batches_.at(name).axis);
    }
    Trace trace;
    const functional::Program f = [&](const Tensors& in) {
      return run(program_, names_, in, before_, trace);
    };
    Tensors outputs;
    try {
      outputs = nesting == Nesting::pass_in_vmap ? vmap(functionalize(f), axes)(inputs)
                                                 : functionalize(vmap(f, axes))(inputs);
    } catch (const Error& error) {
      const std::string what = error.what();
      // Up to the tensors, and the sizes of inputs that are no longer what they were.
      return what.starts_with("vmap: ")
                 ? BatchOutcome{"", what.substr(0, what.find_first_of(",;:[", 6))}
                 : BatchOutcome{"it failed: " + what, ""};
    }
    if (trace.happened != expected.front().trace.happened) {
      return of_other_steps(expected.front().trace, trace);
    }
    for (std::int64_t member = 0; member < members; ++member) {
      std::string text = difference(expected[static_cast<std::size_t>(member)], outputs, member);
      if (!text.empty()) {
        return {"of member " + std::to_string(member) + ", " + text, ""};
      }
    }
    return {};
  }

 private:
  /// One member by itself.
  struct OfOne {
    Trace trace;
    Tensors outputs;
    Values inputs;
  };

  OfOne run_alone(std::int64_t member) const {
    OfOne one;
    Tensors inputs;
    for (const Ref name : names_) {
      const auto [found, is_new] = one.inputs.try_emplace(name);
      if (is_new) {
        found->second = from_cpu(batches_.at(name).member(member).clone());
      }
      inputs.push_back(found->second);
    }
    one.outputs = run(program_, names_, inputs, before_, one.trace);
    return one;
  }

  /// The first step that vmap did not take, or that only vmap took.
  BatchOutcome of_other_steps(const Trace& expected, const Trace& found) const {
    const auto [alone, batched] = std::mismatch(expected.happened.begin(), expected.happened.end(),
                                                found.happened.begin(), found.happened.end());
    const std::string& op =
        program_.body[static_cast<std::size_t>(alone - expected.happened.begin())].op;
    if (*alone == static_cast<char>(Happened::done) &&
        found.said.find("vmap") != std::string::npos) {
      return {"", op};
    }
    return {op + ": it does " + found.happened + " and not " + expected.happened + "\n" +
                found.said + "and not\n" + expected.said,
            ""};
  }

  static std::string difference(const Tensor& expected, const Tensor& found) {
    if (expected.dtype() != found.dtype() || expected.sizes() != found.sizes()) {
      return " is " + std::string(byre::name_of(found.dtype())) + byre::to_string(found.sizes()) +
             " and should be " + byre::name_of(expected.dtype()) +
             byre::to_string(expected.sizes());
    }
    return elements_of(expected) == elements_of(found)
               ? ""
               : " is\n" + byre::to_string(found) + "\nand should be\n" + byre::to_string(expected);
  }

  std::string difference(const OfOne& expected, const Tensors& outputs, std::int64_t member) const {
    if (outputs.size() != expected.outputs.size()) {
      return "there are " + std::to_string(outputs.size()) + " outputs";
    }
    for (std::size_t index = 0; index < outputs.size(); ++index) {
      const std::string text =
          difference(to_cpu(expected.outputs[index]), to_cpu(outputs[index]).select(0, member));
      if (!text.empty()) {
        return "output " + std::to_string(index) + text;
      }
    }
    for (const auto& [name, batch] : batches_) {
      const std::string text = difference(to_cpu(expected.inputs.at(name)), batch.member(member));
      if (!text.empty()) {
        return "the input t" + std::to_string(name.step) + text;
      }
    }
    return {};
  }

  const Program& program_;
  const Values before_;
  std::vector<Ref> names_;  // of the inputs, one as often as it is given
  std::map<Ref, Batch> batches_;
  Values given_;
};

}  // namespace

BatchOutcome run_batch(const Program& program, Nesting nesting) {
  return BatchRun(program).outcome(nesting);
}

}  // namespace byre::test
