// SPDX-License-Identifier: BSL-1.0
// The Python module byre._byre, which byre/__init__.py shows as byre.
#include "array.hpp"
#include "copies.hpp"
#include "dtypes.hpp"
#include "errors.hpp"
#include "exchange.hpp"
#include "locks.hpp"

namespace py = pybind11;
using namespace byre::python;

PYBIND11_MODULE(_byre, module) {
  watch_forks();
  define_errors(module);
  define_dtypes(module);
  define_no_copies(module);
  define_statistics(module);
  define_creation(module);
  ArrayClass array(module, "Array",
                   R"(A copy-on-write array: made by byre.array(), byre.zeros() and the like.

Views of an array alias it, as in NumPy. A copy, and a reshape, share its memory until one of the two is
written; then the writer gets a copy, or keeps the memory if nobody else has it any more. Any threads may use
any arrays: a write to an array waits until other operations on its memory are done.

A number beside an array takes the array's dtype, unless it is of a higher kind: bool, int, float, complex.
Of two arrays the higher kind wins, and within a kind the wider; float16 with bfloat16 makes float32.
Division and exp() of ints make float32.

>>> x = byre.array([[1, 2], [3, 4]])
>>> y = x.copy()
>>> y[0] = 0
>>> x[0], y[0]
(array([1, 2]), array([0, 0]))
)");
  array.attr("__module__") = "byre";
  forbid_new(array);
  define_attributes(array);
  define_conversions(module, array);
  define_views(module, array);
  define_copies(module, array);
  define_indexing(array);
  define_operators(module, array);
  define_functions(module, array);
  define_numpy_exchange(module, array);
  define_dlpack_exchange(module, array);
  define_files(module);
  define_buffers(array);
  define_for_tests(module);
}
