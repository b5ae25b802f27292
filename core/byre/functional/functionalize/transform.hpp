// SPDX-License-Identifier: BSL-1.0
/// functionalize(f) runs the function f over tensors under the functionalize pass. f then calls
/// only pure operators of the backend; the regions that f wrote to its inputs are copied to them at
/// the end.
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

namespace byre::inline v0::functional {

/// Returns a program with the effect of `f`, computed by pure operators. Within the pass, it runs
/// as a part of the outer program. Outputs on the CPU alias each other and the inputs as those of f
/// would. Tensors of other backends have no aliases: outputs are values.
///
/// The returned program writes the regions that f wrote, once f is done, all or none. It throws the
/// exceptions of f, std::bad_alloc as OutOfMemory; ArgumentError if an input or a result is empty;
/// FunctionalizeError if f writes a captured tensor or inputs share memory in an unsupported way;
/// ShapeError and StateError as operators in memory do. functionalize() itself throws ArgumentError
/// if `f` is empty; OutOfMemory.
///
/// Cost: the operators of f, and one copy of the written regions. Thread-safety: that of `f` and of
/// the tensors that it reads and writes.
BYRE_API Program functionalize(Program f, FunctionalizeOptions options = {});

/// The conversions between the CPU's tensors and those of another backend. Requires both functions.
struct Lowering {
  KeySet backend;
  std::function<AnyTensor(const Tensor&)> lift;   ///< from the CPU to the backend
  std::function<Tensor(const AnyTensor&)> lower;  ///< from the backend to the CPU
};

/// Returns a program for tensors of the CPU that has the effect of `f`, computed on another
/// backend. Otherwise as functionalize(). Also throws ArgumentError if a function of `lowering` is
/// empty or returns an empty handle, FunctionalizeError if an input is a tensor of the pass, and
/// DeviceError if an input is not on the CPU.
BYRE_API Program functionalize_on(Lowering lowering, Program f, FunctionalizeOptions options = {});

}  // namespace byre::inline v0::functional
