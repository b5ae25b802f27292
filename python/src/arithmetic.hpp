// SPDX-License-Identifier: BSL-1.0
/// How operations on elements are run: about how many bytes they touch, and what is copied first because
/// it would be read after it was written.
#pragma once

#include "array.hpp"
#include "copies.hpp"
#include "locks.hpp"

#include <byre/tensor/elements.hpp>

#include <cstddef>
#include <utility>
#include <variant>

namespace byre::inline v0::python {

/// About the bytes of what is broadcast from these, and more than can be where sizes do not fit or overflow.
std::size_t nbytes_of_broadcast(const Tensor& a, const Tensor& b) noexcept;

/// `source`, or a copy of it if it is seen through the storage of `written`, under other strides: as NumPy
/// does. With the stripe of both held.
Tensor readable_while_written(const Tensor& source, const Tensor& written, const CopyRule& rule,
                              const char* operation);

/// `operation(a, b)` of two tensors, or a tensor and a number.
template <class Operation>
pybind11::object computed(const Operand& a, const Operand& b, const Operation& operation) {
  return std::visit(
      [&]<class A, class B>(const A& first, const B& second) -> pybind11::object {
        if constexpr (std::is_same_v<A, Scalar> && std::is_same_v<B, Scalar>) {
          Py_UNREACHABLE();
        } else if constexpr (std::is_same_v<A, Scalar>) {
          return wrapped(
              reading({&second}, second.nbytes(), [&] { return operation(first, second); }));
        } else if constexpr (std::is_same_v<B, Scalar>) {
          return wrapped(
              reading({&first}, first.nbytes(), [&] { return operation(first, second); }));
        } else {
          return wrapped(reading({&first, &second}, nbytes_of_broadcast(first, second),
                                 [&] { return operation(first, second); }));
        }
      },
      a, b);
}

/// `operation(written, source)`, which writes `written`.
template <class Operation>
void compute_in_place(Tensor written, const Operand& source, const char* name,
                      const Operation& operation) {
  const CopyRule rule;
  if (const Tensor* const tensor = std::get_if<Tensor>(&source)) {
    writing(written, {tensor}, written.nbytes(), [&] {
      rule.before_write(written, name);
      operation(written, readable_while_written(*tensor, written, rule, name));
    });
  } else {
    writing(written, {}, written.nbytes(), [&] {
      rule.before_write(written, name);
      operation(written, std::get<Scalar>(source));
    });
  }
}

}  // namespace byre::inline v0::python
