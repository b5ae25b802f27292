// SPDX-License-Identifier: BSL-1.0
/// functionalize(f): the function f over tensors, run under the pass. It calls pure operators
/// alone, and what it wrote to its inputs is copied to them at the end.
///
///   const Program pure = functionalize([](const Tensors& in) {
///     call("add_", {call_for_one("select", {in[0], 0, 1}), in[1]});
///     return Tensors{call_for_one("transpose", {in[0], 0, 1})};
///   });
///   Tensors out = pure({x, y});  // x is written, out[0] is a view of x
///
/// Source: the seed "Functionalization".
#pragma once

#include <byre/config.hpp>
#include <byre/functional/dispatch/any_tensor.hpp>
#include <byre/functional/functionalize/options.hpp>
#include <byre/tensor/tensor.hpp>

#include <functional>

namespace byre::inline v0::functional {

/// The same function by pure operators; within the pass, a part of what runs there. Outputs on the
/// CPU alias each other and the inputs as those of f would. Tensors of other backends have no
/// aliases, and are returned as values. Throws what f throws, std::bad_alloc as OutOfMemory, and
/// ArgumentError for no function and for a handle without a tensor, given or returned. The regions that f
/// wrote are written to the inputs once f is done, all of them or none.
BYRE_API Program functionalize(Program f, FunctionalizeOptions options = {});

/// A backend to run on, for tensors of the CPU.
struct Lowering {
  KeySet backend;
  std::function<AnyTensor(const Tensor&)> lift;   ///< from the CPU
  std::function<Tensor(const AnyTensor&)> lower;  ///< and back
};

/// The same, for tensors of the CPU, computed on another backend. Throws FunctionalizeError for
/// tensors of the pass, and as functionalize().
BYRE_API Program functionalize_on(Lowering lowering, Program f, FunctionalizeOptions options = {});

}  // namespace byre::inline v0::functional
