// SPDX-License-Identifier: BSL-1.0
/// functionalize(f) runs the function f over tensors under the functionalize pass, which replaces
/// views and writes by pure operators of the backend. At the end, the regions that f wrote are
/// copied to the inputs.
///
///   const Program pure = functionalize([](const Tensors& in) {
///     call("add_", {call_for_one("select", {in[0], 0, 1}), in[1]});
///     return Tensors{call_for_one("transpose", {in[0], 0, 1})};
///   });
///   Tensors out = pure({x, y});  // x is written, out[0] is a view of x
///
/// Source: the design note "Functionalization".
#pragma once

#include <byre/config.hpp>
#include <byre/functional/dispatch/any_tensor.hpp>
#include <byre/functional/functionalize/options.hpp>
#include <byre/tensor/tensor.hpp>

#include <functional>

namespace byre::inline BYRE_ABI::functional {

/// Returns a program with the effect of `f`, computed by pure operators. If the program is called
/// within the pass, it runs as a part of the outer program. Outputs on the CPU alias each other and
/// the inputs as they would without the pass. Tensors of other backends have no aliases: outputs
/// are values.
///
/// After f returned, the program writes the regions that f wrote: all of them, or none if there is
/// an error. The program throws the exceptions of f (a std::bad_alloc becomes OutOfMemory),
/// ArgumentError if an input or a result is empty, FunctionalizeError if f writes a captured tensor
/// or inputs share memory in an unsupported way, or the ShapeErrors and StateErrors that operators
/// throw without the pass. functionalize() itself throws ArgumentError if `f` is empty, or
/// OutOfMemory.
///
/// Cost: the operators of f, and one copy of the written regions. Thread-safety: that of `f`; for
/// the tensors that `f` reads and writes, the rules of AnyTensor hold.
BYRE_API Program functionalize(Program f, FunctionalizeOptions options = {});

/// The conversions between the CPU's tensors and those of another backend. Requires both functions.
struct Lowering {
  KeySet backend;
  std::function<AnyTensor(const Tensor&)> lift;   ///< from the CPU to the backend
  std::function<Tensor(const AnyTensor&)> lower;  ///< from the backend to the CPU
};

/// Returns a program for tensors of the CPU that has the effect of `f`, computed on another
/// backend. The rules of functionalize() hold. Also throws ArgumentError if a function of
/// `lowering` is empty or returns an empty handle, FunctionalizeError if an input is a tensor of
/// the pass, and DeviceError if an input is not on the CPU.
BYRE_API Program functionalize_on(Lowering lowering, Program f, FunctionalizeOptions options = {});

}  // namespace byre::inline BYRE_ABI::functional
