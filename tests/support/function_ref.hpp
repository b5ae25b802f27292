// SPDX-License-Identifier: BSL-1.0
/// FunctionRef: a non-owning reference to a callable, for parameters that are only called. It
/// compiles in a fraction of the time of std::function, which matters in tests with hundreds of
/// lambdas.
#pragma once

namespace byre::test {

template <class Signature>
class FunctionRef;

template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  template <class Function>
  FunctionRef(const Function& function)  // NOLINT(google-explicit-constructor)
      : function_(&function), call_(&call<Function>) {}

  Result operator()(Arguments... arguments) const { return call_(function_, arguments...); }

 private:
  template <class Function>
  static Result call(const void* function, Arguments... arguments) {
    return (*static_cast<const Function*>(function))(arguments...);
  }

  const void* function_;
  Result (*call_)(const void* function, Arguments... arguments);
};

}  // namespace byre::test
