// SPDX-License-Identifier: BSL-1.0
// Prints random programs of views and of writes through views, and the results of the programs, to
// compare them with NumPy. Each line has one of these forms:
//
//     0 t3 = slice(t1, 0, 1, none, 2) -> [[1, 3], [3, 1], 4]
//     0 t4 = zero_(t3) -> []
//     0 t1 = "0001...", "f32"
//
// The first number of a line is the number of the program. "->" is followed by the sizes, strides
// and offset of each result of the step, or by "refused" if the step throws. The last lines of a
// program are the bytes and dtype of each tensor.
#include <byre/tensor/tensor.hpp>

#include <cstdio>
#include <cstdlib>

#include "support/random.hpp"
#include "tensor_programs/generate.hpp"

namespace byre::test {
namespace {

/// Runs a step that is a view by calling the member of Tensor, and any other step by calling its
/// operator.
StepResult run_step_by_members(const Step& step, Values& values) {
  if (!is_view(step)) {
    return run_step(step, values);
  }
  const auto self = values.find(std::get<Ref>(step.arguments.front()));
  if (self == values.end()) {
    return StepResult::skipped;
  }
  try {
    int part = 0;
    for (Tensor& made : views_of(to_cpu(self->second), step)) {
      values[{step.number, part++}] = from_cpu(std::move(made));
    }
    return StepResult::done;
  } catch (const Error&) {
    return StepResult::refused;
  }
}

void print(std::uint64_t number, const Step& step, const Values& values, StepResult result) {
  std::string made;
  for (auto each = values.lower_bound({step.number, 0});
       each != values.end() && each->first.step == step.number; ++each) {
    const Tensor& tensor = to_cpu(each->second);
    made += (made.empty() ? "[" : ", [") + byre::to_string(tensor.sizes()) + ", " +
            byre::to_string(tensor.strides()) + ", " + std::to_string(tensor.storage_offset()) +
            "]";
  }
  std::printf("%llu %s -> %s\n", static_cast<unsigned long long>(number), to_string(step).c_str(),
              is_refusal(static_cast<char>(result)) ? "refused" : ("[" + made + "]").c_str());
}

void print_bytes(std::uint64_t number, Ref ref, const Tensor& tensor) {
  const Tensor dense = tensor.contiguous();
  const auto* const bytes = static_cast<const unsigned char*>(dense.raw_data());
  std::printf("%llu %s = \"", static_cast<unsigned long long>(number), to_string(ref).c_str());
  for (std::size_t byte = 0; byte < dense.nbytes(); ++byte) {
    std::printf("%02x", bytes[byte]);
  }
  std::printf("\", \"%s\"\n", name_of(dense.dtype()));
}

void print_program(std::uint64_t number) {
  const Program program = generate(number, Flavor::views);
  Values values;
  for (const std::vector<Step>* const steps : {&program.setup, &program.body}) {
    for (const Step& step : *steps) {
      const StepResult result = run_step_by_members(step, values);
      print(number, step, values, result);
    }
  }
  for (const auto& [ref, tensor] : values) {
    print_bytes(number, ref, to_cpu(tensor));
  }
}

}  // namespace
}  // namespace byre::test

/// Usage: print_views PROGRAMS, where PROGRAMS is the number of programs.
int main(int, char** argv) {
  const std::uint64_t first = byre::test::seed();
  for (std::uint64_t number = first; number < first + std::strtoull(argv[1], nullptr, 10);
       ++number) {
    byre::test::print_program(number);
  }
}
